// What each source does in one environment: every possible verdict, with what leads to it.

import { byText } from "./select.js";

const WORST_LAST = ["no-known-source", "deterministic", "solved", "unknown", "raises", "unsolved"];
const badness = (outcome) => WORST_LAST.indexOf(outcome);

export function worst(outcomes) {
  return outcomes.reduce((one, other) => (badness(other) > badness(one) ? other : one));
}

// Sources that the ops of one query item meet, worst first.
export function judgeItem(here, item, scope) {
  const found = new Map();
  for (const op of item.ops) {
    for (const column of op.columns) {
      const each = judge(here, column, { ...here.facts, ...op.arguments }, op.directions, scope);
      if (!each) continue;
      const known = found.get(each.source.id);
      if (!known || badness(each.worst[1].outcome) > badness(known.worst[1].outcome)) found.set(each.source.id, each);
    }
  }
  const place = (each) => -badness(each.worst[1].outcome);
  return [...found.values()].sort((one, other) => place(one) - place(other) || byText(one.source.id, other.source.id));
}

// Sources of the packages themselves.
export function judgeOpless(here, scope) {
  const { opless } = here.tables;
  const asked = here.held.filter(([name, , , , origin]) => !here.tables.about[name].platform || origin === "given");
  return asked.flatMap(([name]) =>
    (opless[name] ?? []).map((column) => judge(here, column, here.facts, [0, 1], scope)).filter(Boolean)
  );
}

// All that a source can do here; null where it is not met.
function judge(here, column, facts, wanted, scope) {
  const { tables, clauses } = here;
  const [source, home, way, splits, asks] = tables.columns[column];
  const training = facts.training ?? tables.facts.training[2];
  const asked = wanted.filter((each) => each === 0 || training !== "false");
  const directions = (way ? [way - 1] : [0, 1]).filter((each) => asked.includes(each));
  const cell = tables.cells[here.cells[column]];
  if (!directions.length || !cell || tables.sources[source].scope !== scope) return null;
  const at = splits ? asked.length - 1 + asked[0] + (asked.length > 1 ? 1 : 0) : 0;
  const possible = honest(here, home, clauses.byAnswer(cell[at], facts).map(([when, leaf]) => [when, tables.verdicts[leaf].at(-1)]));
  if (possible.every(([, verdict]) => verdict.outcome === "no-known-source")) return null;
  return {
    source: tables.sources[source],
    home,
    facts,
    possible,
    worst: worstOf(possible),
    directions,
    asks,
    fixedIn: latest(tables, home, clauses.answers(cell[at + cell.length / 2], facts)),
  };
}

function worstOf(possible) {
  const rank = ([when, verdict]) => [badness(verdict.outcome), -Object.keys(when).length];
  return possible.reduce((one, other) => {
    const [first, second] = [rank(one), rank(other)];
    return second[0] > first[0] || (second[0] === first[0] && second[1] > first[1]) ? other : one;
  });
}

// Unknown where a pre-release lies between two answers.
function honest(here, home, possible) {
  const [, version, releases, how] = here.held.find(([name]) => name === home);
  const answers = new Set(possible.map(([, verdict]) => JSON.stringify([verdict.outcome, verdict.alternatives ?? []])));
  if (how !== "between" || answers.size < 2 || !possible.some(([when]) => home in when)) return possible;
  const note =
    version === null
      ? `nobody has confirmed which ${home} the image holds`
      : `${releases[0]} and ${releases.at(-1)} differ, and this build lies between them`;
  return [[{}, { outcome: "unknown", default: "unknown", note }]];
}

// The latest of several releases; null if one is none.
function latest(tables, home, fixed) {
  if (fixed.some((each) => each === null)) return null;
  const rank = ([name, release]) => tables.ranks[name][release];
  return fixed.reduce((one, other) => (rank(other) > rank(one) ? other : one))[1];
}
