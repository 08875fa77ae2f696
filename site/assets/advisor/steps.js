// What a person does, in order, as blocks to copy: the same groups as on the command line.

import { commented, importLines, line, live, statement } from "./formats.js";

const TITLES = {
  install: "Install, in the environment that runs the program",
  shell: "Shell, before Python starts",
  python: "Top of the program",
  flags: "Command line",
  config: "Configuration",
  code: "In the code",
  avoid: "Leave out",
};
const GROUP = { unset: "shell", env: "shell", append: "shell" };

// [[title, text]]: what to leave out, then the rest in the order of the work.
export function orderedSteps(tables, advice) {
  const groups = new Map([["avoid", []]]);
  for (const step of advice.steps) {
    const group = GROUP[step.kind] ?? step.kind;
    groups.set(group, [...(groups.get(group) ?? []), step]);
  }
  const filled = [...groups].filter(([, members]) => members.length);
  return filled.map(([group, members]) => [TITLES[group], (group === "python" ? program : plain)(tables, advice, members).join("\n")]);
}

function plain(tables, advice, members) {
  return members.flatMap((step) => noted(step, commented(tables, advice, step, line(step).split("\n"))));
}

function program(tables, advice, members) {
  const first = members.filter((step) => step.before_import);
  const rest = members.filter((step) => !step.before_import);
  return [
    ...first.flatMap((step) => noted(step, commented(tables, advice, step, [...step.imports, ...statement(step)]))),
    ...importLines(tables, rest.filter((step) => live(advice, step))),
    ...rest.flatMap((step) => noted(step, commented(tables, advice, step, [...(live(advice, step) ? [] : step.imports), ...statement(step)]))),
  ];
}

function noted(step, lines) {
  const said = step.kind === "avoid" ? step.why : step.note;
  if (!said) return lines;
  return lines.length === 1 && lines[0].length + said.length < 70 ? [`${lines[0]}  # ${said}`] : [`# ${said}`, ...lines];
}
