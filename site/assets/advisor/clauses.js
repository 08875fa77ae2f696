// Clauses over undecided variables. A variable is cut into cells, a combination of cells is a world,
// and a tensor holds an answer for every world. What is known of versions is the rank of a bound.

// `said`: { given, defaults }, the facts that are decided, and those that the call leaves to its API.
export class Clauses {
  constructor(tables) {
    this.tables = tables;
  }

  // Every distinct answer of a tensor, with the clause that leads to it, in the order of the worlds.
  // `fixed` holds variables at one of their cells, whatever is assumed of them.
  byAnswer(tensor, said, assume = true, fixed = {}) {
    const [domains, leaves] = this.#tensor(tensor);
    if (!domains.length) return [[{}, leaves[0]]];
    return grouped(this.#axes(domains, said, assume, fixed), (_, place) => leaves[place]);
  }

  // Where assumptions fall, and what is worse than `base` there: first each alone, then two that make it worse only
  // together, and so on. `outcomeAt(fixed)` is the outcome with some assumptions at another cell; the same as
  // resolver/d9m/resolve/otherwise.py.
  deviations(tensor, said, outcomeAt, base, badness) {
    const [domains] = this.#tensor(tensor);
    const assumed = this.#axes(domains, said, true);
    const opened = this.#axes(domains, said, false).filter((axis, at) => axis.cells.length > 1 && this.#assumes(axis.name, said) && assumed[at].cells.length === 1);
    const held = Object.fromEntries(assumed.map((axis) => [axis.name, axis.cells[0]]));
    const enough = [];
    const answer = (axes) => (box) => {
      const fixed = Object.fromEntries(axes.map((axis, at) => [axis.name, box[at][0]]));
      if (Object.entries(fixed).some(([name, cell]) => held[name] === cell)) return null;
      if (enough.some((smaller) => Object.entries(smaller).every(([name, cell]) => fixed[name] === cell))) return null;
      const outcome = outcomeAt(fixed);
      if (badness(outcome) <= badness(base)) return null;
      enough.push(fixed);
      return outcome;
    };
    const found = [];
    for (let size = 1; size <= opened.length; size++) {
      for (const axes of combinations(opened, size)) {
        found.push(...grouped(axes, answer(axes)).filter(([, outcome]) => outcome !== null));
      }
    }
    return found;
  }

  #assumes(name, said) {
    return name in this.tables.facts && !(name in said.given) && this.#default(name, said) !== null;
  }

  // What is assumed of a fact: what the API of the call says, else what the records do.
  #default(name, said) {
    return said.defaults[name] ?? this.tables.facts[name][2];
  }

  // The answers over all worlds; `fixed` as for byAnswer.
  answers(tensor, said, fixed = {}) {
    const [domains, leaves] = this.#tensor(tensor);
    const axes = this.#axes(domains, said, true, fixed);
    return [...worlds(axes)].map(([, place]) => leaves[place]);
  }

  // What would still have to hold for a condition; none: it does not hold here.
  holding(tensor, said, assume = true) {
    return this.byAnswer(tensor, said, assume).filter(([, holds]) => holds).map(([when]) => when);
  }

  // Those of the tables are known by their places; what several packages answer together was made for them.
  #tensor(tensor) {
    return typeof tensor === "number" ? this.tables.tensors[tensor] : tensor;
  }

  #axes(domains, said, assume, fixed = {}) {
    return domains.map((domain) => {
      const [name, cells] = typeof domain === "number" ? this.tables.domains[domain] : domain;
      const fact = this.tables.facts[name];
      const value = fact && (said.given[name] ?? (assume ? this.#default(name, said) : null));
      const ordered = Array.isArray(cells[0]);
      const all = cells.map((_, place) => place);
      const known = value == null ? all : [all.find((place) => inside(cells[place], value))];
      const chosen = name in fixed ? [fixed[name]] : known;
      return { name, cells: chosen, size: cells.length, ordered, labels: cells };
    });
  }

  #rank(name, bound) {
    return this.tables.facts[name] ? Number(bound) : this.tables.ranks[name][bound];
  }

  // The clause that says both; null if they exclude each other.
  meet(first, second) {
    const both = { ...first, ...second };
    for (const name of Object.keys(both)) {
      if (!(name in first && name in second)) continue;
      const shared = this.#shared(name, first[name], second[name]);
      if (shared === null) return null;
      both[name] = shared;
    }
    return both;
  }

  #shared(name, first, second) {
    if (isRange(first) && isRange(second)) {
      const low = this.#extreme(name, [first.from, second.from], (one, other) => one > other);
      const high = this.#extreme(name, [first.until, second.until], (one, other) => one < other);
      if (low != null && high != null && this.#rank(name, high) <= this.#rank(name, low)) return null;
      return range(low, high);
    }
    const values = listed(first).filter((value) => listed(second).includes(value));
    return values.length > 1 ? values : values[0] ?? null;
  }

  #extreme(name, bounds, before) {
    const known = bounds.filter((bound) => bound != null);
    return known.reduce(
      (best, bound) => (best == null || before(this.#rank(name, bound), this.#rank(name, best)) ? bound : best),
      null
    );
  }

  // Fewer clauses that say the same: none that another one covers, ranges that touch as one range.
  united(clauses) {
    let found = [];
    for (const each of clauses) {
      if (!found.some((known) => this.#covers(known, each))) {
        found = [...found.filter((known) => !this.#covers(each, known)), each];
      }
    }
    for (const first of found) {
      for (const second of found) {
        const whole = first === second ? null : touching(first, second);
        if (whole) return this.united(found.filter((each) => each !== second).map((each) => (each === first ? whole : each)));
      }
    }
    return found;
  }

  #covers(wide, narrow) {
    return Object.keys(wide).every(
      (name) => name in narrow && same(this.#shared(name, narrow[name], wide[name]), narrow[name])
    );
  }
}

export function same(first, second) {
  return JSON.stringify(first) === JSON.stringify(second);
}

export function isEmpty(when) {
  return Object.keys(when).length === 0;
}

function isRange(allowed) {
  return typeof allowed === "object" && !Array.isArray(allowed);
}

function range(low, high) {
  return { ...(low == null ? {} : { from: low }), ...(high == null ? {} : { until: high }) };
}

function listed(allowed) {
  return isRange(allowed) ? [] : Array.isArray(allowed) ? allowed : [allowed];
}

function inside(cell, value) {
  if (!Array.isArray(cell)) return cell === value;
  const [low, high] = cell;
  return (low == null || Number(low) <= Number(value)) && (high == null || Number(value) < Number(high));
}

// Every distinct answer over the worlds of some axes, with the clauses that lead to it, in the order of the worlds.
function grouped(axes, answer) {
  const open = axes.filter((axis) => axis.cells.length > 1);
  const boxes = new Map();
  for (const [box, place] of worlds(axes)) {
    const found = answer(box, place);
    const key = JSON.stringify(found);
    if (!boxes.has(key)) boxes.set(key, [found, []]);
    boxes.get(key)[1].push(box);
  }
  return [...boxes.values()].flatMap(([found, group]) =>
    joined(group, open.map((axis) => axis.ordered)).map((box) => [clause(box, open), found])
  );
}

function combinations(items, size) {
  if (size === 0) return [[]];
  return items.flatMap((item, at) => combinations(items.slice(at + 1), size - 1).map((rest) => [item, ...rest]));
}

// Every combination of cells, as a box of one world and its place in the tensor; the last variable changes fastest.
function* worlds(axes, at = 0, box = [], place = 0) {
  if (at === axes.length) {
    yield [box, place];
    return;
  }
  const axis = axes[at];
  for (const cell of axis.cells) {
    const inner = axis.cells.length > 1 ? [...box, [cell]] : box;
    yield* worlds(axes, at + 1, inner, place * axis.size + cell);
  }
}

const LEAST_BOXES = 2; // that no other order of variables is likely to make fewer

// Fewer boxes for the same worlds: those that differ in one variable only become one, variable by variable, in the
// order of variables that leaves fewer.
function joined(boxes, ordered) {
  const places = [...ordered.keys()];
  const forth = joinedAlong(boxes, ordered, places);
  if (forth.length <= LEAST_BOXES) return forth;
  const back = joinedAlong(boxes, ordered, places.reverse());
  return back.length < forth.length ? back : forth;
}

function joinedAlong(boxes, ordered, places) {
  const known = boxes.length;
  for (const place of places) {
    const lines = new Map();
    for (const box of boxes) {
      const key = JSON.stringify(box.filter((_, at) => at !== place));
      if (!lines.has(key)) lines.set(key, []);
      lines.get(key).push(box);
    }
    const unite = ordered[place] ? runs : whole;
    boxes = [...lines.values()].flatMap((line) =>
      unite(line.map((box) => box[place])).map((cells) => line[0].with(place, cells))
    );
  }
  return boxes.length === known || boxes.length === 1 ? boxes : joinedAlong(boxes, ordered, places);
}

function whole(line) {
  return [[...new Set(line.flat())].sort((one, other) => one - other)];
}

function runs(line) {
  const found = [];
  for (const cells of [...line].sort((one, other) => one[0] - other[0])) {
    const last = found.at(-1);
    if (last && last.at(-1) + 1 === cells[0]) found[found.length - 1] = [...last, ...cells];
    else found.push(cells);
  }
  return found;
}

function clause(box, axes) {
  const found = {};
  box.forEach((cells, at) => {
    const axis = axes[at];
    if (cells.length === axis.cells.length) return;
    const chosen = cells.map((cell) => axis.labels[cell]);
    if (axis.ordered) found[axis.name] = range(chosen[0][0], chosen.at(-1)[1]);
    else found[axis.name] = chosen.length === 1 ? chosen[0] : chosen;
  });
  return found;
}

// The one clause for two that differ only in ranges of which one ends where the other starts.
function touching(first, second) {
  const names = Object.keys({ ...first, ...second });
  const differing = names.filter((name) => !same(first[name] ?? null, second[name] ?? null));
  if (differing.length !== 1) return null;
  const [low, high] = [first[differing[0]], second[differing[0]]];
  if (!(low && high && isRange(low) && isRange(high) && low.until && low.until === high.from)) return null;
  const rest = Object.fromEntries(Object.entries(first).filter(([name]) => name !== differing[0]));
  if (low.from == null && high.until == null) return rest;
  return { ...rest, [differing[0]]: range(low.from ?? null, high.until ?? null) };
}
