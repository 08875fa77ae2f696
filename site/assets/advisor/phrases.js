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

// "on 2-D inputs with reduction=mean and PyTorch 2.6 or newer"; empty for a clause that always holds.
export function condition(tables, when) {
  const parts = Object.entries(when).map(([name, value]) => variable(tables, name, value));
  const isWith = (part) => part?.startsWith("with ");
  return parts.map((part, at) => (isWith(part) && isWith(parts[at - 1]) ? `and ${part.slice("with ".length)}` : part)).join(" ");
}

// Several clauses of which one must hold, as few as say the same.
export function conditions(tables, whens) {
  return unique(fewest(tables, whens).map((when) => condition(tables, when))).join(", or ");
}

// Clauses of which one must hold, those that differ in one variable only made one, and none that asks for more than
// another one.
export function fewest(tables, whens) {
  const found = [];
  for (const when of widest(tables, whens)) {
    let [whole, place] = [when, found.length];
    for (let number = found.length - 1; number >= 0; number--) {
      const both = joined(tables, found[number], whole);
      if (!both) continue;
      [whole, place] = [both, number];
      found.splice(number, 1);
    }
    found.splice(place, 0, whole);
  }
  return widest(tables, found);
}

// Clauses without those that hold only where another one does.
function widest(tables, whens) {
  const isOther = (first, second) => JSON.stringify(Object.entries(first).sort()) !== JSON.stringify(Object.entries(second).sort());
  return whens.filter((when) => !whens.some((other) => isOther(other, when) && implies(tables, when, other)));
}

// Whether a clause holds only where another one does, as far as the same names show it.
function implies(tables, narrow, wide) {
  return Object.entries(wide).every(([name, value]) => name in narrow && isWithin(tables.ranks[name], narrow[name], value));
}

function isWithin(ranks, narrow, wide) {
  if (!isRange(narrow) || !isRange(wide)) return JSON.stringify(narrow) === JSON.stringify(wide);
  const rank = (edge) => ranks?.[edge] ?? Number(edge);
  const starts = wide.from === undefined || (narrow.from !== undefined && rank(narrow.from) >= rank(wide.from));
  const ends = wide.until === undefined || (narrow.until !== undefined && rank(narrow.until) <= rank(wide.until));
  return starts && ends;
}

// Two clauses that differ in one variable as one: values that a person reads as a list, spans that touch, or
// nothing of a fact of which they leave no value out; null where they are not.
function joined(tables, first, second) {
  const names = Object.keys(first);
  if (names.length !== Object.keys(second).length || !names.every((name) => name in second)) return null;
  const differing = names.filter((name) => JSON.stringify(first[name]) !== JSON.stringify(second[name]));
  if (differing.length !== 1) return null;
  const [name] = differing;
  const [one, other] = [first[name], second[name]];
  if (isRange(one) && isRange(other)) {
    const [low, high] = one.until !== undefined && one.until === other.from ? [one, other] : [other, one];
    if (low.until === undefined || low.until !== high.from) return null;
    if (low.from === undefined && high.until === undefined && name in tables.facts) return without(first, name);
    const edges = [["from", low.from], ["until", high.until]].filter(([, edge]) => edge !== undefined);
    return { ...first, [name]: Object.fromEntries(edges) };
  }
  if (isRange(one) || isRange(other)) return null;
  const values = unique([...listed(one), ...listed(other)]);
  const domain = tables.facts[name]?.[1] ?? [];
  if (domain.length && domain.every((value) => values.includes(value))) {
    return without(first, name);
  }
  return names.length === 1 || name === "device" ? { ...first, [name]: values } : null;
}

function without(when, name) {
  return Object.fromEntries(Object.entries(when).filter(([key]) => key !== name));
}

function variable(tables, name, value) {
  const fact = tables.facts[name];
  if (fact) return isRange(value) ? span(name, fact[4], value) : chosen(name, fact[4], listed(value));
  if (name === "device") return `on ${join(listed(value).map((device) => DEVICES[device] ?? device), "or")}`;
  if (isRange(value)) return `with ${title(tables, name)} ${releases(tables, name, value)}`.trimEnd();
  return `without ${title(tables, name)}`;
}

function releases(tables, name, { from, until }) {
  if (from && until) {
    const last = tables.lasts[name]?.[until];
    const ranks = tables.ranks[name];
    if ((last === undefined || ranks[last] < ranks[from]) && nextMinor(from) === until) return from;
    if (last === undefined || ranks[last] < ranks[from]) return `${from} or newer (before ${until})`;
    const line = last.split(".").slice(0, 2).join(".");
    const covers = (release) => release === line || release.startsWith(`${line}.`);
    const shown = covers(until) || (covers(from) && from !== line) ? last : line;
    return sameRelease(from, shown) ? shown : `${from} to ${shown}`;
  }
  if (from) return `${from} or newer`;
  return until ? `before ${until}` : "";
}

// 1.20 after 1.19; null for a release that is not a minor one.
function nextMinor(release) {
  const [major, minor, ...rest] = release.split(".");
  return /^\d+$/.test(minor ?? "") && !rest.length ? `${major}.${Number(minor) + 1}` : null;
}

// 2.0 and 2.0.0 are one release.
function sameRelease(one, other) {
  const plain = (release) => release.replace(/(\.0+)+$/, "");
  return plain(one) === plain(other);
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
