// From the names that a person wrote to the ops that the tables know.

import { factValue } from "./environment.js";
import { closest } from "./near.js";
import { Mistake, plain } from "./op_syntax.js";

// Every name of a catalogue by its plain spelling, and by each of its last parts; a name in full beats a part.
export class Names {
  constructor(catalogue) {
    this.catalogue = catalogue;
    const full = new Map();
    this.found = new Map();
    catalogue.names.forEach(([written], number) => {
      const name = plain(written);
      push(full, name, number);
      const parts = name.split(".");
      for (let start = 1; start < parts.length; start++) push(this.found, parts.slice(start).join("."), number);
    });
    for (const [name, numbers] of [...full, ...Object.entries(catalogue.several)]) this.found.set(name, numbers);
  }

  // Numbers of the entries that a written name may mean: those of its first known spelling.
  meant(name) {
    for (const spelling of this.#spellings(name)) {
      const numbers = this.found.get(plain(spelling));
      if (!numbers) continue;
      const exact = numbers.filter((number) => this.catalogue.names[number][0] === name);
      return exact.length ? exact : numbers;
    }
    return [];
  }

  *#spellings(name) {
    yield name;
    for (const [short, full] of Object.entries(this.catalogue.prefixes)) {
      if (name.toLowerCase().startsWith(short.toLowerCase())) yield full + name.slice(short.length);
    }
  }

  // The last part of each name.
  ends(absent) {
    return [...new Set(this.catalogue.names.filter((_, number) => !absent.has(number)).map(([name]) => plain(name).split(/[.:]+/).at(-1)))];
  }

  // Names that hold a text, those that start with it or with its last part first.
  like(text, absent, most = 12) {
    const wanted = plain(text);
    const found = this.catalogue.names
      .map(([name], number) => [name, number, name.toLowerCase().indexOf(wanted)])
      .filter(([, number, at]) => at >= 0 && !absent.has(number));
    const rank = ([name, , at]) => (at === 0 || name[at - 1] === "." ? 0 : 1000) + name.length;
    return found.sort((one, other) => rank(one) - rank(other)).slice(0, most).map(([name]) => name);
  }
}

function push(map, key, value) {
  if (!map.has(key)) map.set(key, []);
  if (!map.get(key).includes(value)) map.get(key).push(value);
}

// One query item with the ops that it means here: { text, ops: [{ name, arguments, directions, columns }] }.
export function find(here, names, query) {
  const { tables } = here;
  const packages = here.catalogues;
  const entries = packages.flatMap((each) => names[each].meant(query.name).map((number) => [each, number]));
  if (!entries.length) throw unknown(here, names, query);
  const given = stated(tables, query);
  const reached = entries
    .filter(([home, number]) => !here.absent[home].has(number))
    .flatMap(([home, number]) => reaches(tables, home, number).map((each) => [home, each]))
    .filter(([home, [op]]) => !here.absent[home].has(op));
  if (!reached.length) throw new Mistake(`“${query.name}” does not exist in ${here.choice.title} ${here.version}`);
  const fitting = reached.filter(([, [, fixed]]) =>
    Object.entries(fixed).every(([name, value]) => (given[name] ?? value) === value)
  );
  if (!fitting.length) {
    const fixed = Object.entries(reached[0][1][1]).map(([name, value]) => `${name}=${value}`);
    throw new Mistake(`“${query.text}” contradicts its own name, which means ${fixed.join(", ")}`);
  }
  const ops = new Map();
  for (const [home, [op, fixed, directions, columns]] of fitting) {
    const name = tables.catalogues[home].names[op][0];
    const all = { ...fixed, ...given };
    ops.set(JSON.stringify([home, name, all]), {
      name,
      arguments: all,
      directions: directions.filter((each) => query.directions.includes(each)),
      columns,
    });
  }
  return { text: query.text, ops: [...ops.values()] };
}

function reaches(tables, home, number) {
  return tables.catalogues[home].names[number].slice(2);
}

function stated(tables, query) {
  const found = {};
  for (const [name, value] of Object.entries(query.given)) found[name] = factValue(tables, name, value);
  for (const [name, value] of Object.entries(query.pasted)) {
    if (tables.facts[name]?.[3] && !(name in found)) found[name] = factValue(tables, name, value);
  }
  return found;
}

function unknown(here, names, query) {
  const { tables } = here;
  for (const [package_, catalogue] of Object.entries(tables.catalogues)) {
    const isAddOn = Object.keys(catalogue.add_ons).some((start) => query.name.toLowerCase().startsWith(start.toLowerCase()));
    if (isAddOn) return new Mistake(`“${query.name}” brings a package of its own along: ask the command line`);
    if (!here.catalogues.includes(package_) && names[package_].meant(query.name).length) {
      return new Mistake(`“${query.name}” is an op of ${tables.about[package_].title}`);
    }
  }
  if (!here.catalogues.length) return new Mistake(`no ops of ${here.choice.title} are known: leave the ops out`);
  const last = query.name.split(/[.:]+/).at(-1);
  const holding = here.catalogues.flatMap((each) => names[each].like(last, here.absent[each], 3));
  const close = holding.length ? holding : closest(plain(last), here.catalogues.flatMap((each) => names[each].ends(here.absent[each])));
  return new Mistake(`no record names “${query.name}”`, close);
}

// Every catalogued op of the environment that meets a source.
export function everything(here) {
  const { tables } = here;
  return here.catalogues.flatMap((home) => {
    const found = tables.catalogues[home].names.flatMap(([name, catalogued, ...reached], number) => {
      const own = reached[0];
      if (!catalogued || here.absent[home].has(number) || own[0] !== number || !own[3].length) return [];
      return [{ text: name, ops: [{ name, arguments: {}, directions: own[2], columns: own[3] }] }];
    });
    return found;
  });
}
