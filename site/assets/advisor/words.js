// How an environment reads in a sentence. The same as resolver/d9m/render/advice/text.py.

import * as phrases from "./phrases.js";

// What an op does with the advised settings.
export const DOES = {
  "no-known-source": "repeats",
  deterministic: "repeats",
  solved: "repeats",
  depends: "depends",
  unknown: "nobody has checked",
  raises: "raises an error",
  unsolved: "can differ between runs",
};

// One line: PyTorch 2.4 · CUDA · training · assumed: without torch.compile.
export function environment(tables, advice) {
  const here = advice.environment;
  const parts = here.container ? [here.container] : [];
  const met = new Set(advice.ops.flatMap((op) => op.sources.map((source) => source.home)));
  for (const [name, version] of Object.entries(here.packages)) {
    const shipped = here.assumed.includes(name) && !met.has(name);
    if (!shipped && !tables.about[name]?.image) parts.push(held(tables, here, name, version));
  }
  parts.push(phrases.DEVICES[here.device] ?? here.device, here.facts.training === "false" ? "inference" : "training");
  const facts = Object.entries(here.facts).filter(([name]) => name !== "training");
  const said = ([name, value]) => phrases.condition(tables, { [name]: value });
  const taken = facts.filter(([name]) => here.assumed.includes(name)).map(said);
  parts.push(...facts.filter(([name]) => !here.assumed.includes(name)).map(said));
  if (taken.length) parts.push(`assumed: ${taken.join(", ")}`);
  return parts.join(" · ");
}

function held(tables, here, name, version) {
  const title = phrases.title(tables, name);
  const releases = here.releases[name] ?? [];
  if (here.between.includes(name)) return `${title} between ${releases[0]} and ${releases.at(-1)}`;
  if (version === "any") return `${title}, any release`;
  if (releases.length < 2) return `${title} ${version}`;
  return `${title} ${version} (${releases.length === 2 ? releases.join(", ") : `${releases[0]} to ${releases.at(-1)}`})`;
}
