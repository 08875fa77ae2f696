// A question in, the advice out; knows nothing of the page.

import { Environment } from "./environment.js";
import { addOns, decidedFacts, everything, find, Names } from "./op_lookup.js";
import { Mistake, parse, split } from "./op_syntax.js";
import { resolve } from "./resolver.js";
import { calls } from "./solutions.js";

export class Advisor {
  constructor(tables) {
    this.tables = tables;
    this.names = Object.fromEntries(Object.entries(tables.catalogues).map(([name, each]) => [name, new Names(each)]));
  }

  // The environment of a question: { choice, version, added, device, gpu, scope, facts, inference }. Throws a Mistake.
  environment(question) {
    return new Environment(this.tables, question);
  }

  // The advice for a question with `ops`, a text of items; without, for every op that meets a source there.
  ask(question) {
    const queries = items(question.ops).map(parse);
    const said = this.environment(question);
    // What somebody said comes first, and wins.
    const facts = { ...said.facts, ...decidedFacts(said, this.names, queries), ...said.facts };
    const here = this.environment({ ...question, facts });
    const asked = queries.length ? queries.map((query) => find(here, this.names, query)) : everything(here, this.names);
    const unasked = addOns(here, asked).map((names) => names.map((name) => find(here, this.names, parse(name))));
    return { ...resolve(here, asked, question.scope, unasked), named_ops: queries.length > 0, calls: calls(here) };
  }
}

// The items of a text: commas and line ends part them.
export function items(text) {
  const found = (text ?? "").split("\n").flatMap((line) => split(line));
  return [...new Set(found)];
}

export { Mistake };
