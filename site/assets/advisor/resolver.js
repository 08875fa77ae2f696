// The answer: what each source does here, the solutions that were chosen, and their settings, merged.

import { byText, choose } from "./select.js";
import { same } from "./clauses.js";
import { across, priced } from "./conflicts.js";
import { inOrder } from "./decide.js";
import { badness, INCLUDED, judgeItem, judgeOpless, REPEATS, WITHOUT_SETTINGS, worst, worstDefault } from "./evaluate.js";
import { WHOLE } from "./op_lookup.js";
import { needs, Solutions } from "./solutions.js";
import { demands, merge, total, unique } from "./merge.js";

const DIRECTIONS = ["forward", "backward"];

// `addOns`: of each add-on that nobody asks about the items that stand for it.
export function resolve(here, items, scope = "run", addOns = []) {
  const solutions = new Solutions(here.tables);
  const judged = items.map((item) => [item, judgeItem(here, item, scope)]);
  const packages = judgeOpless(here, scope, items);
  const opless = packages.filter((each) => each.applies || !here.tables.about[each.home].framework);
  opless.push(...addOns.flatMap((meant) => judgeItem(here, { ops: meant.flatMap((item) => item.ops) }, scope)));
  const every = [...judged.flatMap(([, group]) => group), ...opless];
  const ingredients = here.tables.ingredients.filter((each) => INCLUDED[scope].includes(each.scope) && here.holding(each.when).length);
  const always = ingredients.filter((each) => !each.optional).flatMap((each) => demands(here, each.id, each.settings));
  const wanted = needs(every);
  const mergedFor = (labels) => merge(here, [...solutions.turned(here, labels, wanted), ...always]);
  const chosen = choose(wanted, (labels) => !mergedFor(labels).conflicts.length);
  const whole = mergedFor(chosen);
  const own = { labels: chosen, wanted, demands: [...solutions.turned(here, chosen, wanted), ...always] };
  const ops = judged.map(([item, group]) => {
    const answer = opAnswer(here, item, group, chosen, scope);
    return standsForPackage(item) ? limited(here, answer) : answer;
  });
  if (opless.length) ops.push(limited(here, opAnswer(here, { text: "*", ops: [] }, opless, chosen, scope)));
  const unknowns = unknownsOf(here, ops);
  const outcomes = ops.length ? ops.map((op) => op.outcome) : [unknowns.length ? "unknown" : "no-known-source"];
  const [known, outcome] = [knownSources(here, ops), worst(outcomes)];
  return {
    schema_version: here.tables.schema_version,
    d9m: here.tables.d9m,
    environment: surroundings(here, every),
    scope,
    outcome: Object.keys(known).length && outcome === "deterministic" ? "no-known-source" : outcome,
    settings: total(whole.steps),
    steps: whole.steps,
    conflicts: whole.conflicts.map((each) => priced(here, solutions, each, own, scope)),
    scope_conflicts: across(here, solutions, scope, own),
    solutions: solutions.answers(here, chosen, wanted),
    ops,
    ingredients: ingredients.map((each) => ({
      id: each.id,
      title: each.title,
      optional: each.optional,
      settings: total(merge(here, demands(here, each.id, each.settings)).steps),
    })),
    cautions: cautions(here, every, solutions.labelled(chosen), ingredients),
    unknowns,
    known_sources: known,
    choices: choices(ops, chosen),
  };
}

// --- the entries of an answer

// Whether an op brings along all records of its own package, as XGBoost's models do.
function standsForPackage({ ops }) {
  const own = ops.filter(({ name }) => name !== WHOLE).map(({ home }) => home);
  return ops.some(({ name, home }) => name === WHOLE && own.includes(home));
}

// The entry of the packages, no better than what was read of them.
function limited(here, answer) {
  const homes = unique(answer.sources.map((each) => each.home));
  const unseeded = homes.filter((home) => !here.tables.about[home].is_seeded);
  if (unseeded.length && REPEATS.includes(answer.outcome)) {
    const titles = unseeded.map((home) => here.tables.about[home].title).join(", ");
    return { ...answer, outcome: "unknown", note: `how to seed the random numbers of ${titles}` };
  }
  const isBetter = answer.outcome === "deterministic" && !homes.every((home) => isReviewed(here, home));
  return isBetter ? { ...answer, outcome: "no-known-source" } : answer;
}

function knownSources(here, ops) {
  const found = {};
  for (const { home, outcome } of ops.find((op) => op.query === "*")?.sources ?? []) {
    if (isReviewed(here, home)) continue;
    found[home] ??= {};
    found[home][outcome] = (found[home][outcome] ?? 0) + 1;
  }
  return found;
}

function isReviewed(here, home) {
  const releases = here.held.find(([name]) => name === home)?.[2] ?? [];
  return releases.length > 0 && releases.every((each) => here.tables.about[home].reviewed.includes(each));
}

// The outcome of a source; what does not differ between runs may differ between machines.
const outcomeIn = (source, scope) => (source.outcome === "deterministic" && source.scope !== scope ? "no-known-source" : source.outcome);

function opAnswer(here, item, judged, chosen, scope) {
  const sources = judged.map((each) => sourceAnswer(here, each, chosen));
  const defaults = sources.length ? sources.map((each) => each.default) : ["unknown"];
  const missing = item.lacks ? "unknown" : "no-known-source";
  const outcome = worst(sources.length ? sources.map((each) => outcomeIn(each, scope)) : [missing]);
  return {
    query: item.text,
    names: unique(item.ops.map((op) => op.name).filter((name) => name !== WHOLE)),
    outcome,
    otherwise: otherwiseAll(outcome, sources),
    default: worstDefault(defaults),
    solutions: unique(sources.flatMap((each) => each.solutions)),
    fixed_in: fixedAll(here.tables, sources),
    note: item.lacks ?? null,
    error: null,
    nearest: [],
    sources,
    without_mode: outcome === "raises" ? outcomeWithout(sources, sources.flatMap(refusing)) : null,
  };
}

const refusing = (source) => source.raised_by?.split(" + ") ?? [];

// The outcome of an op where some solutions are not used.
function outcomeWithout(sources, labels) {
  return worst(sources.map((source) => {
    const alternatives = source.outcome === "raises" ? [refusing(source)] : source.alternatives;
    const isLost = alternatives.length && alternatives.every((each) => each.some((label) => labels.includes(label)));
    return isLost ? WITHOUT_SETTINGS[source.default] : source.outcome;
  }));
}

// What a deterministic mode costs that some ops need and others refuse: on, then off.
function choices(ops, chosen) {
  const labels = unique(ops.filter((op) => op.outcome === "raises").flatMap((op) => op.sources.flatMap(refusing))).filter((label) => chosen.has(label)).sort(byText);
  if (!labels.length) return [];
  const off = ops.map((op) => [op.query, op.sources.length ? outcomeWithout(op.sources, labels) : op.outcome]);
  const modes = { on: ops.map((op) => [op.query, op.outcome]), off };
  const queries = (outcomes, wanted) => unique(outcomes.filter(([, outcome]) => outcome === wanted).map(([query]) => query));
  return Object.entries(modes).map(([mode, outcomes]) => ({
    mode,
    solutions: labels,
    raises: queries(outcomes, "raises"),
    nondeterministic: queries(outcomes, "unsolved"),
  }));
}

// What makes an op worse: of each condition the worst that any source has to say, worst first.
function otherwiseAll(outcome, sources) {
  const found = new Map();
  for (const each of sources.flatMap((source) => source.otherwise)) {
    const key = JSON.stringify(each.when);
    if (badness(each.outcome) > badness(found.get(key)?.outcome ?? outcome)) found.set(key, each);
  }
  return [...found.values()].sort((one, other) => badness(other.outcome) - badness(one.outcome));
}

function fixedAll(tables, sources) {
  const fixed = {};
  for (const each of sources) {
    if (each.fixed_in === null) return null;
    for (const [name, release] of Object.entries(each.fixed_in)) {
      const rank = tables.ranks[name];
      fixed[name] = fixed[name] === undefined || rank[release] > rank[fixed[name]] ? release : fixed[name];
    }
  }
  return fixed;
}

function sourceAnswer(here, judged, chosen) {
  const { source, said } = judged;
  const possible = inOrder(here, judged.possible);
  const [clause, verdict] = judged.lead ?? [{}, undecided(possible)];
  const holds = (condition) => here.holding(condition, true, said).length;
  const wording = verdict.error && here.tables.wordings[verdict.error].find(([, when]) => holds(when));
  const present = possible.filter(([, each]) => each.outcome !== "no-known-source");
  return {
    id: source.id,
    title: source.title,
    scope: source.scope,
    outcome: judged.outcome,
    default: worstDefault(present.map(([, each]) => each.default)),
    direction: judged.directions.map((each) => DIRECTIONS[each]),
    when: possible.every(([, each]) => each.outcome === judged.outcome) ? {} : clause,
    possible: possible.map(([when, each]) => ({
      when,
      outcome: each.outcome,
      solutions: pick(each, chosen),
      default: each.default,
      note: each.note ?? null,
      raised_by: each.raised_by ?? null,
    })),
    otherwise: judged.otherwise.map(([when, outcome]) => ({
      when,
      outcome,
      direction: judged.directions.map((each) => DIRECTIONS[each]),
      is_frequent: Object.entries(when).every(([name, value]) => [value].flat().every((one) => (here.tables.facts[name]?.[8] ?? []).some(([often, there]) => often === one && holds(there)))),
    })),
    solutions: pick(verdict, chosen),
    alternatives: verdict.alternatives ?? [],
    raised_by: verdict.raised_by ?? null,
    error: wording ? wording[0] : null,
    fixed_in: judged.fixedIn === null ? null : { [judged.home]: judged.fixedIn },
    note: verdict.note ?? null,
    last_verified: verdict.last_verified
      ? { release: verdict.last_verified[0], outcome: verdict.last_verified[1], solutions: pick(verdict, chosen) }
      : null,
    workarounds: source.workarounds.filter(([, when]) => holds(when)).map(([text]) => ({ text })),
    costs: source.costs.filter(([, , when]) => holds(when)).map(([text, factor]) => ({ text, factor })),
    links: source.links,
    home: judged.home,
  };
}

// What can be said where it depends: what solves the first branch that can be solved.
function undecided(branches) {
  return { outcome: "unknown", default: "unknown", alternatives: branches.find(([, each]) => each.alternatives?.length)?.[1].alternatives ?? [] };
}

// The alternative that the chosen solutions hold, else the preferred one.
function pick(verdict, chosen) {
  const alternatives = verdict.alternatives ?? [];
  return alternatives.find((labels) => labels.every((label) => chosen.has(label))) ?? alternatives[0] ?? [];
}

// --- the rest of the answer

function surroundings(here, judged) {
  const { tables } = here;
  const asks = unique(judged.flatMap((each) => each.asks)).filter((name) => !(name in here.facts)).sort(byText);
  const assumed = asks.filter((name) => tables.facts[name][2] !== null && !tables.facts[name][3]);
  const named = (how) => here.held.filter((each) => each[3] === how).map(([name]) => name);
  return {
    packages: Object.fromEntries(here.held.map(([name, version]) => [name, version ?? "any"])),
    releases: Object.fromEntries(here.held.map(([name, , releases]) => [name, releases])),
    container: here.isImage ? `${here.choice.name}:${here.version}` : null,
    device: here.device,
    facts: { ...Object.fromEntries(assumed.map((name) => [name, tables.facts[name][2]])), ...here.facts },
    assumed: [...assumed, ...here.held.filter((each) => each[4] === "wheel").map(([name]) => name)],
    beyond: named("newer"),
    between: named("between"),
    moving: [], // the form offers releases, no tags
    gpu: here.gpu,
    ignored: 0,
  };
}

// What to know here, whatever the defaults: assumed facts count as undecided.
function cautions(here, judged, solutions, ingredients) {
  const told = [
    ...judged.filter((each) => each.applies).flatMap((each) => each.source.cautions.map((one) => [each.source.id, each.said, one, "caution"])),
    ...solutions.flatMap((each) => [
      ...each.cautions.map((one) => [each.id, here.said, one, "caution"]),
      ...each.notes.map((one) => [each.id, here.said, one, "note"]),
    ]),
    ...ingredients.flatMap((each) => each.cautions.map((one) => [each.id, here.said, one, "caution"])),
  ];
  const found = [];
  for (const [id, said, [text, condition], kind] of told) {
    for (const when of here.holding(condition, false, said)) {
      if (!found.some((each) => each.text === text && same(each.when, when))) found.push({ id, text, when, kind });
    }
  }
  return found;
}

function unknownsOf(here, ops) {
  const found = ops.flatMap((op) =>
    op.sources.filter((each) => each.outcome === "unknown").map((each) => ({ subject: `${op.query}: ${each.id}`, needs: each.note || missing(each) }))
  );
  found.push(...ops.filter((op) => op.outcome === "unknown" && op.note && (op.query === "*" || !op.sources.length)).map((op) => ({ subject: op.query, needs: op.note })));
  for (const [name, version, releases, how] of here.held) {
    if (how === "newer") found.push({ subject: `${name} ${version}`, needs: `newer than ${releases.at(-1)}, the newest release known` });
  }
  if (!here.held.some(([name]) => here.tables.about[name].covered)) {
    const named = here.held.map(([name]) => name).join(", ") || "nothing";
    found.push({ subject: named, needs: "the knowledge base has no records of it yet" });
  }
  return found;
}

function missing(source) {
  return source.last_verified
    ? `verification of releases after ${source.last_verified.release}`
    : "evidence for this release";
}
