// The verdict: the sentences that the command line prints first. The same as resolver/d9m/render/advice/verdict.py.

import { unique } from "./merge.js";
import { shortNames } from "./op_names.js";
import * as phrases from "./phrases.js";

export const REPEATS = ["no-known-source", "deterministic", "solved"];
const MOST_NAMES = 4; // ops that a sentence names before it counts them
const PROMISES = {
  run: ["repeats", "repeat"],
  batch: ["gives the same bits in any batch", "give the same bits in any batch"],
  hardware: ["gives the same bits on any machine", "give the same bits on any machine"],
};
const DIFFERENCES = { run: "a difference between runs", batch: "a dependence on the batch", hardware: "a dependence on the machine" };
const DIFFERS = { run: "between runs", batch: "with the batch", hardware: "between machines" };

export function sentences(tables, advice) {
  const ops = advice.ops.filter((op) => op.query !== "*");
  const own = advice.ops.find((op) => op.query === "*");
  const parts = faults(advice);
  if (own && (!ops.length || !REPEATS.includes(own.outcome))) parts.push(ofPackages(tables, advice, own));
  if (ops.length) parts.push(...ofOps(advice, ops));
  if (!advice.ops.length) parts.push("d9m knows no op and no package of this environment that can differ.");
  return parts.join(" ");
}

// Settings that contradict each other.
function faults(advice) {
  const titles = Object.fromEntries(advice.solutions.map((solution) => [solution.label, solution.title]));
  const party = (label) => titles[label] ?? label;
  return advice.conflicts.map((conflict) => `${conflict.name} cannot suit ${phrases.join(conflict.between.map(party))} at once.`);
}

// What belongs to packages rather than to ops.
function ofPackages(tables, advice, own) {
  const homes = unique(own.sources.map((source) => phrases.title(tables, source.home)));
  const packages = phrases.join(homes);
  const several = new Set(own.sources.map((source) => source.id.split("/")[0])).size > 1;
  const [one, many] = PROMISES[advice.scope];
  if (REPEATS.includes(own.outcome)) return `${packages} ${several ? many : one}${withSettings(advice)}.`;
  if (own.outcome === "depends") return `What ${packages} ${several ? "do" : "does"} depends on how you use it.`;
  if (own.outcome === "unknown") return `Nobody has checked all of ${packages} in this version.`;
  return `${packages} can differ between runs.`;
}

function ofOps(advice, ops) {
  const names = shortNames(ops);
  const good = ops.filter((op) => REPEATS.includes(op.outcome));
  const silent = good.filter((op) => op.outcome === "no-known-source");
  const found = [];
  if (silent.length && silent.length === good.length) {
    found.push(`No record names ${DIFFERENCES[advice.scope]} of ${named(silent, names)}: that is not a proof.`);
  } else if (good.length) {
    const counted = good.length < ops.length ? `${good.length} of ${ops.length} ops` : { 1: names[good[0].query], 2: "Both ops" }[good.length] ?? `All ${good.length} ops`;
    const known = silent.length ? `, ${silent.length} of them as far as anybody knows` : "";
    found.push(`${counted} ${PROMISES[advice.scope][good.length === 1 ? 0 : 1]}${withSettings(advice)}${known}.`);
  }
  for (const [outcome, say] of Object.entries(SAY)) {
    const some = ops.filter((op) => op.outcome === outcome);
    if (some.length) found.push(say(advice, some, named(some, names)));
  }
  return found;
}

// Whether the settings that follow have a part in it, or only seeds and the like.
function withSettings(advice) {
  if (advice.solutions.length) return " with these settings";
  return advice.ops.length === 1 ? " as it is" : "";
}

function named(ops, names) {
  return ops.length > MOST_NAMES ? `${ops.length} ops` : phrases.join(ops.map((op) => names[op.query]));
}

// Outcome -> the sentence for the ops that have it, worst first.
const SAY = {
  raises(advice, ops, name) {
    const advised = advice.solutions.map((solution) => solution.label);
    const switches = ops.flatMap((op) => op.sources.map((source) => source.raised_by));
    if (switches.some((label) => advised.includes(label))) return ops.length === 1 ? `${name} raises an error under them.` : `${name} raise errors under them.`;
    return `${name} can differ between runs: no deterministic version of ${ops.length === 1 ? "it" : "them"} exists here.`;
  },
  unsolved: (advice, ops, name) => `${name} can differ ${DIFFERS[advice.scope]}, and no setting here prevents it.`,
  depends: (advice, ops, name) => `Whether ${name} ${ops.length === 1 ? "repeats" : "repeat"} depends on what you have not said yet.`,
  unknown: (advice, ops, name) => `Nobody has checked ${name} here.`,
};
