// What an answer says of outcomes and of its environment. The same words as resolver/d9m/render/words.py.

import { unique } from "./merge.js";
import * as phrases from "./phrases.js";

const GOOD = { run: "deterministic", batch: "batch-invariant", hardware: "same results across hardware" };
const BAD = { run: "nondeterministic", batch: "not batch-invariant", hardware: "differs across hardware" };
const SILENT = { run: "no known nondeterminism", batch: "no known dependence on the batch", hardware: "no known difference across hardware" };
const DOES = { depends: "depends", unknown: "not verified", raises: "raises an error" };
const GOOD_ONES = ["solved", "deterministic"];
const BEST_FIRST = ["solved", "deterministic", "unsolved", "raises", "depends", "unknown", "no-known-source"];

// What an op does, in a few words.
export function does(outcome, scope = "run") {
  if (outcome === "unsolved" || outcome === "nondeterministic") return BAD[scope];
  return outcome === "no-known-source" ? SILENT[scope] : DOES[outcome] ?? GOOD[scope];
}

// What an op or a source does, in the words of the scope that it is about.
export function doesIn(advice, { outcome, scope, sources }) {
  const about = scope ? [scope] : sources.filter((each) => GOOD_ONES.includes(outcome) || each.outcome === outcome).map((each) => each.scope);
  const isAsked = about.includes(advice.scope) || !about.length || outcome === "no-known-source";
  const silent = !isAsked && GOOD_ONES.includes(outcome) ? `, ${SILENT[advice.scope]}` : "";
  return does(outcome, isAsked ? advice.scope : "run") + silent;
}

// How many ops, and known causes in packages, have which outcome: the page shows the rest as rows.
export function headline(tables, advice) {
  const lacking = withoutDevice(tables, advice);
  if (lacking) return lacking;
  const ops = advice.ops.filter((op) => op.query !== "*");
  const own = advice.ops.find((op) => op.query === "*")?.sources ?? [];
  const parts = [];
  if (ops.length) parts.push(`${ops.length === 1 ? ops[0].query : `${ops.length} ops`}: ${counts(advice, ops)}.`);
  if (own.length) {
    const homes = unique(own.map((source) => phrases.title(tables, source.home)));
    const causes = own.length === 1 ? "1 known cause" : `${own.length} known causes`;
    parts.push(`${causes} in ${phrases.join(homes)}: ${counts(advice, own)}; the rest of ${homes.length === 1 ? "it" : "them"} is unreviewed.`);
  }
  return parts.join(" ") || "No known nondeterminism here (not a proof). Add the framework to ask about its ops.";
}

function counts(advice, items) {
  const settings = advice.conflicts.length ? " once you have chosen" : " with these settings";
  const groups = new Map();
  for (const outcome of BEST_FIRST) {
    for (const item of items.filter((each) => each.outcome === outcome)) {
      const said = doesIn(advice, item) + (outcome === "solved" ? settings : "");
      groups.set(said, (groups.get(said) ?? 0) + 1);
    }
  }
  return [...groups].map(([said, count]) => (items.length === 1 ? said : `${count} ${said}`)).join(", ");
}

// That a package is older than its support of the device; empty where none is.
function withoutDevice(tables, { environment: { device, packages, releases } }) {
  for (const name of Object.keys(packages)) {
    const [first, older] = tables.about[name]?.devices[device] ?? [null, []];
    if (older.includes(releases[name]?.at(-1))) {
      const title = phrases.title(tables, name);
      return `${title} ${packages[name]} does not support ${phrases.DEVICES[device]}, which came with ${title} ${first}. Upgrade, or name another device.`;
    }
  }
  return "";
}

// One line: PyTorch 2.4 · CUDA · training · assumed: without torch.compile.
export function environment(tables, advice) {
  const here = advice.environment;
  const parts = here.container ? [here.container] : [];
  const homes = new Set(advice.ops.flatMap((op) => op.sources.map((source) => source.home)));
  for (const [name, version] of Object.entries(here.packages)) {
    const shipped = here.assumed.includes(name) && !homes.has(name);
    if (!shipped && !tables.about[name]?.image) parts.push(held(tables, here, name, version));
  }
  const device = here.gpu ?? phrases.DEVICES[here.device] ?? here.device;
  const isNamed = parts.some((part) => part.startsWith(`${device} `)); // by its toolkit
  if (!isNamed && !isElsewhere(tables, here)) parts.push(device);
  parts.push(activity(tables, here));
  const facts = Object.entries(here.facts).filter(([name]) => name !== "training");
  const said = ([name, value]) => phrases.condition(tables, { [name]: value });
  const taken = facts.filter(([name]) => here.assumed.includes(name) && exists(tables, here, name)).map(said);
  parts.push(...facts.filter(([name]) => !here.assumed.includes(name)).map(said));
  if (taken.length) parts.push(`assumed: ${taken.join(", ")}`);
  return parts.join(" · ");
}

// Whether some release in question has what a fact is about.
function exists(tables, here, fact) {
  return Object.entries(tables.facts[fact][9]).every(([name, [, older]]) => !older.includes(here.releases[name]?.at(-1)));
}

// Whether a fact says where the one library computes that was named.
function isElsewhere(tables, here) {
  const named = Object.keys(here.packages).filter((name) => !here.assumed.includes(name));
  return !here.gpu && named.length === 1 && Object.keys(here.facts).some((name) => tables.facts[name]?.[7]);
}

// What the program does: it serves where every library that was named does.
function activity(tables, here) {
  if (here.facts.training === "false") return "inference";
  const named = Object.keys(here.packages).filter((name) => !here.assumed.includes(name));
  const libraries = named.map((name) => tables.about[name]).filter((about) => about && !about.framework && !about.platform && !about.image);
  return libraries.length && libraries.every((about) => about.is_server) ? "serving" : "training";
}

function held(tables, here, name, version) {
  const title = phrases.title(tables, name);
  const releases = here.releases[name] ?? [];
  if (here.between.includes(name)) return `${title} between ${releases[0]} and ${releases.at(-1)}`;
  if (version === "any") return `${title}, any release`;
  if (releases.length < 2) return `${title} ${version}`;
  return `${title} ${version} (${releases.length === 2 ? releases.join(", ") : `${releases[0]} to ${releases.at(-1)}`})`;
}
