// What judged sources need, and what the solutions that meet the needs turn.

import { byText, meets } from "./select.js";
import { isEmpty } from "./clauses.js";
import { demands, merge, total, unique } from "./merge.js";

// What has to be solved, where it can be.
export function needs(judged) {
  return judged.flatMap(({ source, possible }) =>
    possible
      .filter(([, verdict]) => verdict.alternatives)
      .map(([when, verdict]) => ({ source: source.id, alternatives: verdict.alternatives, when }))
  );
}

// Label -> what a person knows a solution by: its title, or the statement that these releases have for it.
export function calls(here) {
  return Object.fromEntries(here.tables.solutions.map((solution) => [solution.label, call(here, solution)]));
}

function call(here, solution) {
  const turns = solution.settings.filter((turn) => turn.set && here.tables.settings[turn.set].statement != null);
  const written = (turn) => here.tables.settings[turn.set].statement.replaceAll("{value}", turn.to?.[0] ?? "");
  if (!turns.some((turn) => written(turn) === solution.title)) return solution.title;
  const there = turns.find((turn) => here.holding(turn.when).some(isEmpty));
  return there ? written(there) : solution.title;
}

export class Solutions {
  constructor(tables) {
    this.byLabel = Object.fromEntries(tables.solutions.map((each) => [each.label, each]));
  }

  // Solutions by their labels.
  labelled(labels) {
    return [...new Set(labels)].sort(byText).map((label) => this.byLabel[label]);
  }

  // What chosen solutions turn, with where it is needed.
  turned(here, labels, wanted) {
    return this.labelled(labels).flatMap((solution) => {
      const helped = served(solution.label, labels, wanted);
      const clauses = helped.some((need) => isEmpty(need.when)) ? [] : helped.map((need) => need.when);
      return [...demands(here, solution.label, solution.settings, clauses), ...demands(here, solution.label, solution.sets, clauses, true)];
    });
  }

  answers(here, chosen, wanted) {
    return this.labelled(chosen).map((solution) => ({
      id: solution.id,
      label: solution.label,
      title: solution.title,
      covers: covered(solution.label, chosen, wanted),
      includes: this.#included(here, solution, wanted),
      settings: total(merge(here, demands(here, solution.label, solution.settings)).steps),
      costs: solution.costs.filter(([, , when]) => here.holding(when).length).map(([text, factor]) => ({ text, factor })),
    }));
  }

  // Other solutions whose every setting here this one surely turns by itself.
  #included(here, solution, wanted) {
    const own = new Set(solution.sets.filter((turn) => turn.set && here.holding(turn.when).some(isEmpty)).map((turn) => turn.set));
    if (!own.size) return [];
    const others = unique(wanted.flatMap((need) => need.alternatives.flat())).filter((each) => each !== solution.label);
    const names = (label) => demands(here, label, this.byLabel[label].settings).map((each) => each.turn.set).filter(Boolean);
    return others.sort(byText).filter((label) => names(label).length && names(label).every((each) => own.has(each)));
  }
}

// Needs that a chosen solution helps to meet.
function served(label, labels, wanted) {
  return wanted.filter((need) => meets({ alternatives: need.alternatives.filter((each) => each.includes(label)) }, labels));
}

// Ids of the sources that a chosen solution helps to remove.
export function covered(label, labels, wanted) {
  return unique(served(label, labels, wanted).map((need) => need.source));
}
