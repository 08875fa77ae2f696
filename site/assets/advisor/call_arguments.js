// What a call says of the facts: by its arguments, and by those that it leaves to its API.
// The same as resolver/d9m/resolve/call_arguments.py.

import { value } from "./literals.js";
import { bind, decideFacts, dropFirst, givenParameters } from "./signatures.js";

export const [ALIAS, OP, MESSAGE] = [0, 1, 2]; // sorts of names
const NO_CALL = { positional: [], keywords: {} };

// { given, defaults, unread } of a call of the entry with this number; without a call, what the name alone does.
export function callFacts(here, home, number, call, isMethod) {
  const facts = argumentFacts(here.tables);
  const catalogue = here.tables.catalogues[home];
  const [name] = catalogue.names[number];
  const written = call ?? NO_CALL;
  const stated = signatures(here, home, number, isMethod);
  const found = stated.length ? agreed(stated.map((overloads) => read(facts, overloads, written))) : ofKeywords(facts, written);
  for (const [fact, said] of Object.entries(catalogue.defaults[name] ?? {})) {
    if (!(fact in found.given) && !found.unread.has(fact)) found.defaults[fact] = said;
  }
  return found;
}

// How a name is called in the releases of the environment. A mere alias is called as what it stands for; nobody calls a
// name in a message.
function signatures(here, home, number, isMethod) {
  const catalogue = here.tables.catalogues[home];
  const [name, sort, ...reached] = catalogue.names[number];
  if (sort === MESSAGE) return [];
  const last = name.split(".").at(-1);
  const tried = [...(isMethod ? catalogue.methods.map((space) => space + last) : []), name];
  if (sort === ALIAS && reached.length === 1) tried.push(catalogue.names[reached[0][0]][0]);
  const isOwnMethod = catalogue.methods.some((space) => name.startsWith(space));
  const [, , releases] = here.held.find(([each]) => each === home);
  const ranks = here.tables.ranks[home];
  const inside = (release) => ([from, until]) => (from === null || ranks[from] <= ranks[release]) && (until === null || ranks[release] < ranks[until]);
  for (const each of tried) {
    const every = catalogue.signatures[each] ?? [];
    const there = every.filter(([spans]) => releases.some((release) => spans.some(inside(release))));
    const found = (there.length ? there : every).map(([, overloads]) => overloads);
    if (!found.length) continue;
    return isMethod && each === name && !isOwnMethod ? found.map((overloads) => overloads.map(dropFirst)) : found;
  }
  return [];
}

// Whether a call of this name has a parameter that is not a fact.
export function takes(here, home, number, parameter) {
  const { names, parameters } = here.tables.catalogues[home];
  return (parameters[names[number][0]] ?? []).includes(parameter);
}

function read(facts, overloads, call) {
  const bound = Object.entries(bind(overloads, call));
  const named = givenParameters(overloads, call);
  const given = decideFacts(facts, Object.fromEntries(bound.filter(([name]) => named.has(name))));
  const unread = askedOf(facts, named, given);
  const left = decideFacts(facts, Object.fromEntries(bound.filter(([name]) => !named.has(name))));
  const defaults = Object.fromEntries(Object.entries(left).filter(([name]) => !(name in given) && !unread.has(name)));
  return { given, defaults, unread };
}

// What the keywords of a call say where nobody knows its signature.
function ofKeywords(facts, { keywords }) {
  const given = decideFacts(facts, Object.fromEntries(Object.entries(keywords).map(([name, text]) => [name, value(text)])));
  return { given, defaults: {}, unread: askedOf(facts, new Set(Object.keys(keywords)), given) };
}

function askedOf(facts, names, given) {
  const asked = Object.entries(facts).filter(([, fact]) => Object.keys(fact.parameters).some((name) => names.has(name)));
  return new Set(asked.map(([name]) => name).filter((name) => !(name in given)));
}

function agreed([first, ...others]) {
  const shared = (part) =>
    Object.fromEntries(Object.entries(first[part]).filter(([name, said]) => others.every((other) => other[part][name] === said)));
  return { given: shared("given"), defaults: shared("defaults"), unread: new Set([first, ...others].flatMap((each) => [...each.unread])) };
}

function argumentFacts(tables) {
  const found = Object.entries(tables.facts).filter(([, fact]) => fact[6]);
  return Object.fromEntries(found.map(([name, fact]) => [name, { values: fact[1] ?? [], isInt: fact[1] === null, parameters: fact[6] }]));
}
