// The verdict: the sentences that the command line prints first. The same as resolver/d9m/render/advice/verdict.py and op_verdict.py.

import { party } from "./conflicts.js";
import { unique } from "./merge.js";
import { blamedNames, shortNames } from "./op_names.js";
import * as phrases from "./phrases.js";
import { DIFFERS, PROMISES } from "./words.js";

export const REPEATS = ["no-known-source", "deterministic", "solved"];
const MOST_NAMES = 4; // ops that a sentence names before it counts them
const LONGEST_SETTING = 40; // characters of the name of a setting that a sentence takes in
const MOST_BRANCHES = 2; // conditions that a sentence names
const MOST_PARTS = 3; // parts of the conditions under which something repeats
const DIFFERENCES = { run: "no difference between runs", batch: "no dependence on the batch", hardware: "no dependence on the machine" };

export function sentences(tables, advice) {
  const lacking = withoutDevice(tables, advice);
  if (lacking) return lacking;
  const ops = advice.ops.filter((op) => op.query !== "*");
  const own = advice.ops.find((op) => op.query === "*");
  const parts = [...beyond(tables, advice), ...faults(tables, advice), ...toLeaveOut(advice)];
  const recorded = ops.filter((op) => !advice.named_ops || !elsewhere(tables, op));
  const aboutOps = recorded.length ? ofOps(tables, advice, recorded) : [];
  const repeatsAround = own && REPEATS.includes(own.outcome) && own.sources.some((source) => tables.about[source.home].framework);
  if (!repeatsAround) aboutOps.push(...unique(ops.filter((op) => !recorded.includes(op)).map((op) => elsewhere(tables, op))));
  if (advice.named_ops) parts.push(...toPass(tables, advice, ops), ...aboutOps, ...judged(tables, ops));
  const repeats = own && REPEATS.includes(own.outcome);
  if (own && !(repeats && isDenied(own, ops)) && (!ops.length || !repeats || !advice.named_ops)) parts.push(...ofPackages(tables, advice, own));
  if (!advice.named_ops) parts.push(...aboutOps);
  if (!advice.ops.length) parts.push(ofNothing(tables, advice));
  return parts.join(" ");
}

// Whether ops of the packages that otherwise repeat do not: no "XGBoost repeats" above them.
function isDenied(own, ops) {
  const homes = new Set(own.sources.map((source) => source.home));
  return ops.some((op) => !REPEATS.includes(op.outcome) && op.sources.some((source) => homes.has(source.home)));
}

// What to say where no record names a difference: of a library it is the ops of its framework.
function ofNothing(tables, { environment: { packages }, steps }) {
  const libraries = Object.keys(packages).filter((name) => tables.about[name]?.base && !(tables.about[name].base in packages));
  if (libraries.length === 1) {
    const title = phrases.title(tables, libraries[0]);
    const base = phrases.title(tables, tables.about[libraries[0]].base);
    const own = ownSwitches(tables, steps, libraries[0]);
    const start = own.length ? `Start ${title} with ${phrases.join(own)}. ` : "";
    return `${start}What can differ with ${title} are the ops of ${base}: d9m knows no difference of ${title}'s own.`;
  }
  return "d9m knows no difference here, which is not a proof. Name the framework as well, with --torch, --tf or --jax, to ask about its ops.";
}

// The options that a library has for every program, in its newest release in question.
function ownSwitches(tables, steps, library) {
  const isOwn = (label) => tables.ingredients.find((each) => each.id === label)?.names.includes(library);
  const isPast = (when) => when?.length && when.every((clause) => clause[library]?.until);
  return steps.filter((step) => step.text && step.kind === "flags" && step.solutions.some(isOwn) && !isPast(step.when)).map((step) => step.text);
}

// That a package is older than what makes the device work with it; empty where none is.
function withoutDevice(tables, { environment: { device, packages, releases } }) {
  for (const name of Object.keys(packages)) {
    const [first, older] = tables.about[name]?.devices[device] ?? [null, []];
    if (older.includes(releases[name]?.at(-1))) {
      const title = phrases.title(tables, name);
      return `${title} ${packages[name]} does not know ${phrases.DEVICES[device]}, which came with ${title} ${first}. Upgrade, or name another device.`;
    }
  }
  return "";
}

// Versions that are newer than every release on record, and so perhaps mistyped.
function beyond(tables, { environment: { beyond: names, packages, releases } }) {
  return names.map((name) => `${phrases.title(tables, name)} ${packages[name]} is newer than ${releases[name].at(-1)}, the newest release that d9m knows.`);
}

// Settings that contradict each other.
function faults(tables, advice) {
  return advice.conflicts.map(({ name, between }) => {
    const sides = phrases.join(between.map((by) => party(tables, by)));
    return `No value of ${name} suits ${between.length === 2 ? "both " : ""}${sides}.`;
  });
}

// The settings that somebody who asks about ops must not make, each with the reason.
function toLeaveOut(advice) {
  const steps = advice.named_ops ? advice.steps.filter((step) => step.kind === "avoid" && step.note) : [];
  return steps.map((step) => `Leave out ${step.name} (${step.note}).`);
}

// What belongs to packages rather than to ops, worst first.
function ofPackages(tables, advice, own) {
  if (REPEATS.includes(own.outcome)) {
    const homes = homesOf(tables, own.sources);
    return [`${phrases.join(homes)} ${PROMISES[advice.scope][Number(homes.length > 1)]}${withSettings(tables, advice)}.`];
  }
  const differing = own.sources.filter(({ outcome }) => DIFFERING.includes(outcome)).map(({ home }) => home);
  return Object.entries(SAY_OF_PACKAGES).flatMap(([outcome, say]) => {
    const has = (source) => source.outcome === outcome && !(outcome === "unknown" && differing.includes(source.home));
    const some = own.sources.filter(has);
    return some.length ? [say(tables, advice, some)] : [];
  });
}

function packagesDiffer(tables, advice, sources) {
  const what = advice.named_ops && sources.length === 1 ? ` ("${sources[0].title}")` : "";
  return `${phrases.join(homesOf(tables, sources))} ${DIFFERS[advice.scope]}${what}.`;
}

// Outcome -> the sentence for the sources that have it, worst first.
const SAY_OF_PACKAGES = {
  unsolved: packagesDiffer,
  raises: packagesDiffer,
  depends(tables, advice, sources) {
    const homes = homesOf(tables, sources);
    const since = repeatingSince(tables, sources);
    if (since && homes.length === 1) return `${homes[0]} ${since} or newer ${PROMISES[advice.scope][0]}${withNamedSettings(tables, advice)}.`;
    const where = only(tables, sources);
    if (where) return `${phrases.join(homes)} ${PROMISES[advice.scope][Number(homes.length > 1)]} ${where}.`;
    return `What ${phrases.join(homes)} ${homes.length === 1 ? "does" : "do"} depends on how you use ${it(homes)}.`;
  },
  unknown(tables, advice, sources) {
    const homes = phrases.join(homesOf(tables, sources));
    if (sources.length === 1 && sources[0].default === "nondeterministic") {
      return `${homes} ${DIFFERS[advice.scope]}. Whether a setting prevents it here is not known.`;
    }
    if (sources.length === 1) return `Nobody has checked "${sources[0].title}" in this version of ${homes}.`;
    return `Nobody has checked ${sources.length} known differences of ${homes} in this version.`;
  },
};

// Outcomes of a package after which it matters little what nobody has checked.
const DIFFERING = ["unsolved", "raises"];

// The release of their package from which on all sources repeat, whatever else holds; empty where there is none.
function repeatingSince(tables, sources) {
  const bad = sources.flatMap((source) => source.possible).filter((branch) => !REPEATS.includes(branch.outcome));
  const ends = bad.map(({ when }) => Object.fromEntries(Object.entries(when).flatMap(([name, value]) => (value.until !== undefined ? [[name, value.until]] : []))));
  const { home } = sources[0];
  if (!ends.length || !ends.every((each) => home in each)) return "";
  const rank = (release) => tables.ranks[home][release];
  return ends.map((each) => each[home]).reduce((one, other) => (rank(other) > rank(one) ? other : one));
}

// The settings, by name where it is one with a short name.
function withNamedSettings(tables, advice) {
  const [solution] = advice.solutions;
  if (advice.conflicts.length || advice.solutions.length !== 1 || solution.title.length > LONGEST_SETTING) return withSettings(tables, advice);
  return ` with ${solution.title}`;
}

// Titles of the packages that sources belong to.
function homesOf(tables, sources) {
  return unique(sources.map((source) => phrases.title(tables, source.home)));
}

// The conditions under which sources that depend on something repeat; empty if a sentence cannot say them.
function only(tables, sources) {
  const said = sources.filter((source) => source.outcome === "depends").map((source) => {
    const whens = (branches) => phrases.fewest(tables, branches.map((branch) => branch.when));
    const repeating = source.possible.filter((branch) => REPEATS.includes(branch.outcome));
    const others = source.possible.filter((branch) => !repeating.includes(branch));
    const [good, bad] = [whens(repeating), whens(others)];
    const checked = others.some((branch) => branch.outcome !== "unknown");
    if (checked && bad.length < good.length && bad.length <= MOST_BRANCHES) return `except ${phrases.conditions(tables, bad)}`;
    const parts = good.reduce((count, when) => count + Object.keys(when).length, 0);
    if (!good.length || good.length > MOST_BRANCHES || parts > MOST_PARTS) return "";
    const where = phrases.conditions(tables, good);
    return checked ? `only ${where}` : `${where}; nobody has checked the rest`;
  });
  return unique(said).length === 1 ? said[0] : "";
}

// The conditions under which somebody saw an op differ, if nobody saw it repeat anywhere.
function differs(tables, op) {
  const depending = op.sources.filter((source) => source.outcome === "depends");
  const known = depending.flatMap((source) => source.possible).filter((branch) => branch.outcome !== "unknown");
  if (!known.length || known.some((branch) => branch.outcome !== "unsolved")) return "";
  const bad = phrases.fewest(tables, known.map((branch) => branch.when));
  const parts = bad.reduce((count, when) => count + Object.keys(when).length, 0);
  return bad.length <= MOST_BRANCHES && parts <= MOST_BRANCHES ? phrases.conditions(tables, bad) : "";
}

// The arguments that make an op repeat: nothing outside the call does it.
function toPass(tables, advice, ops) {
  const names = shortNames(tables, ops);
  return advice.steps.flatMap((step) => {
    const argument = step.text || step.value || "";
    const users = ops.filter((op) => op.solutions.some((label) => step.solutions.includes(label)));
    const passed = step.kind === "code" && /^[\p{L}\p{N}_]+=\S+$/u.test(argument) && users.length;
    return passed ? [`Pass ${argument} to ${named(users, names)}.`] : [];
  });
}

// Of what wraps somebody's model, the part that the answer is about.
function judged(tables, ops) {
  const names = blamedNames(tables, ops);
  return ops.flatMap((op) => {
    const wrapper = op.names.find((name) => name in tables.judged);
    return wrapper ? [`Of ${names[op.query]}, only ${tables.judged[wrapper]} is judged: ask about the ops of your model, too.`] : [];
  });
}

// What to do about an op of which no record says anything.
function elsewhere(tables, op) {
  return op.outcome === "no-known-source" ? tables.see[op.names.find((name) => name in tables.see)] : undefined;
}

function ofOps(tables, advice, ops) {
  const names = blamedNames(tables, ops);
  const good = ops.filter((op) => REPEATS.includes(op.outcome));
  const silent = good.filter((op) => op.outcome === "no-known-source");
  const found = [];
  const own = advice.ops.find((op) => op.query === "*");
  const packagesLead = own?.sources.some((source) => !tables.about[source.home].framework);
  if (!advice.named_ops && packagesLead) return ops.length > 1 ? [inOneSentence(tables, advice, ops)] : [];
  if (!advice.named_ops && ops.length > MOST_NAMES) return [inOneSentence(tables, advice, ops)];
  if (!advice.named_ops) found.push(`You named no ops: ${ops.length === 1 ? "this is the only one" : `these are the ${ops.length}`} that we know here.`);
  if (silent.length < good.length) {
    const some = `${good.length} of ${advice.named_ops ? `${ops.length} ops` : "them"}`;
    const counted = good.length < ops.length ? some : { 1: names[good[0].query], 2: "Both ops" }[good.length] ?? `All ${good.length} ops`;
    const where = exceptions(tables, good);
    const alone = good.length === 1 && where.size === 1 ? `, except ${[...where.keys()][0]}` : "";
    found.push(`${counted} ${PROMISES[advice.scope][good.length === 1 ? 0 : 1]}${withSettings(tables, advice)}${alone}.`);
    if (!alone) for (const [there, some] of where) found.push(`${named(some, names)} ${some.length === 1 ? "does" : "do"} not ${there}.`);
  }
  for (const [outcome, say] of Object.entries(SAY)) {
    const some = ops.filter((op) => op.outcome === outcome);
    if (some.length) found.push(say(tables, advice, some, names));
  }
  if (silent.length) found.push(`d9m knows ${DIFFERENCES[advice.scope]} of ${named(silent, names)}, which is not a proof.`);
  return found;
}

// Where many programs are, and some of the ops that repeat do not: "with XLA".
function exceptions(tables, ops) {
  const found = new Map();
  for (const op of ops) {
    for (const other of op.otherwise.filter((each) => each.is_frequent && ["raises", "unsolved"].includes(each.outcome))) {
      const there = phrases.condition(tables, other.when);
      found.set(there, [...(found.get(there) ?? []), op]);
    }
  }
  return found;
}

// How many of all ops repeat, to somebody who named none.
function inOneSentence(tables, advice, ops) {
  const count = ops.length;
  const good = ops.filter((op) => REPEATS.includes(op.outcome)).length;
  const bad = ops.filter((op) => ["raises", "unsolved"].includes(op.outcome)).length;
  const rest = count - good - bad;
  const does = PROMISES[advice.scope][Number(good !== 1)];
  if (!good || good === count) {
    const all = count === 2 ? "Both ops" : `All ${count} ops`;
    return `${all} on record ${good ? `${does}${withSettings(tables, advice)}` : "can differ, or depend on more"}.`;
  }
  const parts = [`${good} of the ${count} ops on record ${does}${withSettings(tables, advice)}`];
  if (bad) parts.push(`${bad} ${bad === 1 ? "does" : "do"} not`);
  if (rest) parts.push(`${rest} ${rest === 1 ? "depends" : "depend"} on more`);
  return `${phrases.join(parts)}. Name your ops to see which.`;
}

// Whether the settings that follow have a part in it, or only seeds and the like.
function withSettings(tables, advice) {
  if (advice.conflicts.length) return " once you have chosen";
  const known = knownSwitches(tables, advice);
  if (known.length) return ` with ${phrases.join(known)}`;
  if (advice.solutions.length) return " with these settings";
  return advice.ops.length === 1 ? " as it is" : "";
}

// The solutions with their labels, if people know them all by these.
function knownSwitches(tables, advice) {
  const known = advice.solutions.filter(({ label }) => tables.solutions.find((each) => each.label === label).known_label);
  return known.length === advice.solutions.length ? known.map(({ title, label }) => `${title} (${label})`) : [];
}

function named(ops, names) {
  return ops.length > MOST_NAMES ? `${ops.length} ops` : phrases.join(ops.map((op) => names[op.query]));
}

function it(things) {
  return things.length === 1 ? "it" : "them";
}

// Begins a sentence about ops that repeat under some condition, and there with settings only.
function underSettings(tables, advice, ops) {
  const possible = ops.flatMap((op) => op.sources.filter((source) => source.outcome === "depends").flatMap((source) => source.possible));
  const needs = possible.every((branch) => branch.outcome === "solved" || !REPEATS.includes(branch.outcome));
  const settings = withSettings(tables, advice).trim();
  return needs && !advice.conflicts.length && settings.startsWith("with ") ? `W${settings.slice(1)}, ` : "";
}

// That no advised setting makes some ops repeat; where the records know another way for each of them, that this way follows.
function unprevented(ops, nothing = "no setting here") {
  const left = ops.map((op) => op.sources.filter((source) => !REPEATS.includes(source.outcome)));
  if (!left.every((sources) => sources.length && sources.every((source) => source.workarounds.length))) return `, and ${nothing} prevents it.`;
  return `. No switch prevents it; ${ops.length === 1 ? "the way out is" : "the ways out are"} below.`;
}

// Outcome -> the sentence for the ops that have it, worst first.
const SAY = {
  raises(tables, advice, ops, names) {
    const advised = advice.solutions.map((solution) => solution.label);
    const switches = unique(ops.flatMap((op) => op.sources.flatMap((source) => (source.raised_by ? source.raised_by.split(" + ") : [])))).sort();
    const name = named(ops, names);
    if (!switches.length) return `${name} ${ops.length === 1 ? "raises an error" : "raise errors"}.`;
    if (switches.some((label) => advised.includes(label))) return `${name} ${ops.length === 1 ? "raises an error" : "raise errors"} under ${knownSwitches(tables, advice).length === 1 ? "it" : "them"}.`;
    const calls = phrases.join(switches.map((label) => advice.calls[label]));
    const varying = ops.filter((op) => op.default !== "deterministic");
    const exact = ops.filter((op) => op.default === "deterministic");
    const found = varying.length ? [`${named(varying, names)} can differ between runs${unprevented(varying, "no setting")}`] : [];
    if (exact.length) found.push(`${named(exact, names)} ${exact.length === 1 ? "repeats as it is" : "repeat as they are"}.`);
    found.push(`The settings below leave out ${calls}, which would raise ${ops.length === 1 ? "an error" : "errors"}.`);
    return found.join(" ");
  },
  unsolved: (tables, advice, ops, names) => `${named(ops, names)} ${DIFFERS[advice.scope]}${unprevented(ops)}`,
  depends(tables, advice, ops, names) {
    const differing = ops.length === 1 && differs(tables, ops[0]);
    if (differing) return `${named(ops, names)} ${DIFFERS[advice.scope]} ${differing}${unprevented(ops)}`;
    const where = ops.map((op) => only(tables, op.sources));
    if (ops.length > MOST_BRANCHES || !where.every(Boolean)) {
      return `Whether ${named(ops, names)} ${ops.length === 1 ? "repeats" : "repeat"} depends on the details below.`;
    }
    return ops.map((op, at) => `${underSettings(tables, advice, ops)}${names[op.query]} ${PROMISES[advice.scope][0]} ${where[at]}.`).join(" ");
  },
  unknown(tables, advice, ops, names) {
    const varying = ops.filter((op) => op.default === "nondeterministic");
    const others = ops.filter((op) => !varying.includes(op));
    const found = varying.length ? [`${named(varying, names)} ${DIFFERS[advice.scope]}. Whether a setting prevents it here is not known.`] : [];
    if (others.length) found.push(`Nobody has checked ${named(others, names)} here.`);
    return found.join(" ");
  },
};
