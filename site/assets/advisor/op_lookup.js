// From the names that a person wrote to the ops that the tables know.

import { callFacts, MESSAGE, OP, takes } from "./call_arguments.js";
import { factValue } from "./environment.js";
import { kind, value } from "./literals.js";
import { closest } from "./near.js";
import { Mistake, parse, plain, RECEIVER } from "./op_syntax.js";
import { decideFacts } from "./signatures.js";

export const WHOLE = "*"; // stands for what a package does whatever its ops

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
    const spellings = [...this.#spellings(name)].flatMap((spelling) => [spelling, ...this.#forOperator(spelling)]);
    for (const spelling of spellings) {
      const numbers = this.found.get(plain(spelling));
      if (!numbers) continue;
      const exact = numbers.filter((number) => this.catalogue.names[number][0] === name);
      return exact.length ? exact : name.includes(".") ? numbers : this.#plainest(numbers, name);
    }
    return [];
  }

  // Of several names that end alike the one in the plainest name space; spelled as it was written, if one is.
  #plainest(numbers, name) {
    const written = (number) => this.catalogue.names[number][0];
    const spelled = numbers.filter((number) => written(number).split(".").at(-1) === name);
    for (const candidates of [spelled, numbers]) {
      for (const space of this.catalogue.plain) {
        const found = candidates.filter((number) => written(number).slice(0, written(number).lastIndexOf(".") + 1) === space);
        if (found.length) return found;
      }
    }
    return numbers;
  }

  // The entries that a name means: those of its spelling, else the methods of this name.
  meaning(name, modules) {
    const { methods } = this.catalogue;
    const own = this.meant(name);
    const space = name.slice(0, name.lastIndexOf(".") + 1);
    if (own.length) return { numbers: own, isMethod: methods.some((each) => `.${each}`.endsWith(`.${space || "."}`)) };
    const method = calledOnObject(name, modules);
    if (method === null) return { numbers: [], isMethod: false };
    for (const each of [...methods, ""]) {
      const numbers = this.meant(each + method);
      if (numbers.length) return { numbers, isMethod: true };
    }
    return { numbers: [], isMethod: false };
  }

  // Other names for an operator: torch.ops.aten.sum and torch.sum for torch.ops.aten.sum.dim_IntList.
  #forOperator(name) {
    return Object.entries(this.catalogue.operators)
      .filter(([space]) => name.startsWith(space))
      .flatMap(([space, callers]) => [space, ...callers].map((each) => each + name.slice(space.length).split(".")[0]));
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

// “cumsum” of “x.cumsum”; null where what stands before it is a module, not an object.
function calledOnObject(name, modules) {
  const place = name.indexOf(".");
  const last = name.slice(name.lastIndexOf(".") + 1);
  if (name.startsWith(RECEIVER)) return last;
  return place >= 0 && !modules.has(name.slice(0, place).toLowerCase()) ? last : null;
}

function push(map, key, value) {
  if (!map.has(key)) map.set(key, []);
  if (!map.get(key).includes(value)) map.get(key).push(value);
}

// One query item with the ops that it means here: { text, ops: [{ name, home, arguments, defaults, directions, columns }] }.
export function find(here, names, asked) {
  const { tables } = here;
  const meanings = meaningsOf(here, names, asked.name);
  const entries = meanings.flatMap(([home, { numbers, isMethod }]) => numbers.map((number) => ({ home, number, isMethod })));
  if (!entries.length) throw unknown(here, names, asked);
  const query = withParameters(here, asked, entries);
  checkValues(tables, query, entries);
  const given = stated(tables, query);
  const paths = entries
    .filter(({ home, number }) => !here.absent[home].has(number) && !firstWith(here, home, given))
    .flatMap((entry) => {
      const said = callFacts(here, entry.home, entry.number, query.call, entry.isMethod);
      const targets = reaches(tables, entry.home, entry.number).filter(([op]) => !here.absent[entry.home].has(op));
      return targets.map((target) => ({ ...entry, target, said }));
    });
  if (!paths.length) return lacking(here, query, entries[0], given);
  const ops = new Map();
  for (const path of paths) {
    for (const [part, columns] of Object.entries(tables.catalogues[path.home].parts[tables.catalogues[path.home].names[path.number][0]] ?? {})) {
      if (here.held.some(([name]) => name === part)) {
        ops.set(part, { name: WHOLE, home: part, arguments: {}, defaults: {}, directions: query.directions, columns });
      }
    }
    const [op, fixed, directions, columns] = path.target;
    const all = { ...path.said.given, ...given };
    if (!Object.entries(fixed).every(([name, value]) => (all[name] ?? value) === value)) continue;
    const name = tables.catalogues[path.home].names[op][0];
    const key = JSON.stringify([path.home, name, { ...fixed, ...all }, columns]);
    if (ops.has(key)) continue;
    ops.set(key, {
      name,
      home: path.home,
      arguments: { ...fixed, ...all },
      defaults: defaultsOf(here, path),
      directions: directions.filter((each) => query.directions.includes(each)),
      columns,
      releases: having(here, path.home, [path.number, op]),
    });
  }
  if (!ops.size) {
    const fixed = Object.entries(paths[0].target[1]).map(([name, value]) => `${name}=${value}`);
    throw new Mistake(`“${query.text}” contradicts its own name, which means ${fixed.join(", ")}`);
  }
  return { text: query.text, ops: [...ops.values()] };
}

// The releases in question that have all these names, where some lack one; else null.
function having(here, home, numbers) {
  const [, , releases, how] = here.held.find(([name]) => name === home);
  const { spans } = here.tables.catalogues[home];
  const ranks = here.tables.ranks[home];
  const isWithin = ([from, until], release) => (from === null || ranks[from] <= ranks[release]) && (until === null || ranks[release] < ranks[until]);
  const kept = releases.filter((release) => numbers.every((number) => !spans[number] || isWithin(spans[number], release)));
  return ["newer", "between"].includes(how) || !kept.length || kept.length === releases.length ? null : kept;
}

// What a name means in each package that has it. Of a bare name, a framework's own op comes before a library's.
function meaningsOf(here, names, name) {
  const known = new Set(here.tables.modules);
  const found = here.catalogues.map((home) => [home, names[home].meaning(name, known)]).filter(([, { numbers }]) => numbers.length);
  const own = found.filter(([home]) => here.tables.about[home].framework);
  return own.length && !name.includes(".") ? own : found;
}

// Facts of the program that the named ops decide: who uses torch.compile compiles.
export function decidedFacts(here, names, queries) {
  const found = {};
  for (const [home, { numbers }] of queries.flatMap((query) => meaningsOf(here, names, query.name))) {
    const { facts, names: entries } = here.tables.catalogues[home];
    for (const number of numbers) {
      const [name, , ...reached] = entries[number];
      if (reached.some(([op]) => !here.absent[home].has(op))) Object.assign(found, facts[name] ?? {});
    }
  }
  return found;
}

// The release that a call with these arguments came with, if every release in question is older; else undefined.
function firstWith(here, home, given) {
  const [, , releases] = here.held.find(([name]) => name === home);
  const firsts = Object.keys(given).map((name) => here.tables.facts[name][9][home]);
  return firsts.find((since) => since && releases.every((release) => since[1].includes(release)))?.[0];
}

// The releases that have a name and these arguments, and the one in question.
function lacking(here, query, { home, number }, given) {
  const { spans, names } = here.tables.catalogues[home];
  const ends = [number, ...names[number].slice(2).map(([op]) => op)];
  const first = firstWith(here, home, given);
  const [from, until] = first ? [first, null] : ends.map((each) => spans[each]).find(Boolean) ?? [null, null];
  const limits = [from && `from ${from}`, until && `before ${until}`].filter(Boolean).join(" and ");
  const [, version] = here.held.find(([name]) => name === home);
  return { text: query.text, ops: [], lacks: `exists in ${home} ${limits}, not in ${version ?? "this release"}` };
}

// The defaults of the name that was called, and of what it calls in turn.
function defaultsOf(here, { home, number, target, said }) {
  if (here.tables.catalogues[home].names[number][1] === MESSAGE) return {};
  if (target[0] === number) return said.defaults;
  const inner = Object.entries(callFacts(here, home, target[0], null, false).defaults);
  return { ...Object.fromEntries(inner.filter(([name]) => !said.unread.has(name) && !(name in said.given))), ...said.defaults };
}

function reaches(tables, home, number) {
  return tables.catalogues[home].names[number].slice(2);
}

// What the item itself says of the call, as facts.
// A query whose stated arguments are facts: those that only the API of the call knows (nn.LSTM[dropout=0.5]) are
// arguments of the call.
function withParameters(here, query, entries) {
  const isForeign = ([name]) =>
    !(name in here.tables.facts) && entries.some(({ home, number }) => takes(here, home, number, name));
  const every = Object.entries(query.given);
  const foreign = Object.fromEntries(every.filter(isForeign));
  if (!Object.keys(foreign).length) return query;
  const call = query.call ?? { positional: [], keywords: {} };
  const given = Object.fromEntries(every.filter((each) => !isForeign(each)));
  return { ...query, given, call: { ...call, keywords: { ...call.keywords, ...foreign } } };
}

// Refuse a value that is known to be no value of these ops.
function checkValues(tables, query, entries) {
  const called = Object.entries(query.call?.keywords ?? {}).filter(([, text]) => kind(text) === "str");
  const written = Object.fromEntries(called.map(([name, text]) => [name, value(text)]));
  const opsOf = ({ home, number }) => reaches(tables, home, number).map(([op]) => tables.catalogues[home].names[op][0]);
  const ops = entries.flatMap(opsOf);
  for (const [name, said] of Object.entries({ ...written, ...query.given })) {
    const allowed = Object.entries(tables.facts[name]?.[10] ?? {}).flatMap(([op, values]) => (ops.includes(op) ? values : []));
    if (allowed.length && !allowed.includes(said)) throw new Mistake(`${name} of ${query.name} cannot be “${said}”`, allowed);
  }
}

function stated(tables, query) {
  const found = {};
  for (const [name, value] of Object.entries(query.given)) {
    const [, values, , , , , parameters] = tables.facts[name] ?? [];
    const known = parameters && name in parameters ? { [name]: { values: values ?? [], isInt: values === null, parameters } } : {};
    found[name] = factValue(tables, name, decideFacts(known, { [name]: value })[name] ?? value);
  }
  return found;
}

function unknown(here, names, query) {
  const { tables } = here;
  const spelled = (start) => (start === start.toLowerCase() ? query.name.toLowerCase() : query.name);
  const starts = Object.values(tables.catalogues).flatMap((catalogue) => Object.entries(catalogue.add_ons));
  const fitting = starts.filter(([start]) => spelled(start).startsWith(start));
  const [, brought] = fitting.sort(([one], [other]) => other.length - one.length)[0] ?? [];
  if (brought) return new Mistake(`“${query.name}” is an op of ${tables.about[brought].title}: add that package above`);
  for (const package_ of Object.keys(tables.catalogues)) {
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

// Whether somebody named a package that is there for a few ops next to a framework.
function isAddOn(here, [name, , , , origin]) {
  const { about, stands_for: meant } = here.tables;
  return name in meant && origin === "given" && here.held.some(([each]) => about[each].framework);
}

// The names that stand for each add-on of which no item asks about an op.
export function addOns(here, items) {
  const asked = new Set(items.flatMap((item) => item.ops.map((op) => op.home)));
  return here.held.filter((each) => isAddOn(here, each) && !asked.has(each[0])).map(([name]) => here.tables.stands_for[name]);
}

// Every catalogued op of the environment that has a source, but for those of an add-on, which is asked about as a
// whole, and for those that bring a package along in programs of another kind, such as collectives.
export function everything(here, names) {
  const { catalogues } = here.tables;
  const aside = here.held.filter((each) => isAddOn(here, each)).map(([name]) => name);
  return here.catalogues.filter((home) => !aside.includes(home)).flatMap((home) => {
    const { facts, parts } = catalogues[home];
    const isUsed = (name) => !parts[name] || Object.entries(facts[name] ?? {}).every(([fact, value]) => here.facts[fact] === value);
    const hasSource = ([name, sort, own], number) => isUsed(name) && sort === OP && !here.absent[home].has(number) && own[0] === number && own[3].length;
    return catalogues[home].names.filter(hasSource).map(([name]) => ({ ...find(here, names, parse(name)), isListed: true }));
  });
}
