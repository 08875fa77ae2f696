// How an op is called in a sentence. The same as resolver/d9m/render/advice/op_names.py.

import { Mistake, parse } from "./op_syntax.js";

const SUBSCRIPT = "x[idx]";
const SPOILED = ["raises", "unsolved", "unknown", "depends"]; // outcomes that a sentence blames an op for

// Query -> its short name; the query itself where two would share a name.
export function shortNames(tables, ops) {
  return unshared(ops, (op) => shortName(tables, op, false));
}

// The same, where the name says so if only its gradient is at fault.
export function blamedNames(tables, ops) {
  return unshared(ops, (op) => shortName(tables, op, differsBackwardOnly(op)));
}

function unshared(ops, nameOf) {
  const short = Object.fromEntries(ops.map((op) => [op.query, nameOf(op)]));
  const names = Object.values(short);
  const shared = (name) => names.filter((other) => other === name).length > 1;
  return Object.fromEntries(Object.entries(short).map(([query, name]) => [query, shared(name) ? query : name]));
}

function shortName(tables, { query }, blamed) {
  const item = parsed(query);
  if (!item || item.name.startsWith(SUBSCRIPT) || !/^[\p{L}_][\p{L}\p{N}_]*$/u.test(item.name.replaceAll(".", ""))) return query;
  const words = Object.entries(item.given).map(argument);
  if (item.directions.length === 1) words.push(["forward", "backward"][item.directions[0]]);
  else if (blamed) words.push("backward");
  const pasted = query.includes("(") && !words.length ? query.slice(query.indexOf("(")) : "";
  const name = withoutOverload(tables, item.name);
  return words.length ? `${name} (${words.join(", ")})` : name + pasted;
}

// The last part of a name; of an operator, of the name without its overload.
function withoutOverload(tables, name) {
  const start = tables.operators.find((each) => name.startsWith(each));
  return start ? name.slice(start.length).split(".")[0] : name.slice(name.lastIndexOf(".") + 1);
}

// Whether what stands in the way of an op concerns its gradient, and not the op itself.
function differsBackwardOnly({ outcome, sources }) {
  const worst = sources.filter((source) => source.outcome === outcome);
  return SPOILED.includes(outcome) && worst.length > 0 && worst.every((source) => source.direction.join() === "backward");
}

// “bilinear” says what it is about; “4” and “true” do not: ndim=4.
function argument([name, value]) {
  const speaks = /^\p{L}/u.test(value) && !["true", "false", "none"].includes(value);
  return speaks ? value : `${name}=${value}`;
}

function parsed(query) {
  try {
    return parse(query);
  } catch (error) {
    if (!(error instanceof Mistake)) throw error;
    return null;
  }
}
