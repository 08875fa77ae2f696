// How conditions, environments and outcomes read in a sentence.

import { unique } from "./settle.js";

const SAME = { run: "from run to run", batch: "in any batch", hardware: "on any machine" };
const DIFFERS = { run: "from run to run", batch: "with the batch", hardware: "from machine to machine" };

// What the worst outcome of all ops means for the program.
export function meaning({ outcome, scope }) {
  return {
    "no-known-source": `Nothing known here differs ${DIFFERS[scope]}. That is not a proof.`,
    deterministic: `The same bits ${SAME[scope]}, whatever is set.`,
    solved: `The same bits ${SAME[scope]}, with these settings.`,
    unknown: "Not everything asked about is known for this release.",
    raises: "With these settings the program stops at an op that has no deterministic version.",
    unsolved: `Something asked about differs ${DIFFERS[scope]}, and no setting here ends that.`,
  }[outcome];
}

export function shout(outcome) {
  return outcome.toUpperCase().replaceAll("-", " ");
}

function listed(items, last) {
  return items.length < 2 ? items.join("") : `${items.slice(0, -1).join(", ")} ${last} ${items.at(-1)}`;
}

function allowed(name, value) {
  if (typeof value === "object" && !Array.isArray(value)) {
    const bounds = [...(value.from ? [`>= ${value.from}`] : []), ...(value.until ? [`< ${value.until}`] : [])];
    return bounds.length ? `${name} ${bounds.join(", ")}` : name;
  }
  const values = Array.isArray(value) ? value : [value];
  if (values.length === 1 && values[0] === "absent") return `no ${name}`;
  return `${name}=${listed(values, "or")}`;
}

// A condition as a phrase; empty for one that always holds.
export function clause(when) {
  return Object.entries(when).map(([name, value]) => allowed(name, value)).join(" and ");
}

export function clauses(whens) {
  return unique(whens.map(clause)).join(", or ");
}

function span(releases, word) {
  if (word) return `${word} ${releases[0]} and ${releases.at(-1)}`;
  return releases.length > 2 ? `${releases[0]} - ${releases.at(-1)}` : releases.join(", ");
}

// One line: tensorflow 2.0 (2.0.0 - 2.0.4) · cuda · training · xla off (assumed).
export function environment(advice) {
  const here = advice.environment;
  const parts = here.container ? [here.container] : [];
  for (const [name, version] of Object.entries(here.packages)) {
    if (here.assumed.includes(name) || here.container?.endsWith(version)) continue;
    const releases = here.releases[name] ?? [];
    const told = span(releases, here.between.includes(name) ? "between" : "");
    if (version === "any" && here.between.includes(name)) parts.push(`${name} ${told}`);
    else parts.push(`${name} ${version}` + (releases.length > 1 && version !== "any" ? ` (${told})` : ""));
  }
  parts.push(here.device, here.facts.training === "false" ? "inference" : "training");
  for (const [name, value] of Object.entries(here.facts)) {
    if (name === "training") continue;
    const word = { true: `${name} on`, false: `${name} off` }[value] ?? `${name} ${value}`;
    parts.push(here.assumed.includes(name) ? `${word} (assumed)` : word);
  }
  return parts.join(" · ");
}

// The comment line that every block carries.
export function stamp(advice, command) {
  return `d9m ${advice.d9m.version}, knowledge base ${advice.d9m.kb_date}: ${command}`;
}
