// How an op is called in a sentence. The same as resolver/d9m/render/advice/op_names.py.

import { Mistake, parse } from "./op_syntax.js";

const SUBSCRIPT = "x[idx]";

// Query -> its short name; the query itself where two would share a name.
export function shortNames(ops) {
  const short = Object.fromEntries(ops.map((op) => [op.query, shortName(op.query)]));
  const names = Object.values(short);
  const shared = (name) => names.filter((other) => other === name).length > 1;
  return Object.fromEntries(Object.entries(short).map(([query, name]) => [query, shared(name) ? query : name]));
}

function shortName(query) {
  const item = parsed(query);
  if (!item || item.name.startsWith(SUBSCRIPT) || !/^[\p{L}_][\p{L}\p{N}_]*$/u.test(item.name.replaceAll(".", ""))) return query;
  const words = Object.entries(item.given).map(argument);
  if (item.directions.length === 1) words.push(["forward", "backward"][item.directions[0]]);
  const pasted = query.includes("(") && !words.length ? query.slice(query.indexOf("(")) : "";
  const name = item.name.slice(item.name.lastIndexOf(".") + 1);
  return words.length ? `${name} (${words.join(", ")})` : name + pasted;
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
