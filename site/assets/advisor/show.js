// The advice as part of a page.

import { chip, copier, element } from "./element.js";
import { choice, formats, quoted } from "./formats.js";
import * as phrases from "./phrases.js";
import { orderedSteps } from "./steps.js";
import { environment, headline } from "./words.js";

const WORST_LAST = ["no-known-source", "deterministic", "solved", "depends", "unknown", "raises", "unsolved"];
const MOST_OPS = 12;
const MOST_NOTES = 2;

// Three words in a row, which hardly any list of ops has.
function isSentence(text) {
  return /[\p{L}\d'’]+\s+[\p{L}\d'’]+\s+[\p{L}\d]/u.test(text);
}

export class Shower {
  // `root`: address of the site, for links to the pages of records.
  constructor(tables, root) {
    this.tables = tables;
    this.root = root;
    const ids = (kind) => tables[kind].map((each) => [each.id, kind]);
    this.kinds = Object.fromEntries(["ingredients", "solutions", "sources"].flatMap(ids));
    this.labels = Object.fromEntries(tables.solutions.map((each) => [each.label, each.id]));
    this.titles = Object.fromEntries(tables.solutions.map((each) => [each.id, each.title]));
  }

  advice(advice, command, imports) {
    return [
      this.#headline(advice),
      ...this.#conflicts(advice),
      ...this.#outcomes(advice),
      ...this.#steps(advice),
      this.#blocks(advice, command, imports),
      ...this.#reasons(advice),
      ...this.#list("Notes", advice.cautions),
      ...this.#unknowns(advice),
      ...this.#ingredients(advice),
    ];
  }

  // `asked`: the text of the field of ops.
  mistake(error, asked) {
    const near = error.nearest?.length ? ` Close to it: ${error.nearest.slice(0, 8).join(", ")}.` : "";
    return element("div", { class: "admonition question", role: "alert" }, element("p", { class: "admonition-title" }, "No answer"),
      element("p", {}, `${error.message}.${near}`), isSentence(asked) ? this.#elsewhere(asked.trim()) : null);
  }

  // This form finds messages only by their exact words.
  #elsewhere(text) {
    const command = `d9m explain ${quoted(text)}`;
    return element("p", {}, "This form finds a message only by its exact words. ",
      element("a", { href: `${this.root}?q=${encodeURIComponent(text)}&in=symptoms` }, "Search the symptoms"),
      " or ask the command line, which ranks them: ", element("code", {}, command), " ", copier(command, "Copy command"));
  }

  // A setting by its name.
  setting(name, id) {
    return element("div", { class: "admonition info" }, element("p", { class: "admonition-title" }, name),
      element("p", {}, element("a", { href: `${this.root}settings/${id}/` }, "What it does, who needs it, and the line to copy")));
  }

  // A recognised error text; `ask` is called with the ops that it is about.
  explanation(error, ask, printed) {
    const about = error.ops.length
      ? element("p", {}, "Ask about ", ...error.ops.flatMap((op) => [element("button", { type: "button", class: "d9m-copy", onclick: () => ask(error, [op]) }, op), " "]))
      : null;
    return element("div", { class: "admonition warning" },
      element("p", { class: "admonition-title" }, error.title),
      printed ? element("p", {}, element("strong", {}, printed)) : null,
      element("p", {}, error.advice), about,
      element("p", {}, element("a", { href: `${this.root}errors/${error.id}/` }, "Causes, workarounds and evidence")));
  }

  #headline(advice) {
    return element("p", { class: "d9m-answer" }, chip(advice.outcome), " ", element("strong", {}, headline(this.tables, advice)), element("br"), element("small", {}, environment(this.tables, advice)));
  }

  #conflicts(advice) {
    const one = (each, at) => element("li", {}, `${each.choices[at]} (${each.costs[at]})`);
    const box = (each) =>
      element("div", { class: "admonition failure" },
        element("p", { class: "admonition-title" }, `Conflict${each.scope === advice.scope ? "" : ` with scope ${each.scope}`}: ${each.name}`),
        element("p", {}, "Choose one:"),
        element("ul", {}, ...each.choices.map((_, at) => one(each, at))));
    const mode = advice.choices.length ? [element("p", {}, `Choose: ${choice(advice)}.`)] : [];
    return [...mode, ...[...advice.conflicts, ...advice.scope_conflicts].map(box)];
  }

  #blocks(advice, command, imports) {
    const all = formats(this.tables, advice, command, imports);
    const code = element("code", {});
    const panel = element("div", { role: "tabpanel", id: "d9m-block", tabindex: "0", class: "highlight" },
      element("pre", {}, code), copier(() => code.textContent));
    const tabs = all.map(([title, name, text], place) => {
      const show = () => {
        tabs.forEach((tab, at) => {
          tab.setAttribute("aria-selected", String(at === place));
          tab.tabIndex = at === place ? 0 : -1;
        });
        code.textContent = text;
        panel.setAttribute("aria-labelledby", `d9m-format-${name}`);
        this.format = name;
      };
      const move = (event) => {
        const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
        if (!step) return;
        const next = tabs.at((place + step) % tabs.length);
        next.click();
        next.focus();
      };
      return element("button", { type: "button", role: "tab", id: `d9m-format-${name}`, "aria-controls": "d9m-block", onclick: show, onkeydown: move }, title);
    });
    const kept = all.findIndex(([, name]) => name === this.format);
    tabs[Math.max(0, kept)].click();
    return element("section", { "aria-label": "The same as a file" }, element("h2", {}, "The same as a file"),
      element("div", { role: "tablist", "aria-label": "Formats", class: "d9m-tabs" }, ...tabs), panel);
  }

  // In the order in which a person does it.
  #steps(advice) {
    const groups = orderedSteps(this.tables, advice);
    if (!groups.length) return [element("p", {}, "Nothing is left to set.")];
    const block = ([title, text], place) => [
      element("h3", {}, `${place + 1}. ${title}`),
      element("div", { class: "highlight" }, element("pre", { tabindex: "0" }, element("code", {}, text)), copier(text)),
    ];
    return [element("section", { "aria-label": "What to set", class: "d9m-steps" }, element("h2", {}, "What to set"), ...groups.flatMap(block))];
  }

  #outcomes(advice) {
    if (!advice.ops.length) return [];
    const rows = advice.ops.flatMap((op) => (op.query === "*" ? op.sources : [op]));
    const worst = rows.sort((one, other) => WORST_LAST.indexOf(other.outcome) - WORST_LAST.indexOf(one.outcome));
    const shown = worst.slice(0, MOST_OPS);
    const row = (op) =>
      element("tr", {}, element("td", {}, op.query ? element("code", {}, op.query) : element("a", { href: this.#address(op.id) }, op.title)), element("td", {}, chip(op.outcome)),
        element("td", {}, op.default === "unknown" ? "" : chip(op.default)), element("td", {}, ...op.solutions.flatMap((label, at) => [at ? " + " : "", this.#solution(label)])),
        element("td", {}, op.fixed_in === null ? "none yet" : Object.values(op.fixed_in).join(", ")));
    const head = ["Op or cause", "With these settings", "Without", "Settings", "Fixed in"];
    const table = (ops) =>
      element("div", { class: "md-typeset__scrollwrap", tabindex: "0", role: "region", "aria-label": "Outcome of each op" },
        element("div", { class: "md-typeset__table" }, element("table", {}, element("thead", {}, element("tr", {}, ...head.map((each) => element("th", { scope: "col" }, each)))),
          element("tbody", {}, ...ops.map(row)))));
    const rest = worst.slice(MOST_OPS);
    return [
      element("h2", {}, worst.length > 1 ? `${worst.length} outcomes, the worst first` : "Outcome"),
      table(shown),
      ...(rest.length ? [element("details", { class: "d9m-more" }, element("summary", {}, `${rest.length} more`), table(rest))] : []),
    ];
  }

  #reasons(advice) {
    const sources = new Map(advice.ops.flatMap((op) => op.sources).map((each) => [each.id, each]));
    return sources.size ? [element("h2", {}, "Why"), ...[...sources.values()].map((each) => this.#source(each))] : [];
  }

  #source(source) {
    const about = (each) => {
      const when = phrases.condition(this.tables, each.when);
      const by = [...each.solutions, ...(each.raised_by?.split("+") ?? [])].map((label) => this.titles[this.labels[label.trim()]] ?? label);
      return element("li", {}, when ? `${when}: ` : "", chip(each.outcome), by.length ? ` with ${by.join(" + ")}` : "", each.note ? ` (${each.note})` : "");
    };
    const lines = [
      source.possible.length > 1 || source.possible[0].note ? element("ul", {}, ...source.possible.map(about)) : null,
      source.alternatives.length > 1 ? element("p", {}, "Any of: ", source.alternatives.map((each) => each.map((label) => this.titles[this.labels[label]] ?? label).join(" + ")).join("; ")) : null,
      source.raised_by ? element("p", {}, "Error: ", element("q", {}, source.error ?? "an error")) : null,
      source.last_verified ? element("p", {}, `Not verified for this release; in ${source.last_verified.release}: `, chip(source.last_verified.outcome)) : null,
      ...source.workarounds.map((each) => element("p", {}, `Workaround: ${each.text}`)),
      ...source.costs.map((each) => element("p", {}, `Cost: ${each.text}`)),
      element("p", {}, element("a", { href: this.#address(source.id) }, "Evidence, history, settings by version")),
    ];
    return element("details", { class: "note" }, element("summary", {}, chip(source.outcome), ` ${source.title}`), ...lines);
  }

  #list(title, items) {
    if (!items.length) return [];
    const item = (each) => {
      const when = phrases.condition(this.tables, each.when);
      return element("li", {}, when ? `${when[0].toUpperCase()}${when.slice(1)}: ` : "", each.text, " ", element("a", { href: this.#address(each.id), class: "d9m-why", "aria-label": `record ${each.id}` }, "why"));
    };
    const rest = items.slice(MOST_NOTES);
    return [
      element("h2", {}, title),
      element("ul", {}, ...items.slice(0, MOST_NOTES).map(item)),
      ...(rest.length ? [element("details", { class: "d9m-more" }, element("summary", {}, `${rest.length} more notes`), element("ul", {}, ...rest.map(item)))] : []),
    ];
  }

  #unknowns(advice) {
    if (!advice.unknowns.length) return [];
    return [element("h2", {}, "Not verified"), element("ul", {}, ...advice.unknowns.map((each) => element("li", {}, `${each.subject}: ${each.needs}`)))];
  }

  #ingredients(advice) {
    return [element("h2", {}, "Every program also needs"),
      element("ul", {}, ...advice.ingredients.map((each) => element("li", {}, element("a", { href: this.#address(each.id) }, each.title))))];
  }

  #solution(label) {
    const id = this.labels[label];
    return id ? element("a", { href: this.#address(id) }, this.titles[id]) : label;
  }

  #address(id) {
    return `${this.root}${this.kinds[id]}/${id}/`;
  }
}
