// Conditions in words: half a sentence each. The same as resolver/d9m/render/phrases.py.

import { unique } from "./merge.js";

export const DEVICES = { cuda: "CUDA", rocm: "ROCm", mps: "MPS", xpu: "XPU", cpu: "CPU" };

// a; a and b; a, b and c.
export function join(items, last = "and") {
  return items.length < 2 ? items.join("") : `${items.slice(0, -1).join(", ")} ${last} ${items.at(-1)}`;
}

// The name of a package as its makers write it.
export function title(tables, name) {
  return tables.about[name]?.title ?? name;
}

// "on 2-D inputs with reduction=mean"; empty for a clause that always holds.
export function condition(tables, when) {
  return Object.entries(when).map(([name, value]) => variable(tables, name, value)).join(" ");
}

// Several clauses of which one must hold.
export function conditions(tables, whens) {
  return unique(whens.map((when) => condition(tables, when))).join(", or ");
}

function variable(tables, name, value) {
  const fact = tables.facts[name];
  if (fact) return isRange(value) ? span(name, fact[4], value) : chosen(name, fact[4], listed(value));
  if (name === "device") return `on ${join(listed(value).map((device) => DEVICES[device] ?? device), "or")}`;
  if (isRange(value)) return `with ${title(tables, name)} ${releases(value)}`.trimEnd();
  return `without ${title(tables, name)}`;
}

function releases({ from, until }) {
  if (from && until) return `${from} or newer, before ${until}`;
  if (from) return `${from} or newer`;
  return until ? `before ${until}` : "";
}

function chosen(name, says, values) {
  if (values.length === 1 && values[0] in says) return says[values[0]];
  return (says.value ?? `with ${name}={value}`).replace("{value}", join(values, "or"));
}

// A range of integers, by the template that its bounds call for.
function span(name, says, { from, until }) {
  const last = until ? String(Number(until) - 1) : "";
  let kind = from && until ? "range" : from ? "from" : "until";
  if (from && from === last) kind = "is";
  const template = says[kind] ?? `with ${name} from {from} to {last}`;
  return template.replace("{from}", from ?? "None").replace("{until}", until ?? "None").replace("{last}", last);
}

function isRange(value) {
  return typeof value === "object" && !Array.isArray(value);
}

function listed(value) {
  return Array.isArray(value) ? value : [value];
}
