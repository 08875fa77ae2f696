// The advisor on its page: reads the form and the address, shows the answer.

import { Added } from "./added.js";
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
    this.field = Object.fromEntries(["choice", "version", "device", "gpu", "scope", "ops"].map((name) => [name, this.form.elements[name]]));
    this.#fill();
    this.#listen();
  }

  #fill() {
    const option = (each) => element("option", { value: each.name }, each.title);
    const packages = this.tables.choices.filter((each) => !isImage(each));
    const groups = [["Packages", packages], ["Containers", this.tables.choices.filter(isImage)]];
    this.field.choice.replaceChildren(...groups.map(([label, found]) => element("optgroup", { label }, ...found.map(option))));
    this.field.device.replaceChildren(...this.tables.devices.map((each) => element("option", { value: each }, each)));
    this.field.gpu.append(...Object.keys(this.tables.gpus).map((each) => element("option", { value: each }, each)));
    const facts = Object.entries(this.tables.facts).filter(([, fact]) => !fact[3]);
    this.form.querySelector(".d9m-facts").append(...facts.map(([name, fact]) => this.#fact(name, fact)));
    this.added = new Added(this.form.querySelector(".d9m-added"), this.form.querySelector(".d9m-add"), packages, () => this.#packages());
    this.#versions();
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
    for (const button of this.form.querySelectorAll(".d9m-quick button")) button.setAttribute("aria-pressed", String(button.dataset.choice === choice.name));
    this.added.hidden = isImage(choice);
    this.#facts();
  }

  // Somebody added a package to the framework, or removed one.
  #packages() {
    this.#facts();
    if (this.field.ops.value || this.answer.childElementCount) this.#ask();
  }

  // Only what matters to a record of the packages here is asked.
  #facts() {
    const here = this.#here();
    if (!here) return;
    const { catalogues, columns, opless } = this.tables;
    const numbers = new Set(here.held.flatMap(([name]) => opless[name] ?? []));
    for (const package_ of here.catalogues) {
      for (const [, , ...reached] of catalogues[package_].names) reached.forEach((each) => each[3].forEach((number) => numbers.add(number)));
    }
    const asked = new Set([...numbers].flatMap((number) => columns[number][4]));
    for (const field of this.form.querySelectorAll(".d9m-facts [name]")) {
      field.parentElement.hidden = !asked.has(field.name.slice("fact-".length)) && !field.value;
    }
  }

  // What the form describes, whatever its facts; null where it contradicts itself.
  #here() {
    try {
      return this.advisor.environment({ ...this.question, facts: {} });
    } catch (error) {
      if (error instanceof Mistake) return null;
      throw error;
    }
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
      if (event.target === this.field.gpu) this.field.device.value = this.tables.gpus[this.field.gpu.value]?.device ?? this.field.device.value;
      if (this.added.place.contains(event.target)) this.#packages();
      else if (event.target !== this.field.ops) this.#ask();
    });
    this.field.ops.addEventListener("input", soon);
    this.field.ops.addEventListener("paste", (event) => this.#paste(event));
    this.form.querySelector(".d9m-quick").addEventListener("click", ({ target }) => this.#switch(target.dataset.choice));
    this.form.querySelector(".d9m-all").addEventListener("click", () => ((this.field.ops.value = ""), this.#ask()));
    combobox(this.field.ops, this.form.querySelector("[role=listbox]"), (item) => this.#suggest(item), () => this.#ask());
    addEventListener("popstate", () => this.read());
  }

  // Another framework, and the same ops.
  #switch(choice) {
    if (!choice) return;
    this.field.choice.value = choice;
    this.#versions();
    if (this.field.ops.value || this.answer.childElementCount) this.#ask();
  }

  #suggest(item) {
    const here = this.#here();
    return here ? suggestions(here, this.advisor.names, item) : [];
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
      added: this.added.value,
      device: this.field.device.value,
      gpu: this.field.gpu.value,
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
      this.added.value = here.added;
      this.#facts();
      const scopes = [...this.field.scope.options].map((each) => each.value);
      if (!scopes.includes(asked.scope)) throw new Mistake(`unknown scope “${asked.scope}”`, scopes);
      this.field.version.value = here.version;
      this.field.device.value = asked.device;
      this.field.gpu.value = asked.gpu;
      this.field.scope.value = asked.scope;
      const facts = Object.fromEntries(Object.entries(here.facts).filter(([name]) => name in asked.facts || name === "training")); // not what the GPU decides
      for (const each of this.form.querySelectorAll(".d9m-facts [name]")) each.value = facts[each.name.slice("fact-".length)] ?? "";
      this.form.querySelector("details").open = Object.keys(facts).length > 0;
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
    const setting = this.#setting(question.ops.trim());
    if (setting) return this.#show([setting], question.ops);
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

  // The page of a setting, where the text is its name, perhaps with a value.
  #setting(text) {
    const wanted = text.replace(/\s*=[^=]*$/, "").toLowerCase();
    const name = Object.keys(this.tables.setting_pages).find((each) => each.toLowerCase() === wanted);
    return name && this.shower.setting(name, this.tables.setting_pages[name]);
  }

  #show(elements, said) {
    this.answer.replaceChildren(...elements);
    this.status.textContent = said;
  }

  #refuse(error) {
    if (!(error instanceof Mistake)) throw error;
    if (this.field.ops.getAttribute("aria-expanded") === "true") return; // a name half written is not a mistake yet
    this.answer.replaceChildren(this.shower.mistake(error, this.field.ops.value));
    this.status.textContent = error.message;
  }

  #explain(errors) {
    const ask = (error, ops) => {
      if (error.package && error.package !== this.field.choice.value && !this.#here()?.catalogues.includes(error.package)) {
        this.field.choice.value = error.package;
        this.#versions();
      }
      this.field.ops.value = ops.join(", ");
      this.#ask();
    };
    this.answer.replaceChildren(...errors.map((each) => this.shower.explanation(each, ask, this.#printed(each))));
    this.status.textContent = `${errors.length} known ${errors.length === 1 ? "text" : "texts"}: ${errors[0].title}`;
  }

  // Whether the release that was chosen prints this text.
  #printed({ id, package: name }) {
    const here = this.#here();
    const release = here?.held.find(([held]) => held === name)?.[1];
    const title = this.tables.choices.find((each) => each.name === name)?.title;
    if (!release || !title) return null;
    if (this.tables.wordings[id].some(([, when]) => here.holding(when, false).length)) return `${title} ${release} prints this.`;
    return `${title} ${release} does not print this: another release is running, or the text comes from another machine.`;
  }

  #share(command) {
    return element("p", { class: "d9m-share" }, "The same on the command line: ", element("code", {}, command), " ", copier(command, "Copy command"), " ", copier(() => location.href, "Copy link"));
  }
}

function isImage(choice) {
  return choice.option === "--container";
}

// Let the browser do what waits, a key that was pressed say: each step takes a slow phone a while.
const rest = () => new Promise((done) => setTimeout(done));

// Fill the form, and answer what the address asks.
export async function start(place, tables) {
  await rest();
  const advisor = new Advisor(tables);
  await rest();
  const page = new Page(place, tables, advisor);
  await rest();
  page.read();
  place.dataset.ready = "true";
}
