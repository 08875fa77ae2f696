// Contradictions: what each way out costs, and those that another scope would bring.

import { choose } from "./select.js";
import { INCLUDED, judgeOpless } from "./evaluate.js";
import { merge, unique } from "./merge.js";
import { title } from "./phrases.js";
import { covered, needs } from "./solutions.js";

// Where what other scopes ask of the packages contradicts the answer.
export function across(here, solutions, scope, own) {
  const chosen = here.held.filter(([, , , , origin]) => origin === "given").map(([name]) => name);
  return Object.keys(INCLUDED).filter((each) => !INCLUDED[scope].includes(each)).flatMap((other) => {
    const wanted = needs(judgeOpless(here, other).filter((each) => each.source.scope === other && chosen.includes(each.home)));
    return wanted.length ? withScope(here, solutions, other, wanted, own) : [];
  });
}

function withScope(here, solutions, scope, wanted, own) {
  const turned = (labels) => solutions.turned(here, labels, wanted);
  const together = (labels) => merge(here, [...own.demands, ...turned(labels)]).conflicts;
  const labels = choose(wanted, (chosen) => !together(chosen).length);
  const known = [...merge(here, own.demands).conflicts, ...merge(here, turned(labels)).conflicts].map((each) => each.name);
  const both = { labels: new Set([...own.labels, ...labels]), wanted: [...own.wanted, ...wanted] };
  return together(labels).filter((each) => !known.includes(each.name)).map((each) => priced(here, solutions, each, both, scope));
}

// The choices that a conflict leaves, each with its cost; one of them may be to run two separate programs.
export function priced(here, solutions, conflict, chosen, scope) {
  const between = Object.keys(conflict.parties);
  const found = sides(conflict);
  const choices = found.map(([side, values]) => `for ${listed(here.tables, side)}: ${values.join(" or ")}`);
  const costs = found.map(([side]) => cost(here, solutions, side, between, chosen));
  const homes = unique(between.map((by) => solutions.byLabel[by]?.home).filter(Boolean));
  if (homes.length > 1 && homes.some((home) => here.tables.about[home]?.application)) {
    choices.push(`separate environments for ${homes.map((home) => title(here.tables, home)).join(" and ")}`);
    costs.push("loses nothing; start each program with its own settings");
  }
  return { name: conflict.name, between, choices, costs, scope };
}

// What a person knows a side of a conflict by: the title of a solution or an ingredient, a call as it is written.
export function party(tables, by) {
  const found = tables.solutions.find((each) => each.label === by) ?? tables.ingredients.find((each) => each.id === by);
  return found?.title ?? by;
}

function listed(tables, side) {
  return side.map((by) => party(tables, by)).join(" and ");
}

// Parties that one value suits, as many as possible together, with all such values.
function sides(conflict) {
  const parties = Object.entries(conflict.parties);
  const values = unique(parties.flatMap(([, accepted]) => accepted));
  const suits = values.map((value) => parties.filter(([, accepted]) => accepted.includes(value)).map(([by]) => by));
  const within = (one, other) => one.length < other.length && one.every((by) => other.includes(by));
  const found = new Map();
  values.forEach((value, at) => {
    if (suits.some((other) => within(suits[at], other))) return;
    const key = JSON.stringify(suits[at]);
    found.set(key, [suits[at], [...(found.get(key)?.[1] ?? []), value]]);
  });
  return [...found.values()];
}

// What it costs to do as some parties want: the sources that the others cover, and the price of theirs.
function cost(here, solutions, side, between, chosen) {
  const others = between.filter((by) => !side.includes(by));
  const lost = unique(others.flatMap((by) => covered(by, chosen.labels, chosen.wanted)));
  const titles = lost.map((id) => `"${here.tables.sources.find((source) => source.id === id).title}"`);
  const prices = side
    .flatMap((by) => solutions.byLabel[by]?.costs ?? [])
    .filter(([, , when]) => here.holding(when).length)
    .map(([text]) => text.replace(/\.+$/, ""));
  const givenUp = `loses ${listed(here.tables, others)}` + (titles.length ? `, which fixes ${titles.join(" and ")}` : "");
  return prices.length ? `${givenUp}. Cost: ${prices.join("; ")}` : givenUp;
}
