// One environment: the row of the tables that belongs to what was chosen, with the facts that were given.

import { Clauses } from "./clauses.js";
import { Mistake } from "./op_syntax.js";

export class Environment {
  // `question`: choice, version, device, gpu, facts, inference.
  constructor(tables, question) {
    this.tables = tables;
    this.clauses = new Clauses(tables);
    const choice = tables.choices.find((each) => each.name === question.choice);
    if (!choice) throw new Mistake(`unknown framework “${question.choice}”`, tables.choices.map((each) => each.name));
    const gpu = question.gpu ? tables.gpus[question.gpu] : null;
    if (gpu === undefined) throw new Mistake(`unknown GPU “${question.gpu}”`, near(question.gpu, Object.keys(tables.gpus)));
    const device = tables.devices.indexOf(question.device || gpu?.device || "cuda");
    if (device < 0) throw new Mistake(`unknown device “${question.device}”`, tables.devices);
    if (gpu && ![gpu.device, "cpu"].includes(tables.devices[device])) {
      throw new Mistake(`--device ${tables.devices[device]} contradicts --gpu ${question.gpu}, which is a ${gpu.device} device`);
    }
    this.gpu = question.gpu || null;
    this.choice = choice;
    this.device = tables.devices[device];
    this.version = choice.same[question.version] && !choice.versions.includes(question.version) ? choice.same[question.version] : question.version;
    const place = choice.versions.indexOf(this.version);
    if (place < 0) throw new Mistake(`${choice.title} has no “${question.version}” here`, near(question.version, choice.versions));
    const rows = choice.rows[place];
    const [held, absent, cells, conditions] = tables.rows[Array.isArray(rows) ? rows[device] : rows].map((line) => tables.lines[line]);
    const asked = [choice.name, this.version, [this.version], "exactly", "given"];
    this.held = held.length ? held.map((each) => tables.packages[each]) : [asked];
    this.catalogues = this.held.map(([name]) => name).filter((name) => name in tables.catalogues);
    this.absent = Object.fromEntries(this.catalogues.map((name, at) => [name, new Set(tables.absences[absent[at]])]));
    this.cells = cells;
    this.conditions = conditions;
    this.facts = givenFacts(tables, question, gpu);
    this.said = { given: this.facts, defaults: {} };
  }

  get isImage() {
    return this.choice.option === "--container";
  }

  // What would still have to hold for a condition, by its number.
  holding(condition, assume = true, said = this.said) {
    return this.clauses.holding(this.conditions[condition], said, assume);
  }
}

export function factValue(tables, name, value) {
  const fact = tables.facts[name];
  if (!fact) throw new Mistake(`unknown fact “${name}”`, Object.keys(tables.facts));
  const [, values] = fact;
  if (values === null) {
    if (!/^\d{1,9}$/.test(value)) throw new Mistake(`${name} must be a whole number, not “${value}”`);
    return value;
  }
  const spelled = values.find((each) => each.toLowerCase() === value.toLowerCase());
  if (spelled === undefined) throw new Mistake(`${name} cannot be “${value}”`, values);
  return spelled;
}

function givenFacts(tables, asked, gpu) {
  const facts = {};
  for (const [name, value] of Object.entries(asked.facts ?? {})) facts[name] = factValue(tables, name, value);
  if (gpu?.sm) {
    if ((facts.sm ?? gpu.sm) !== gpu.sm) throw new Mistake(`--fact sm=${facts.sm} contradicts --gpu ${asked.gpu}, whose sm is ${gpu.sm}`);
    facts.sm = gpu.sm;
  }
  if (asked.inference) {
    if (facts.training === "true") throw new Mistake("inference contradicts training=true");
    facts.training = "false";
  }
  return facts;
}

// Names that start alike, longest common start first.
export function near(text, names, most = 4) {
  const common = (name) => [...name].findIndex((letter, at) => letter !== text[at]);
  const score = (name) => (common(name) < 0 ? name.length : common(name));
  return [...names].sort((one, other) => score(other) - score(one)).slice(0, most);
}
