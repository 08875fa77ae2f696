// The advisor on its page: reads the form and the address, shows the answer.

import { Advisor, Mistake } from "./advisor.js";
import { copier, element } from "./element.js";
import { explain } from "./explain.js";
import { fromAddress, toAddress, toCommand } from "./question.js";
import { Shower } from "./show.js";
import { combobox, suggestions } from "./suggest.js";

const PAUSE = 150; // milliseconds after the last letter before the question counts as asked

class Page {
  constructor(place, tables, advisor) {
    this.place = place;
    this.tables = tables;
    this.advisor = advisor;
    this.shower = new Shower(tables, place.dataset.root);
    this.form = place.querySelector("form");
    this.answer = place.querySelector(".d9m-advice");
    this.status = place.querySelector("[role=status]");
    this.field = Object.fromEntries(["choice", "version", "device", "scope", "ops"].map((name) => [name, this.form.elements[name]]));
    this.#fill();
    this.#listen();
  }

  #fill() {
    const option = (each) => element("option", { value: each.name }, each.title);
    const isImage = (each) => each.option === "--container";
    const groups = [["Packages", this.tables.choices.filter((each) => !isImage(each))], ["Containers", this.tables.choices.filter(isImage)]];
    this.field.choice.replaceChildren(...groups.map(([label, found]) => element("optgroup", { label }, ...found.map(option))));
    this.field.device.append(...this.tables.devices.map((each) => element("option", { value: each }, each)));
    const facts = Object.entries(this.tables.facts).filter(([, fact]) => !fact[3]);
    this.form.querySelector(".d9m-facts").append(...facts.map(([name, fact]) => this.#fact(name, fact)));
    this.#versions();
    for (const button of this.form.querySelectorAll("button")) button.disabled = false;
  }

  #fact(name, [title, values, byDefault]) {
    const id = `d9m-fact-${name}`;
    const field = values
      ? element("select", { id, name: `fact-${name}` }, element("option", { value: "" }, byDefault === null ? "not said" : `${byDefault} (assumed)`),
          ...values.map((each) => element("option", { value: each }, each)))
      : element("input", { id, name: `fact-${name}`, inputmode: "numeric", pattern: "\\d*", placeholder: "not said" });
    return element("div", {}, element("label", { for: id, title }, name.replaceAll("_", " ")), field);
  }

  #versions() {
    const choice = this.tables.choices.find((each) => each.name === this.field.choice.value);
    const shown = (each) => (each === "any" ? "any release" : each);
    this.field.version.replaceChildren(...choice.versions.map((each) => element("option", { value: each }, shown(each))));
  }

  #listen() {
    let waiting = 0;
    const soon = () => {
      clearTimeout(waiting);
      waiting = setTimeout(() => this.#ask(), PAUSE);
    };
    this.form.addEventListener("submit", (event) => (event.preventDefault(), this.#ask()));
    this.form.addEventListener("change", (event) => {
      if (event.target === this.field.choice) this.#versions();
      if (event.target !== this.field.ops) this.#ask();
    });
    this.field.ops.addEventListener("input", soon);
    this.field.ops.addEventListener("paste", (event) => this.#paste(event));
    this.form.querySelector(".d9m-all").addEventListener("click", () => ((this.field.ops.value = ""), this.#ask()));
    combobox(this.field.ops, this.form.querySelector("[role=listbox]"), (item) => this.#suggest(item), () => this.#ask());
    addEventListener("popstate", () => this.read());
  }

  #suggest(item) {
    return suggestions(this.advisor.environment({ ...this.question, facts: {} }), this.advisor.names, item);
  }

  // Lines of a pasted list are items; lines of a pasted error are one text.
  #paste(event) {
    const text = event.clipboardData.getData("text");
    if (!text.includes("\n")) return;
    event.preventDefault();
    const between = explain(this.tables, text).length ? " " : ", ";
    const line = text.trim().split(/\s*\n\s*/).filter(Boolean).join(between);
    const { selectionStart: start, selectionEnd: end } = this.field.ops;
    this.field.ops.setRangeText(line, start, end, "end");
    this.#ask();
  }

  get question() {
    const facts = [...this.form.querySelectorAll(".d9m-facts [name]")].filter((each) => each.value);
    return {
      choice: this.field.choice.value,
      version: this.field.version.value,
      device: this.field.device.value,
      scope: this.field.scope.value,
      facts: Object.fromEntries(facts.map((each) => [each.name.slice("fact-".length), each.value])),
      inference: false,
      ops: this.field.ops.value,
    };
  }

  // Put the question of the address into the form, and answer it.
  read() {
    const asked = fromAddress(this.tables, location.search);
    if (!asked) return;
    try {
      this.field.ops.value = asked.ops;
      if (this.tables.choices.some((each) => each.name === asked.choice)) this.field.choice.value = asked.choice;
      this.#versions();
      const here = this.advisor.environment(asked);
      const scopes = [...this.field.scope.options].map((each) => each.value);
      if (!scopes.includes(asked.scope)) throw new Mistake(`unknown scope “${asked.scope}”`, scopes);
      this.field.version.value = here.version;
      this.field.device.value = asked.device;
      this.field.scope.value = asked.scope;
      for (const each of this.form.querySelectorAll(".d9m-facts [name]")) each.value = here.facts[each.name.slice("fact-".length)] ?? "";
      this.form.querySelector("details").open = Object.keys(here.facts).length > 0;
      this.#ask(false);
    } catch (error) {
      this.#refuse(error);
    }
  }

  #ask(remember = true) {
    const question = this.question;
    if (remember) {
      history.replaceState(null, "", `?${toAddress(this.tables, question)}`);
      this.place.classList.remove("d9m-asked");
    }
    const explained = question.ops.includes(" ") ? explain(this.tables, question.ops) : [];
    if (explained.length) return this.#explain(explained);
    try {
      const advice = this.advisor.ask(question);
      const command = toCommand(this.tables, question);
      const imports = Object.keys(advice.environment.packages).flatMap((name) => this.tables.about[name].imports);
      this.answer.replaceChildren(...this.shower.advice(advice, command, imports), this.#share(command));
      this.status.textContent = `${advice.outcome.replaceAll("-", " ")}: ${advice.steps.length} settings for ${advice.ops.length} ops`;
    } catch (error) {
      this.#refuse(error);
    }
  }

  #refuse(error) {
    if (!(error instanceof Mistake)) throw error;
    if (this.field.ops.getAttribute("aria-expanded") === "true") return; // a name half written is not a mistake yet
    this.answer.replaceChildren(this.shower.mistake(error));
    this.status.textContent = error.message;
  }

  #explain(errors) {
    const ask = (error, ops) => {
      if (error.package && error.package !== this.field.choice.value && !this.advisor.environment(this.question).catalogues.includes(error.package)) {
        this.field.choice.value = error.package;
        this.#versions();
      }
      this.field.ops.value = ops.join(", ");
      this.#ask();
    };
    this.answer.replaceChildren(...errors.map((each) => this.shower.explanation(each, ask)));
    this.status.textContent = `${errors.length} known ${errors.length === 1 ? "text" : "texts"}: ${errors[0].title}`;
  }

  #share(command) {
    return element("p", { class: "d9m-share" }, "The same on the command line: ", element("code", {}, command), " ", copier(command, "Copy command"), " ", copier(() => location.href, "Copy link"));
  }
}

// Let the browser do what waits, a key that was pressed say: each step takes a slow phone a while.
const rest = () => new Promise((done) => setTimeout(done));

const place = document.querySelector(".d9m-advisor");
try {
  const tables = await (await fetch(place.dataset.tables)).json();
  await rest();
  const advisor = new Advisor(tables);
  await rest();
  const page = new Page(place, tables, advisor);
  await rest();
  page.read();
  place.dataset.ready = "true";
} catch (error) {
  place.querySelector(".d9m-advice").replaceChildren(element("p", {}, "The advisor's tables could not be read. Load the page again, or ask on the command line."));
  throw error;
}
