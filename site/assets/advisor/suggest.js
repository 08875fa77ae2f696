// Completion in the field for ops: names first, then the arguments that matter for the name, then directions.

import { element } from "./element.js";
import { plain } from "./op_syntax.js";

const DIRECTIONS = ["forward", "backward"];
const MOST = 5; // a longer list would cover the button

// What could stand for the item that is being written: [{ text, note }].
export function suggestions(here, names, item) {
  const [, name, rest] = /^([^[(:]*(?:::[^[(:]*)*)(.*)$/s.exec(item);
  if (!name.trim()) return [];
  if (!rest) return like(here, names, name.trim());
  const numbers = here.catalogues.flatMap((each) => names[each].meant(name.trim()).map((number) => [each, number]));
  const columns = new Set(
    numbers.flatMap(([home, number]) => here.tables.catalogues[home].names[number].slice(2).flatMap((each) => each[3]))
  );
  const asked = [...new Set([...columns].flatMap((each) => here.tables.columns[each][4]))];
  const last = rest.split(/[[,(:]/).at(-1).trim().toLowerCase();
  const head = item.slice(0, item.length - rest.split(/[[,(:]/).at(-1).length);
  const close = rest.startsWith("[") ? "]" : "";
  const all = asked.filter((each) => here.tables.facts[each][3]).flatMap((each) => pairs(here.tables.facts, each));
  const known = all.filter(([text]) => text.startsWith(last) && text !== last);
  const ways = rest.startsWith(":") ? DIRECTIONS.filter((each) => each.startsWith(last) && each !== last) : [];
  return [...known, ...ways.map((each) => [each, "one direction only"])]
    .slice(0, MOST)
    .map(([text, note]) => ({ text: `${head}${text}${close}`, note }));
}

function pairs(facts, name) {
  const [title, values] = facts[name];
  return values === null ? [] : values.map((value) => [`${name}=${value}`, title]);
}

function like(here, names, name) {
  const found = here.catalogues.flatMap((each) => names[each].like(name, here.absent[each], MOST).map((one) => [each, one]));
  if (found.length === 1 && plain(found[0][1]) === plain(name)) return [];
  return found.slice(0, MOST).map(([home, text]) => ({ text, note: here.catalogues.length > 1 ? home : "" }));
}

// Make a field and its list a combobox. `find(item)` gives suggestions, `chosen()` is called after a choice.
export function combobox(field, list, find, chosen) {
  let shown = [];
  let active = -1;

  const current = () => {
    const start = startOfItem(field.value, field.selectionStart);
    return [start, field.value.slice(start, field.selectionStart).trimStart()];
  };
  const close = () => {
    list.hidden = true;
    active = -1;
    field.setAttribute("aria-expanded", "false");
    field.removeAttribute("aria-activedescendant");
  };
  const mark = (place) => {
    active = (place + shown.length) % shown.length;
    [...list.children].forEach((option, at) => option.setAttribute("aria-selected", String(at === active)));
    field.setAttribute("aria-activedescendant", list.children[active].id);
    list.children[active].scrollIntoView({ block: "nearest" });
  };
  const take = (place) => {
    const [start] = current();
    const gap = start ? " " : "";
    const after = field.value.slice(field.selectionStart).replace(/^[^,]*/, "");
    field.value = field.value.slice(0, start) + gap + shown[place].text + after;
    const end = start + gap.length + shown[place].text.length;
    field.setSelectionRange(end, end);
    close();
    chosen();
  };
  const open = () => {
    shown = find(current()[1]);
    list.replaceChildren(
      ...shown.map((each, place) =>
        element(
          "li",
          { role: "option", id: `${list.id}-${place}`, "aria-selected": "false", onmousedown: (event) => (event.preventDefault(), take(place)) },
          element("code", {}, each.text),
          each.note ? element("small", {}, each.note) : ""
        )
      )
    );
    if (!shown.length) return close();
    active = -1;
    list.hidden = false;
    field.setAttribute("aria-expanded", "true");
  };

  field.addEventListener("input", open);
  field.addEventListener("blur", close);
  field.addEventListener("keydown", (event) => {
    if (event.key === "ArrowDown" && list.hidden) open();
    if (list.hidden) return;
    if (event.key === "ArrowDown") mark(active + 1);
    else if (event.key === "ArrowUp") mark(active < 0 ? shown.length - 1 : active - 1);
    else if (event.key === "Enter" && active >= 0) take(active);
    else if (event.key === "Escape") close();
    else return;
    event.preventDefault();
  });
}

// Where the item at a place starts: after the last comma outside brackets.
function startOfItem(text, place) {
  let depth = 0;
  let start = 0;
  for (let at = 0; at < place; at++) {
    if ("([{".includes(text[at])) depth++;
    else if (")]}".includes(text[at])) depth--;
    else if (text[at] === "," && depth <= 0) start = at + 1;
  }
  return start;
}
