// How an environment reads in a sentence. The same as resolver/d9m/render/advice/text.py.

import * as phrases from "./phrases.js";

const DOES = { depends: "depends", unknown: "nobody has checked", raises: "raises an error" };

// Scope -> what one op does, and what several do.
export const PROMISES = {
  run: ["repeats", "repeat"],
  batch: ["gives the same bits in any batch", "give the same bits in any batch"],
  hardware: ["gives the same bits on any machine", "give the same bits on any machine"],
};

// Scope -> what an op does that breaks the promise.
export const DIFFERS = { run: "can differ between runs", batch: "can differ with the batch", hardware: "can differ between machines" };

// What an op does with the advised settings.
export function does(outcome, scope) {
  return outcome === "unsolved" ? DIFFERS[scope] : DOES[outcome] ?? PROMISES[scope][0];
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
