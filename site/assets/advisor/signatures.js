// What the arguments of a call mean, and which parameters it leaves out. The same as resolver/d9m/model/signatures.py.

import { EXPRESSION, kind, splitParts, value } from "./literals.js";

const ANY = "*";
const COUNT = " elements";
const FITTING = {
  Tensor: ["expression", "sequence"],
  int: ["expression", "sequence", "int", "str", "none"],
  number: ["expression", "int", "number"],
  bool: ["expression", "bool"],
};

// What stands between the brackets of a call: { positional, keywords }.
export function readArguments(text) {
  const found = { positional: [], keywords: {} };
  for (const part of splitParts(text)) {
    const [, name, said] = /^([^=]*)=(.*)$/s.exec(part) ?? [];
    if (name && /^[\p{L}_][\p{L}\p{N}_]*$/u.test(name.trim()) && !said.startsWith("=")) found.keywords[name.trim()] = said.trim();
    else found.positional.push(part);
  }
  return found;
}

export function dropFirst(overload) {
  return splitParts(overload).slice(1).join(", ");
}

// Parameter -> value, for what is given and for what is left out.
export function bind(overloads, call) {
  let chosen = bestFits(overloads, call);
  if (!chosen.length) return Object.fromEntries(Object.entries(call.keywords).map(([name, text]) => [name, value(text)]));
  const given = (found) => JSON.stringify(Object.entries(found.given).sort());
  if (chosen.every((found) => given(found) === given(chosen[0]))) chosen = chosen.slice(0, 1);
  const names = [...new Set(overloads.flatMap((text) => parameters(text).filter(isPlain).map((each) => each.name)))];
  const [first, ...others] = chosen.map((found) => completed(found, names));
  return Object.fromEntries(Object.entries(first).filter(([name, text]) => others.every((other) => other[name] === text)));
}

// The parameters that a call gives, rather than leaving them to their defaults.
export function givenParameters(overloads, call) {
  const fits = bestFits(overloads, call);
  return new Set([...Object.keys(call.keywords), ...fits.flatMap((found) => Object.keys(found.given))]);
}

// Fact -> value, for the facts that bound parameters decide. `facts`: name -> { values, isInt, parameters }.
export function decideFacts(facts, bound) {
  const found = {};
  for (const [name, fact] of Object.entries(facts)) {
    for (const [parameter, words] of Object.entries(fact.parameters)) {
      const said = parameter in bound ? factValueOf(fact, words, bound[parameter]) : null;
      if (said && said !== EXPRESSION && !(name in found)) found[name] = said;
    }
  }
  return found;
}

function factValueOf(fact, words, said) {
  if (Object.keys(words).some((word) => word.endsWith(COUNT))) return words[`${length(said)}${COUNT}`] ?? null;
  if (said.startsWith(EXPRESSION)) {
    const last = said.split(".").at(-1).replace(/^\?/, "").toLowerCase();
    return words[last] ?? (fact.values.includes(last) ? last : words[EXPRESSION]);
  }
  const elements = [...new Set(said.split(","))];
  const single = elements.length === 1 ? elements[0] : said;
  if (single in words) return words[single];
  if (fact.values.includes(single) || (fact.isInt && /^\d+$/.test(single))) return single;
  return words[ANY];
}

// How many elements a value has; null where unpacked ones hide the number.
function length(said) {
  const text = said.replace(/^\?/, "");
  if (!/^[([]/.test(text)) return text === said ? said.split(",").length : null;
  const parts = splitParts(text.slice(1, -1));
  return parts.some((part) => part.startsWith("*")) ? null : parts.length;
}

function parameters(text) {
  const found = [];
  let named = false;
  for (const part of splitParts(text)) {
    const [, left, rest] = /^([^=]*)(=.*)?$/s.exec(part);
    const [name, word = ""] = left.split(/: (.*)/s);
    const stars = /^\**/.exec(name)[0];
    if (name !== stars) found.push({ name: name.slice(stars.length), stars, word, left: rest?.slice(1) ?? null, named });
    named ||= stars === "*";
  }
  return found;
}

const isPlain = (parameter) => parameter.stars !== "**";
const fits = (parameter, text) => !parameter.word || FITTING[parameter.word].includes(kind(text));

// How the arguments fit the overloads that know most of them; none where Python would refuse the call.
function bestFits(overloads, call) {
  const found = overloads.map((text) => fit(parameters(text), call)).filter(Boolean);
  const rank = ({ misfit: [unknown, missing] }) => unknown * 1000 + missing;
  const best = Math.min(...found.map(rank));
  return found.filter((each) => rank(each) === best);
}

function fit(all, { positional, keywords }) {
  const places = all.filter((each) => !each.named && each.stars !== "**");
  const given = {};
  for (const [place, text] of positional.entries()) {
    if (text.startsWith("*")) break;
    const parameter = places[Math.min(place, places.length - 1)];
    if (!parameter || (place >= places.length && !parameter.stars) || !fits(parameter, text)) return null;
    const said = value(text);
    given[parameter.name] = parameter.name in given ? `${given[parameter.name]},${said}` : said;
  }
  if (Object.keys(keywords).some((name) => name in given)) return null;
  const known = Object.fromEntries(all.map((each) => [each.name, each]));
  const takesAny = all.some((each) => each.stars === "**");
  const unknown = takesAny ? 0 : Object.keys(keywords).filter((name) => !(name in known)).length;
  for (const [name, text] of Object.entries(keywords)) {
    if (name in known && !fits(known[name], text)) return null;
    given[name] = value(text);
  }
  const unpacked = positional.some((text) => text.startsWith("*"));
  const needed = all.filter((each) => each.left === null && !each.stars);
  const missing = unpacked ? 0 : needed.filter((each) => !(each.name in given)).length;
  return { parameters: all, given, unpacked, misfit: [unknown, missing] };
}

function completed(found, names) {
  const own = Object.fromEntries(found.parameters.filter(isPlain).map((each) => [each.name, each]));
  const bound = { ...found.given };
  for (const name of names) {
    if (name in bound || found.unpacked) continue;
    if (!(name in own)) bound[name] = "none";
    else if (own[name].left !== null) bound[name] = value(own[name].left);
  }
  return bound;
}
