// What each source does in one environment: every possible verdict, with what leads to it, and what they come to.
// The same as resolver/d9m/resolve/evaluate.py and sources_met.py.

import { WHOLE } from "./op_lookup.js";
import { byText } from "./select.js";

export const REPEATS = ["no-known-source", "deterministic", "solved"];
export const WORST_LAST = [...REPEATS, "depends", "unknown", "raises", "unsolved"];
const DEFAULTS_WORST_LAST = ["deterministic", "unknown", "raises", "nondeterministic"];
const ELSEWHERE = { outcome: "deterministic", default: "deterministic" }; // applies only where an assumption does not hold
// Scope -> the scopes whose sources it has: what differs between runs differs between machines.
export const INCLUDED = { run: ["run"], batch: ["run", "batch"], hardware: ["run", "hardware"] };
export const badness = (outcome) => WORST_LAST.indexOf(outcome);

export function worst(outcomes) {
  return outcomes.reduce((one, other) => (badness(other) > badness(one) ? other : one));
}

// What an answer says where one of several things happens and nobody said which.
function together(outcomes) {
  const found = new Set(outcomes);
  return found.size === 1 || [...found].every((outcome) => REPEATS.includes(outcome)) ? worst([...found]) : "depends";
}

// Sources that the ops of one query item meet, worst first.
export function judgeItem(here, item, scope) {
  const found = new Map();
  for (const op of item.ops) {
    for (const column of op.columns) {
      const each = judge(here, column, { given: { ...here.facts, ...op.arguments }, defaults: op.defaults }, op.directions, scope, op.releases);
      if (!each) continue;
      const known = found.get(each.source.id);
      if (!known || isWorse(each, known)) found.set(each.source.id, each);
    }
  }
  const place = (each) => -badness(each.outcome);
  return [...found.values()].sort((one, other) => place(one) - place(other) || byText(one.source.id, other.source.id));
}

// How bad a source is here, and then how bad it could become.
function isWorse(one, other) {
  const [first, second] = [one, other].map((each) => [badness(each.outcome), Math.max(0, ...each.otherwise.map(([, outcome]) => badness(outcome)))]);
  return first[0] > second[0] || (first[0] === second[0] && first[1] > second[1]);
}

// Sources of the packages themselves, but for those that an item asks about. Every wheel ships parts of the platform: who neither names nor uses one does not ask about it.
export function judgeOpless(here, scope, items = []) {
  const whole = items.filter((item) => !item.isListed).flatMap((item) => item.ops.filter((op) => op.name === WHOLE));
  const named = new Set(whole.map((op) => op.home));
  const { opless, about } = here.tables;
  const uses = (name) => about[name].concerns !== null && here.holding(about[name].concerns).length > 0;
  const asked = here.held.filter(([name, , , , origin]) => !named.has(name) && (!about[name].platform || origin === "given" || uses(name)));
  return asked.flatMap(([name]) =>
    (opless[name] ?? []).map((column) => judge(here, column, here.said, [0, 1], scope)).filter(Boolean)
  );
}

// All that a source can do here; null where it does not apply.
function judge(here, column, said, wanted, scope, releases = null) {
  const { tables, clauses } = here;
  const [source, home, way, splits, asks] = tables.columns[column];
  const training = said.given.training ?? tables.facts.training[2];
  const asked = wanted.filter((each) => each === 0 || training !== "false");
  const directions = (way ? [way - 1] : [0, 1]).filter((each) => asked.includes(each));
  const cell = here.together.cell(column, releases);
  if (!directions.length || !cell || !INCLUDED[scope].includes(tables.sources[source].scope)) return null;
  const at = splits ? asked.length - 1 + asked[0] + (asked.length > 1 ? 1 : 0) : 0;
  const answers = (fixed = {}) =>
    honest(here, home, clauses.byAnswer(cell[at], said, true, fixed).map(([when, leaf]) => [when, verdictOf(here, leaf)]));
  const outcomeOf = (found) => together(found.map(([, verdict]) => verdict.outcome));
  // Only between two releases do clauses have a part in an outcome.
  const [, , , how] = here.held.find(([name]) => name === home);
  const leaves = (fixed) => [...new Set(clauses.answers(cell[at], said, fixed))];
  const outcomeAt = (fixed) =>
    how === "between" ? outcomeOf(answers(fixed)) : together(leaves(fixed).map((leaf) => verdictOf(here, leaf).outcome));
  const deviations = (base) => clauses.deviations(cell[at], said, outcomeAt, base, badness);
  let possible = answers();
  let outcome = outcomeOf(possible);
  const applies = outcome !== "no-known-source";
  const otherwise = deviations(worst([outcome, ELSEWHERE.outcome]));
  let used = asks;
  if (!applies) {
    if (!otherwise.length && !deviations(outcome).length) return null;
    possible = [[{}, ELSEWHERE]];
    outcome = ELSEWHERE.outcome;
    used = asks.filter((name) => otherwise.some(([when]) => name in when));
  }
  return {
    source: tables.sources[source],
    home,
    said,
    possible,
    outcome,
    applies,
    otherwise,
    lead: leadOf(possible, outcome),
    directions,
    asks: used,
    fixedIn: latest(tables, home, clauses.answers(cell[at + cell.length / 2], said)),
  };
}

// What a call does with nothing set -> its outcome where nothing may be set.
export const WITHOUT_SETTINGS = { deterministic: "deterministic", nondeterministic: "unsolved", raises: "raises", unknown: "unknown" };

// The verdict of a leaf; a call that a switch refuses goes on where the switch only warns.
function verdictOf(here, leaf) {
  const verdict = here.tables.verdicts[leaf].at(-1);
  const isWarned = verdict.outcome === "raises" && verdict.raised_by?.split(" + ").some((label) => here.warned.has(label));
  return isWarned ? { ...verdict, outcome: WITHOUT_SETTINGS[verdict.default], error: undefined } : verdict;
}

// The verdict that stands for all, under the shortest clause; null where it depends.
function leadOf(possible, outcome) {
  const alike = possible.filter(([, verdict]) => verdict.outcome === outcome);
  const size = ([when]) => Object.keys(when).length;
  return alike.length ? alike.reduce((one, other) => (size(other) < size(one) ? other : one)) : null;
}

// Unknown where a pre-release lies between two answers of which one may repeat.
function honest(here, home, possible) {
  const [, version, releases, how] = here.held.find(([name]) => name === home);
  const answers = new Set(possible.map(([, verdict]) => JSON.stringify([verdict.outcome, verdict.alternatives ?? []])));
  const differing = possible.filter(([when]) => home in when);
  if (how !== "between" || answers.size < 2 || !differing.length) return possible;
  const note =
    version === null
      ? `the version of ${home} in the image is not verified`
      : `this build is between ${releases[0]} and ${releases.at(-1)}, which differ`;
  const verdict = { default: defaultOfBoth(home, possible), note };
  if (differing.every(([, each]) => ["unsolved", "raises"].includes(each.outcome))) {
    const wheres = differing.map(([when]) => Object.fromEntries(Object.entries(when).filter(([name]) => name !== home)));
    const unlike = [...new Map(wheres.map((when) => [JSON.stringify(when), when])).values()];
    return [...possible.filter(([when]) => !(home in when)), ...unlike.map((when) => [when, { ...verdict, outcome: "unsolved" }])];
  }
  return [[{}, { ...verdict, outcome: "unknown", alternatives: settingsOfBoth(possible.map(([, each]) => each)) }]];
}

// The solutions that hold one of each side of a pre-release: the best that anybody can set.
function settingsOfBoth(verdicts) {
  if (verdicts.some((verdict) => verdict.outcome !== "solved")) return [];
  const holdsOne = (labels, verdict) => verdict.alternatives.some((each) => each.every((label) => labels.includes(label)));
  const found = verdicts.flatMap((verdict) => verdict.alternatives).filter((labels) => verdicts.every((verdict) => holdsOne(labels, verdict)));
  return [...new Map(found.map((labels) => [JSON.stringify(labels), labels])).values()];
}

export function worstDefault(defaults) {
  const place = (each) => DEFAULTS_WORST_LAST.indexOf(each);
  return defaults.reduce((one, other) => (place(other) > place(one) ? other : one));
}

// What happens without settings, where that is the same on both sides of a pre-release.
function defaultOfBoth(home, possible) {
  const sideOf = (when) => JSON.stringify(when[home]);
  const sides = possible.filter(([when]) => home in when).map(([when]) => sideOf(when));
  const defaults = sides.map((side) => worstDefault(possible.filter(([when]) => !(home in when) || sideOf(when) === side).map(([, verdict]) => verdict.default)));
  return new Set(defaults).size === 1 ? defaults[0] : "unknown";
}

// The latest of several releases; null if one is none.
function latest(tables, home, fixed) {
  if (fixed.some((each) => each === null)) return null;
  const rank = ([name, release]) => tables.ranks[name][release];
  return fixed.reduce((one, other) => (rank(other) > rank(one) ? other : one))[1];
}
