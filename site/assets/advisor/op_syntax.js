// What a person writes for an op, read into name, arguments and directions. The same as resolver/d9m/model/op_syntax.py.

import { readArguments } from "./signatures.js";

export const BOTH = [0, 1]; // forward, backward
const DIRECTIONS = { forward: 0, fwd: 0, backward: 1, bwd: 1 };
const OPEN = "([{";
const CLOSE = ")]}";
const LONGEST = 500; // characters of one item; a pasted log has more
const SUBSCRIPT = "x[idx]"; // under which any pasted subscript is looked up
const PRODUCT = /^[^@:]*[^@:\s]\s*@\s*[^@:\s][^@:]*(?=:|$)/;
export const RECEIVER = "x."; // stands for the object of a pasted method call
const ATTRIBUTE = /^\.\w+(?=[.:[]|$)/;
const KERNEL = /^(?:void\s+)?((?:\w+::)*(?:\(anonymous namespace\)::\w+|\w+(?=<)))(?:<.*>)?(?:\(.*\))?/;
const UPDATED = /^[^[]*\.at\[.*?\]\.(\w+)(?:\((.*)\))?(?=:|$)/s; // JAX: x.at[i].add(y)
const ASSIGNMENTS = ["x[idx] = v", "x[idx] += v"]; // plain and augmented

export class Mistake extends Error {
  constructor(what, nearest = []) {
    super(what);
    this.nearest = nearest;
  }
}

export function split(text) {
  const items = [];
  let depth = 0;
  let start = 0;
  let templates = 0; // of C++ kernels
  for (let place = 0; place < text.length; place++) {
    depth += OPEN.includes(text[place]) - CLOSE.includes(text[place]);
    if (depth === 0) templates += opensTemplate(text, place) - (text[place] === ">" && templates > 0);
    if (text[place] === "," && depth <= 0 && !templates) {
      items.push(text.slice(start, place));
      start = place + 1;
    }
  }
  items.push(text.slice(start));
  return items.map((item) => item.trim()).filter(Boolean);
}

// Whether a name's template begins: f<4>, not x < 3.
function opensTemplate(text, place) {
  return text[place] === "<" && /[\p{L}\p{N}_]/u.test(text[place - 1] ?? "") && text.indexOf(">", place) > 0;
}

export function parse(text) {
  const item = text.trim();
  if (item.length > LONGEST) throw new Mistake(`an op of ${item.length} characters; ${LONGEST} are allowed`);
  let [name, end] = nameOf(item);
  if (!name) throw new Mistake(`an op's name is missing in “${item}”`);
  const updated = UPDATED.exec(item);
  let given = {};
  if (updated) {
    const call = updated[2] === undefined ? null : readArguments(updated[2]);
    return { text: item, name: `at.${updated[1]}`, given, call, directions: suffixes(item, updated[0].length, given) };
  }
  const product = PRODUCT.exec(item);
  if (product) return { text: item, name: "x @ y", given, call: null, directions: suffixes(item, product[0].length, given) };
  let call = null;
  while ("([.".includes(item[end] ?? " ")) {
    if (item[end] === ".") { // of what the call or the subscript gives
      const attribute = ATTRIBUTE.exec(item.slice(end));
      const start = end + 1;
      end = attribute ? end + attribute[0].length : endOfName(item, end);
      if (!attribute) [name, call, given] = [RECEIVER + item.slice(start, end).trim(), null, {}];
      continue;
    }
    const close = closing(item, end);
    const inside = item.slice(end + 1, close);
    if (item[end] === "(") call ??= readArguments(inside);
    else if (inside.trim() && !inside.includes("=")) name = call ? name : SUBSCRIPT;
    else split(inside).forEach((part) => add(given, item, part));
    end = close + 1;
  }
  const assigned = name === SUBSCRIPT && /^\s*([-+*/]?)=(?!=)/.exec(item.slice(end));
  if (assigned) return { text: item, name: ASSIGNMENTS[assigned[1] ? 1 : 0], given: {}, call: null, directions: BOTH };
  return { text: item, name, given, call, directions: suffixes(item, end, given) };
}

// The name that an item begins with, and where it ends; of a C++ kernel, without its return type and template.
function nameOf(item) {
  const kernel = KERNEL.exec(item);
  if (kernel) return [kernel[1].replaceAll("(anonymous namespace)::", ""), kernel[0].length];
  const end = endOfName(item, 0);
  return [item.slice(0, end).trim(), end];
}

function suffixes(item, end, given) {
  const rest = item.slice(end);
  if (rest && !rest.startsWith(":")) throw new Mistake(`expected “:” or the end after “${item.slice(0, end)}”`);
  const found = new Set();
  for (const part of rest.split(":").slice(1)) {
    const word = part.trim().toLowerCase();
    if (word in DIRECTIONS) found.add(DIRECTIONS[word]);
    else if (part.includes("=")) add(given, item, part);
    else throw new Mistake(`expected forward, backward or name=value, not “${part}”, in “${item}”`);
  }
  return found.size ? BOTH.filter((each) => found.has(each)) : BOTH;
}

function endOfName(item, start) {
  const masked = item.replaceAll("::", "  ");
  const places = ["(", "[", ":"].map((sign) => masked.indexOf(sign, start)).filter((place) => place >= 0);
  return Math.min(item.length, ...places);
}

function closing(item, start) {
  let depth = 0;
  for (let place = start; place < item.length; place++) {
    depth += OPEN.includes(item[place]) - CLOSE.includes(item[place]);
    if (depth === 0) return place;
  }
  throw new Mistake(`a bracket is never closed in “${item}”`);
}

function add(given, item, part) {
  const equals = part.indexOf("=");
  const name = part.slice(0, equals < 0 ? part.length : equals).trim().toLowerCase();
  const value = equals < 0 ? "" : literal(part.slice(equals + 1));
  if (!name || !value) throw new Mistake(`expected name=value, not “${part.trim()}”, in “${item}”`);
  if ((given[name] ?? value) !== value) throw new Mistake(`${name} is given twice in “${item}”`);
  given[name] = value;
}

function literal(value) {
  return value.trim().replace(/^['"]+|['"]+$/g, "").toLowerCase();
}

// A name as tables know it: lower case, without trailing underscores.
export function plain(name) {
  const lower = name.trim().toLowerCase();
  return lower.replace(/_+$/, "") || name;
}
