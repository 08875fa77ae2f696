// One environment: what the tables say of the packages that were chosen, with the facts that were given.

import { Clauses, isEmpty } from "./clauses.js";
import { Mistake } from "./op_syntax.js";
import { Together } from "./together.js";

export class Environment {
  // `question`: choice, version, added ([[choice, version]]), device, gpu, facts, inference.
  constructor(tables, question) {
    this.tables = tables;
    this.clauses = new Clauses(tables);
    const named = [[question.choice, question.version], ...(question.added ?? [])].map(([name, version]) => known(tables, name, version));
    checkTogether(named.map(({ choice }) => choice));
    const gpu = question.gpu ? tables.gpus[question.gpu] : null;
    if (gpu === undefined) throw new Mistake(`unknown GPU “${question.gpu}”`, near(question.gpu, Object.keys(tables.gpus)));
    const device = tables.devices.indexOf(question.device || usualDevice(tables, question));
    if (device < 0) throw new Mistake(`unknown device “${question.device}”`, tables.devices);
    if (gpu && ![gpu.device, "cpu"].includes(tables.devices[device])) {
      throw new Mistake(`--device ${tables.devices[device]} contradicts --gpu ${question.gpu}, which is a ${gpu.device} device`);
    }
    this.gpu = question.gpu || null;
    [{ choice: this.choice, version: this.version }] = named;
    this.added = named.slice(1).map(({ choice, version }) => [choice.name, version]);
    this.device = tables.devices[device];
    // In the order of the command line: each option of its own, then --with.
    const options = [...tables.options, "--with"];
    const place = ({ choice }) => options.indexOf(choice.option);
    const ordered = [...named].sort((one, other) => place(one) - place(other));
    this.together = new Together(tables, ordered.map((each) => alone(tables, each, device)), this.device);
    this.held = this.together.held;
    this.catalogues = this.held.map(([name]) => name).filter((name) => name in tables.catalogues);
    this.absent = Object.fromEntries(this.catalogues.map((name) => [name, this.together.absent(name)]));
    this.facts = givenFacts(tables, question, gpu);
    this.said = { given: this.facts, defaults: {} };
    const warning = tables.solutions.filter(({ warns }) => warns !== null && this.holding(warns).some(isEmpty));
    this.warned = new Set(warning.map(({ label }) => label)); // switches that warn of what they refuse
  }

  get isImage() {
    return isImage(this.choice);
  }

  // What would still have to hold for a condition, by its number.
  holding(condition, assume = true, said = this.said) {
    return this.clauses.holding(this.together.condition(condition), said, assume);
  }
}

// The device that is meant where none is named. ROCm's parts mean AMD's GPUs beside any package, the rest their device
// if all mean it.
export function usualDevice(tables, question) {
  const named = [question.choice, ...(question.added ?? []).map(([name]) => name)];
  const meant = new Set(named.map((name) => tables.about[name]?.device ?? null));
  const usual = meant.has("rocm") ? "rocm" : meant.size === 1 && meant.has("cpu") ? "cpu" : "cuda";
  return tables.gpus[question.gpu]?.device ?? usual;
}

// A choice by its name, and its version as the tables spell it.
function known(tables, name, version) {
  const choice = tables.choices.find((each) => each.name === name);
  if (!choice) throw new Mistake(`unknown framework “${name}”`, tables.choices.map((each) => each.name));
  const place = choice.versions.indexOf(version);
  const spelled = place < 0 ? choice.same[version] : version;
  if (spelled === undefined) throw new Mistake(`${choice.title} has no “${version}” here`, near(version, choice.versions));
  return { choice, version: spelled };
}

function checkTogether(choices) {
  if (choices.length > 1 && choices.some(isImage)) throw new Mistake("a container holds its packages: to ask about one more, use the command line");
  const twice = choices.find((choice, at) => choices.indexOf(choice) !== at);
  if (twice) throw new Mistake(`${twice.title} is named twice`);
}

function isImage(choice) {
  return choice.option === "--container";
}

// What the tables say of a choice alone. Where they name no packages, it holds what was asked for.
function alone(tables, { choice, version }, device) {
  const rows = choice.rows[choice.versions.indexOf(version)];
  const [places, lacks, cells, conditions] = tables.rows[Array.isArray(rows) ? rows[device] : rows].map((line) => numbers(tables.lines[line]));
  const held = places.length ? places.map((each) => tables.packages[each]) : [[choice.name, version, [version], "exactly", "given"]];
  const catalogues = held.map(([name]) => name).filter((name) => name in tables.catalogues);
  const absent = Object.fromEntries(catalogues.map((name, at) => [name, new Set(tables.absences[lacks[at]])]));
  return { held, absent, cells, conditions };
}

function numbers(line) {
  return line ? line.split(",").map(Number) : [];
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
  for (const name of ["sm", "gfx"].filter((each) => gpu?.[each])) {
    if ((facts[name] ?? gpu[name]) !== gpu[name]) throw new Mistake(`--fact ${name}=${facts[name]} contradicts --gpu ${asked.gpu}, whose ${name} is ${gpu[name]}`);
    facts[name] = gpu[name];
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
