// The advice as blocks to copy: the same blocks that the command line writes.

import { typed, unique } from "./merge.js";
import * as phrases from "./phrases.js";
import { byText } from "./select.js";
import * as words from "./words.js";

// Title, name of the language for people who read it, and the block; null where there is nothing to write.
export function formats(tables, advice, command, imports) {
  const has = (...kinds) => advice.steps.some((step) => kinds.includes(step.kind));
  return [
    ["Shell", "env", env(tables, advice, command)],
    ["Python", "python", python(tables, advice, command, imports)],
    ["Dockerfile", "dockerfile", dockerfile(tables, advice, command)],
    ["Slurm", "slurm", slurm(tables, advice, command)],
    ["Markdown", "markdown", markdown(tables, advice, command, imports)],
    ["Megatron", "megatron", has("flags") ? megatron(tables, advice, command) : null],
    ["Clara", "clara", has("config") ? clara(advice) : null],
    ["JSON", "json", `${JSON.stringify({ ...advice, named_ops: undefined, calls: undefined }, null, 2)}\n`],
  ].filter(([, , text]) => text !== null);
}

export function env(tables, advice, command) {
  return block([
    stamp(advice, command),
    ...shell(tables, advice),
    ...remarks(advice),
    ...elsewhere(tables, advice, ["install", "python", "flags", "config", "code", "avoid"]),
  ]);
}

export function dockerfile(tables, advice, command) {
  const lines = advice.steps.map((step) => [step, instruction(step)]).filter(([, line]) => line !== null);
  return block([
    stamp(advice, command),
    ...lines.map(([step, line]) => onlyIf(tables, advice, step, line)),
    ...remarks(advice),
    ...elsewhere(tables, advice, ["python", "flags", "config", "code", "avoid"]),
  ]);
}

export function slurm(tables, advice, command) {
  const flags = advice.steps.filter((step) => step.kind === "flags").map((step) => step.text || step.name);
  return block([
    "#!/bin/bash",
    "#SBATCH --export=ALL",
    stamp(advice, command),
    ...shell(tables, advice),
    ...remarks(advice),
    ...elsewhere(tables, advice, ["install", "python", "config", "code", "avoid"]),
    `srun python train.py ${flags.join(" ")}`.trimEnd(),
  ]);
}

export function megatron(tables, advice, command) {
  const flags = advice.steps.filter((step) => step.kind === "flags" && live(advice, step));
  return block([
    stamp(advice, command),
    ...shell(tables, advice),
    ...remarks(advice),
    ...elsewhere(tables, advice, ["install", "python", "config", "code", "avoid"]),
    `DETERMINISTIC_ARGS=(${flags.map((step) => step.text || step.name).join(" ")})`,
  ]);
}

export function clara(advice) {
  const tree = {};
  for (const step of advice.steps.filter((each) => each.kind === "config")) {
    const parents = step.name.split(".");
    const leaf = parents.pop();
    let branch = tree;
    for (const parent of parents) branch = branch[parent] ??= {};
    branch[leaf] = typed(step);
  }
  return `${JSON.stringify(tree, null, 2)}\n`;
}

export function markdown(tables, advice, command, imports) {
  const titles = Object.fromEntries(advice.solutions.map((solution) => [solution.label, solution.title]));
  const lines = [`**${escaped(words.headline(tables, advice))}** ${escaped(words.environment(tables, advice))}`, ""];
  if (advice.ops.length) {
    lines.push("| op | outcome | with | fixed in |", "|---|---|---|---|");
    for (const op of advice.ops) {
      const solved = op.solutions.map((label) => titles[label] ?? label).join(" + ") || "-";
      lines.push(`| ${code(op.query)} | ${words.doesIn(advice, op)} | ${escaped(solved)} | ${fixedIn(op)} |`);
    }
    lines.push("");
  }
  if (advice.steps.length) {
    lines.push("```sh", env(tables, advice, command).trimEnd(), "```", "");
    if (advice.steps.some((step) => step.kind === "python")) {
      lines.push("```python", python(tables, advice, command, imports).trimEnd(), "```", "");
    }
  }
  return `${[...lines, ...advice.cautions.map((each) => `- ${escaped(each.text)}`)].join("\n").trimEnd()}\n`;
}

// The release to upgrade to; an op that is deterministic here needs none.
function fixedIn(op) {
  if (["no-known-source", "deterministic", "solved", "unknown"].includes(op.outcome)) return "-";
  return op.fixed_in === null ? "none yet" : Object.values(op.fixed_in).join(", ") || "-";
}

// Text as code in a cell: only what ends the code or the cell stands for itself.
function code(text) {
  return text.includes("`") ? escaped(text) : `\`${text}\``.replaceAll("\n", " ").replaceAll("|", "\\|");
}

function escaped(text) {
  return [..."\\`*_{}[]<>|#"]
    .reduce((found, letter) => found.replaceAll(letter, { "<": "&lt;", ">": "&gt;" }[letter] ?? `\\${letter}`), text)
    .replaceAll("\n", " ");
}

// --- a block for the top of a program

export function python(tables, advice, command, imports) {
  const early = advice.steps.filter((step) => ["env", "append", "unset"].includes(step.kind));
  const beforeStart = early.filter((step) => step.read_at === "process-start");
  const settable = early.filter((step) => step.read_at !== "process-start");
  const program = advice.steps.filter((step) => step.kind === "python");
  const first = program.filter((step) => step.before_import);
  const rest = program.filter((step) => !step.before_import);
  const lines = [
    stamp(advice, command),
    ...remarks(advice),
    ...elsewhere(tables, advice, ["install", "flags", "config", "code", "avoid"]),
  ];
  if (early.length || first.length) lines.push("import os", "import sys", "");
  lines.push(...beforeStart.flatMap((step) => commented(tables, advice, step, required(step))));
  if (settable.length || first.length) lines.push(...guard(imports));
  lines.push(...settable.flatMap((step) => commented(tables, advice, step, [assignment(step)])));
  if (settable.length) lines.push("");
  lines.push(...first.flatMap((step) => commented(tables, advice, step, [...step.imports, ...statement(step)])));
  lines.push(...importLines(tables, rest.filter((step) => live(advice, step))));
  for (const step of rest) {
    lines.push(...commented(tables, advice, step, [...(live(advice, step) ? [] : step.imports), ...statement(step)]));
  }
  return `${lines.join("\n").trimEnd()}\n`;
}

// Each once: first those of Python's own modules.
export function importLines(tables, steps) {
  const module = (line) => line.split(" ")[1];
  const place = (line) => `${Number(!tables.own_modules.includes(module(line)))} ${module(line)}`;
  return unique(steps.flatMap((step) => step.imports)).sort((one, other) => byText(place(one), place(other)));
}

function required(step) {
  const name = repr(step.name);
  let wrong = `os.environ.get(${name}) != ${repr(step.value ?? "")}`;
  if (step.any_value) wrong = `os.environ.get(${name}) in (${["", ...step.refuses].map(repr).join(", ")}, None)`;
  let message = `set ${step.name}=${step.value ?? ""} before Python starts: inside the process it is too late`;
  if (step.kind === "unset") [wrong, message] = [`${name} in os.environ`, `unset ${step.name} before Python starts`];
  const refusal = step.any_value ? unlessNotebook(message) : [`    raise RuntimeError(${repr(message)})`];
  return [`if ${wrong}:`, ...refusal];
}

// Raise; in a notebook, whose kernel started long before its first cell, print a warning.
function unlessNotebook(message) {
  return [
    "    if 'ipykernel' not in sys.modules:",
    `        raise RuntimeError(${repr(message)})`,
    `    print(${repr(`warning: ${message}`)}, file=sys.stderr)`,
  ];
}

function guard(imports) {
  if (!imports.length) return [];
  const names = imports.map(repr);
  return [
    `for _name in (${names.join(", ")}${names.length === 1 ? "," : ""}):`,
    "    if _name in sys.modules:",
    '        raise RuntimeError(f"{_name} is already imported: move this block above its import")',
  ];
}

function assignment(step) {
  const place = `os.environ[${repr(step.name)}]`;
  if (step.kind === "unset") return `os.environ.pop(${repr(step.name)}, None)`;
  if (step.kind !== "append") return `${place} = ${repr(step.value)}`;
  return `${place} = ${repr(step.separator ?? "")}.join(filter(None, [os.environ.get(${repr(step.name)}), ${repr(step.value)}]))`;
}

export function statement(step) {
  return (step.text || step.name).split("\n");
}

export function commented(tables, advice, step, lines) {
  if (live(advice, step)) return lines;
  return [`# ${only(tables, step)}:`, ...lines.map((line) => `# ${line}`)];
}

// --- what blocks have in common

function block(lines) {
  return `${lines.join("\n")}\n`;
}

// The comment line that every block carries.
function stamp(advice, command) {
  return `# d9m ${advice.d9m.version}, knowledge base ${advice.d9m.kb_date}: ${command}`;
}

// Where a step is needed, as half a sentence: "only with PyTorch before 2.10".
function only(tables, step) {
  return `only ${phrases.conditions(tables, step.when)}`;
}

// Whether a step can stand in a block as it is; what depends on a release that nobody named could be wrong.
export function live(advice, step) {
  const here = advice.environment;
  const open = new Set(Object.keys(here.packages).filter((name) => here.packages[name] === "any"));
  if (!["env", "append", "unset"].includes(step.kind)) {
    Object.keys(here.packages).filter((name) => !here.assumed.includes(name)).forEach((name) => open.add(name));
  }
  return step.when === null || !step.when.some((when) => Object.keys(when).some((name) => open.has(name)));
}

function onlyIf(tables, advice, step, line) {
  return live(advice, step) ? line : `# ${only(tables, step)}: ${line}`;
}

function shell(tables, advice) {
  return advice.steps.map((step) => [step, shellLine(step)]).filter(([, line]) => line).map(([step, line]) => onlyIf(tables, advice, step, line));
}

function shellLine(step) {
  if (step.kind === "unset") return `unset ${step.name}`;
  if (step.kind === "env") return `export ${step.name}=${quoted(step.value ?? "")}`;
  if (step.kind === "append") return `export ${step.name}="\${${step.name}:+$${step.name}${step.separator}}"${quoted(step.value ?? "")}`;
  return null;
}

function instruction(step) {
  if (step.kind === "install") return `RUN pip install --no-cache-dir ${step.text}`;
  if (step.kind === "env") return `ENV ${step.name}=${JSON.stringify(step.value ?? "")}`;
  if (step.kind === "append") return `ENV ${step.name}="\${${step.name}:+$${step.name}${step.separator}}${step.value}"`;
  if (step.kind === "unset") return `# a Dockerfile cannot unset ${step.name}: no ENV line here or in the base image may set it`;
  return null;
}

// What a person types for a step, in the place that it belongs to.
export function line(step) {
  if (step.kind === "install") return `pip install ${step.text}`;
  if (step.kind === "config") return [step.name, typed(step)].map((each) => JSON.stringify(each)).join(": ");
  if (step.kind === "code") return `${step.where || step.name}: ${step.text || step.value}`;
  return shellLine(step) ?? (step.text || step.name);
}

const PLACES = {
  install: "install",
  python: "in the program",
  flags: "on the command line",
  config: "in the configuration",
  code: "in the code",
  avoid: "leave out",
};

// Comment lines for what a block cannot do itself.
function elsewhere(tables, advice, kinds) {
  return advice.steps
    .filter((step) => kinds.includes(step.kind))
    .flatMap((step) => {
      const where = live(advice, step) ? "" : `, ${only(tables, step)}`;
      const text = step.kind === "install" ? step.text || step.name : line(step);
      const imports = (step.imports ?? []).filter((each) => each.startsWith("from "));
      return [...imports, ...text.split("\n")].map((each) => `# also, ${PLACES[step.kind]}${where}: ${each}`);
    });
}

// What the deterministic mode costs on, and what off: half a sentence each.
export function choice({ choices: [on, off], solutions }) {
  const named = solutions.filter((each) => on.solutions.includes(each.label)).map((each) => each.title);
  return `with ${phrases.join(named)}, ${costs(on)}; without it, ${costs(off)}`;
}

function costs({ raises, nondeterministic }) {
  const parts = [];
  if (raises.length) parts.push(`${counted(raises)} ${raises.length === 1 ? "raises an error" : "raise errors"}`);
  if (nondeterministic.length) parts.push(`${counted(nondeterministic)} ${nondeterministic.length === 1 ? "is" : "are"} nondeterministic`);
  return parts.join(" and ") || "no op is nondeterministic";
}

const MOST_NAMED = 3; // ops that a choice names one by one
const counted = (queries) => (queries.length <= MOST_NAMED ? phrases.join(queries) : `${queries.length} ops`);

// Comment lines: choices and conflicts.
function remarks(advice) {
  const other = (each) => `--scope ${each.scope} needs another ${each.name}`;
  return [
    ...(advice.choices.length ? [`# CHOICE: ${choice(advice)}`] : []),
    ...advice.conflicts.map((each) => `# CONFLICT ${each.name}: ${each.choices.join("; ")}`),
    ...advice.scope_conflicts.map((each) => `# NOT BOTH: ${other(each)}: ${each.choices.join("; ")}`),
  ];
}

// Text for a POSIX shell, in quotes where it needs them.
export function quoted(text) {
  return text && !/[^\w@%+=:,./-]/.test(text) ? text : `'${text.replaceAll("'", `'"'"'`)}'`;
}

// Text as Python writes it.
function repr(text) {
  const mark = text.includes("'") && !text.includes('"') ? '"' : "'";
  const inner = text.replaceAll("\\", "\\\\").replaceAll(mark, `\\${mark}`).replaceAll("\n", "\\n").replaceAll("\t", "\\t");
  return mark + inner + mark;
}
