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

// Several clauses of which one must hold; values of one variable share a phrase.
export function conditions(tables, whens) {
  const found = [];
  for (const when of whens) {
    const whole = found.length ? joined(found.at(-1), when) : null;
    if (whole) found[found.length - 1] = whole;
    else found.push(when);
  }
  return unique(found.map((when) => condition(tables, when))).join(", or ");
}

// Two clauses about one variable as one: listed values, or spans that touch; null where they are not.
function joined(first, second) {
  const [name, ...more] = Object.keys(first);
  if (!name || more.length || Object.keys(second).join() !== name) return null;
  const [one, other] = [first[name], second[name]];
  if (!isRange(one) && !isRange(other)) return { [name]: unique([...listed(one), ...listed(other)]) };
  if (!isRange(one) || !isRange(other)) return null;
  const [low, high] = one.until === other.from ? [one, other] : [other, one];
  if (low.until === undefined || low.until !== high.from) return null;
  return { [name]: Object.fromEntries([["from", low.from], ["until", high.until]].filter(([, edge]) => edge !== undefined)) };
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
  if (values.length === 1 && !("value" in says) && "is" in says) return says.is.replace("{from}", values[0]);
  return (says.value ?? `with ${name}={value}`).replace("{value}", join(values, "or"));
}

// A range of integers, by the template that its bounds call for; a bound may have words of its own.
function span(name, says, { from, until }) {
  const last = until ? String(Number(until) - 1) : "";
  let kind = from && until ? "range" : from ? "from" : "until";
  if (from && from === last) kind = "is";
  const template = says[`${kind} ${from ?? until}`] ?? says[kind] ?? `with ${name} from {from} to {last}`;
  return template.replace("{from}", from ?? "None").replace("{until}", until ?? "None").replace("{last}", last);
}

function isRange(value) {
  return typeof value === "object" && !Array.isArray(value);
}

function listed(value) {
  return Array.isArray(value) ? value : [value];
}
