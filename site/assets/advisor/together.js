// The packages of one environment: what each brings along, and what sources and conditions answer where one of them
// names several. The same as resolver/d9m/environment/packages.py; site/advisor/several.py made the open tensors.

import { same } from "./clauses.js";

export class Together {
  // `rows`: what the tables say of each package alone, the one that was named first at the front.
  constructor(tables, rows, device) {
    this.tables = tables;
    this.device = tables.devices.indexOf(device);
    this.held = united(rows.flatMap((row) => row.held));
    this.has = byName(this.held);
    this.rows = rows.map((row) => ({ ...row, other: this.#other(byName(row.held)) }));
  }

  // Names of the packages whose release here is not the one that a row gives, and of those that only one of them holds.
  #other(alone) {
    const names = [...alone.keys(), ...this.has.keys()];
    return new Set(names.filter((name) => !same(alone.get(name) ?? null, this.has.get(name) ?? null)));
  }

  #row(names) {
    return this.rows.find((row) => !names.some((name) => row.other.has(name)));
  }

  // The tensors of a column; none where its package is not here. Of the home package only some releases may be meant.
  cell(column, releases = null) {
    const cell = this.#cell(column);
    if (!cell || !releases) return cell;
    const [, home] = this.tables.columns[column];
    const numbered = (labels) => labels.map((label, place) => [place, label]);
    const kept = (name, labels) => (name === home ? holding(this.tables.ranks[name], numbered(labels), releases) : numbered(labels));
    return cell.map((tensor, at) => (at < cell.length / 2 ? this.#restricted(tensor, kept) : tensor));
  }

  #cell(column) {
    const [, home] = this.tables.columns[column];
    const { columns, cells } = this.tables.together;
    const row = this.#row([home, ...columns[column]]);
    if (row || !this.has.has(home)) return row && this.tables.cells[row.cells[column]];
    const open = cells[column][this.device];
    const here = (name, labels) => this.#here(name, labels, name === home);
    const named = (name, labels) => (this.has.has(name) && this.has.get(name)[4] !== "given" ? absence(labels) : here(name, labels));
    // What a wheel ships counts for a verdict, and not for the release with a fix.
    return open.map((tensor, at) => this.#restricted(tensor, at < open.length / 2 ? here : named));
  }

  // The tensor of a condition.
  condition(number) {
    const { conditions, tensors } = this.tables.together;
    const row = this.#row(conditions[number]);
    if (row) return row.conditions[number];
    return this.#restricted(tensors[number][this.device], (name, labels) => this.#here(name, labels, false));
  }

  // Numbers of the names that the releases of a package lack.
  absent(name) {
    return this.#row([name]).absent[name];
  }

  // The cells that a package can be in, each with its place. Of every package but the home package the last one is
  // that it is not here.
  #here(name, labels, isHome) {
    const every = labels.map((label, place) => [place, label]).slice(0, isHome ? undefined : -1);
    const releases = this.has.get(name)?.[2];
    if (releases?.length) return holding(this.tables.ranks[name], every, releases);
    return releases || this.tables.about[name].platform ? every : absence(labels);
  }

  // A tensor of which only the cells are left that its packages can be in here.
  #restricted(number, here) {
    const [domains, leaves] = typeof number === "number" ? this.tables.tensors[number] : number;
    const axes = domains.map((domain) => {
      const [name, labels] = typeof domain === "number" ? this.tables.domains[domain] : domain;
      const left = name in this.tables.facts ? labels.map((label, place) => [place, label]) : here(name, labels);
      return { name, left, size: labels.length };
    });
    const places = axes.reduce((found, { left, size }) => found.flatMap((at) => left.map(([place]) => at * size + place)), [0]);
    const answers = places.map((place) => leaves[place]);
    if (answers.every((answer) => same(answer, answers[0]))) return [[], [answers[0]]];
    return [axes.filter(({ left }) => left.length > 1).map(({ name, left }) => [name, left.map(([, label]) => label)]), answers];
  }
}

function absence(labels) {
  return [[labels.length - 1, labels.at(-1)]];
}

// The intervals that hold one of the releases; the first begins nowhere, and the last does not end.
function holding(ranks, every, releases) {
  const isWithin = ([low, high], release) => (low === null || ranks[low] <= ranks[release]) && (high === null || ranks[release] < ranks[high]);
  const found = every.filter(([, label]) => releases.some((release) => isWithin(label, release)));
  return found.map(([place, [low, high]], at) => [place, [at === 0 ? null : low, at === found.length - 1 ? null : high]]);
}

// Every package once: first those that were named, then what builds bring in no version, then what wheels ship.
function united(every) {
  const isShipped = ([, , , , origin]) => origin === "wheel";
  const named = every.filter((each) => !isShipped(each));
  const brought = every.filter(isShipped);
  const found = new Map();
  for (const each of [...named, ...brought.filter(([, version]) => version === null), ...brought.filter(([, version]) => version !== null)]) {
    if (!found.has(each[0])) found.set(each[0], each);
  }
  return [...found.values()];
}

function byName(held) {
  return new Map(held.map((each) => [each[0], each]));
}
