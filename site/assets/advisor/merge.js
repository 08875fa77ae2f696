// Merge what several solutions turn into one list of settings without contradictions.

import { isEmpty } from "./clauses.js";

const KINDS = { env: "env", python: "python", flag: "flags", config: "config", install: "install", code: "code" };
const ORDER = ["install", "unset", "env", "append", "python", "flags", "config", "code", "avoid"];

// The turns that are needed here, each with what would still have to hold for it.
export function demands(here, by, turns, when = [], ofItself = false) {
  const found = [];
  for (const turn of turns) {
    const clauses = both(here, when, here.holding(turn.when));
    if (!clauses.length) continue;
    const setting = here.tables.settings[turn.set ?? turn.unset ?? ""];
    found.push({ by, setting, turn, when: clauses.some(isEmpty) ? [] : clauses, ofItself });
  }
  return found;
}

// Where one of `first` and one of `second` hold; none given: everywhere.
function both(here, first, second) {
  const all = (clauses) => (clauses.length ? clauses : [{}]);
  return all(first).flatMap((one) => second.map((other) => here.clauses.meet(one, other)).filter(Boolean));
}

// One step for every setting, in the order of a person's work; contested settings stand aside.
export function merge(here, wanted) {
  const steps = [];
  const conflicts = [];
  for (const name of new Set(wanted.map((each) => each.setting.name))) {
    for (const group of compatible(here, wanted.filter((each) => each.setting.name === name))) {
      const values = common(group);
      if (values === null) conflicts.push(conflict(name, group));
      else if (!group.every((each) => each.ofItself)) steps.push(step(here, group, values));
    }
  }
  const place = (each) => 2 * ORDER.indexOf(each.kind) + (each.before_import ? 0 : 1);
  return { steps: steps.sort((one, other) => place(one) - place(other)), conflicts };
}

// One setting's demands, those separated that no release has together; the items of a list
// variable are separated, too, where their conditions differ.
function compatible(here, group) {
  const isList = group[0].setting.list != null;
  const overlap = (one, other) => both(here, one.when, other.when.length ? other.when : [{}]).length > 0;
  if (group.length === 1 || (!isList && common(group) !== null && !byRelease(group, overlap))) return [group];
  const parts = new Map();
  for (const each of group) {
    const key = JSON.stringify(isList ? each.when : accepted(each));
    parts.set(key, [...(parts.get(key) ?? []), each]);
  }
  const found = [...parts.values()];
  const meet = (first, second) => first.some((one) => second.some((other) => overlap(one, other)));
  const contested = common(group) === null && found.some((first, at) => found.slice(at + 1).some((second) => meet(first, second)));
  return contested ? [group] : found;
}

// Whether each release has a value of its own, any of which may be replaced by another.
function byRelease(group, overlap) {
  if (!group.every((each) => each.turn.any_value && each.when.length)) return false;
  const pairs = group.flatMap((first, at) => group.slice(at + 1).map((second) => [first, second]));
  const unlike = ([first, second]) => JSON.stringify(accepted(first)) !== JSON.stringify(accepted(second));
  return pairs.some(unlike) && !pairs.some(([first, second]) => overlap(first, second));
}

// Values that would do; null where the setting must be absent.
function accepted(demand) {
  return demand.turn.set == null ? null : demand.turn.to ?? [];
}

// Values that everyone accepts, in the first one's order; null if there are none.
function common(group) {
  const all = group.map(accepted);
  if (all.some((each) => (each === null) !== (all[0] === null))) return null;
  if (all[0] === null) return [];
  if (group[0].setting.list != null) return united(unique(all.flat()));
  const bound = group.filter((each) => !each.turn.any_value).map(accepted);
  const strict = bound.length ? bound : [all[0]];
  const values = strict[0].filter((value) => strict.every((each) => !each.length || each.includes(value)));
  return values.length || !strict.some((each) => each.length) ? values : null;
}

// Items of a list variable; null if one of them is wanted with two values.
function united(items) {
  const named = items.filter((item) => item.includes("=")).map((item) => item.split("=")[0]);
  return named.length === new Set(named).size ? items : null;
}

// What each of those who turn a setting would accept.
function conflict(name, group) {
  const parties = {};
  for (const each of group) {
    const values = accepted(each) ?? ["(unset)"];
    const told = each.setting.list == null ? values : [values.join(each.setting.list)];
    parties[each.by] = unique([...(parties[each.by] ?? []), ...told]);
  }
  return { name, parties };
}

function step(here, group, values) {
  const users = group.filter((each) => !each.ofItself);
  const { setting, turn } = users[0];
  const isList = setting.list != null;
  let kind = KINDS[setting.kind];
  if (turn.set == null) kind = setting.kind === "env" ? "unset" : "avoid";
  else if (isList) kind = "append";
  const value = values.length ? (isList ? values.join(setting.list) : values[0]) : null;
  const note = unique(users.flatMap((each) => (each.turn.note ?? "").split("; ")).filter(Boolean)).join("; ");
  const clauses = here.clauses.united(users.flatMap((each) => (each.when.length ? each.when : [{}])));
  return {
    kind,
    name: setting.name,
    value,
    read_at: setting.read,
    when: clauses.some(isEmpty) ? null : clauses,
    why: note || setting.summary,
    solutions: unique(users.map((each) => each.by)),
    accepts: values,
    any_value: users.every((each) => each.turn.any_value ?? false),
    refuses: setting.refuses ?? [],
    imports: setting.imports ?? [],
    before_import: setting.before_import ?? false,
    separator: setting.list ?? null,
    text: text(setting, value),
    where: setting.where ?? null,
    value_type: setting.value_type ?? "string",
    setting_kind: setting.kind,
    note: note || null,
    covered_by: null,
  };
}

// The line to write, where it is not plain from name and value.
function text(setting, value) {
  if (setting.statement != null) return setting.statement.replaceAll("{value}", value ?? "");
  if (setting.kind === "install") return `${setting.name}==${value}`;
  if (setting.kind === "flag") return value === null ? setting.name : `${setting.name} ${value}`;
  return null;
}

// The steps as one object, by kind.
export function total(steps) {
  const found = { env: {}, append: {}, unset: [], python: [], flags: [], config: {}, install: [], code: [], avoid: [] };
  for (const each of steps) {
    if (each.kind === "env") found.env[each.name] = each.value;
    else if (each.kind === "append") found.append[each.name] = [...(found.append[each.name] ?? []), ...each.accepts];
    else if (each.kind === "unset") found.unset.push(each.name);
    else if (each.kind === "config") found.config[each.name] = typed(each);
    else if (each.kind === "code") {
      found.code.push({ where: each.where || each.name, change: each.text || each.value || each.why });
    } else if (each.kind === "avoid") found.avoid.push({ kind: each.setting_kind, name: each.name, why: each.why });
    else {
      const part = found[each.kind];
      part.push(...each.imports.filter((line) => !part.includes(line)), each.text || each.name);
    }
  }
  return found;
}

// The value of a config key in its type.
export function typed(each) {
  const value = each.value ?? "";
  if (each.value_type === "integer") return parseInt(value, 10);
  return each.value_type === "boolean" ? value === "true" : value;
}

export function unique(items) {
  return [...new Set(items)];
}
