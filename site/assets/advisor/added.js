// The packages that somebody uses with the framework: a line of the form for each, with a list of packages and one of versions.

import { element } from "./element.js";

export class Added {
  // `choices`: what can be added; `changed()` is called after every change.
  constructor(place, button, choices, changed) {
    this.place = place;
    this.choices = [...choices].sort((one, other) => one.title.localeCompare(other.title, "en"));
    this.changed = changed;
    this.button = button;
    this.made = 0;
    button.addEventListener("click", () => this.#ask());
  }

  // [[choice, version]] of the lines that name a package.
  get value() {
    const lines = [...this.place.children].map((line) => [...line.querySelectorAll("select")].map((field) => field.value));
    return lines.filter(([name]) => name);
  }

  set value(named) {
    this.place.replaceChildren(...named.map(([name, version]) => this.#line(name, version)));
  }

  // Images hold their packages.
  set hidden(isHidden) {
    if (isHidden) this.place.replaceChildren();
    this.button.hidden = isHidden;
  }

  // One more line, which names nothing yet.
  #ask() {
    this.place.append(this.#line("", ""));
    this.place.lastElementChild.querySelector("select").focus();
  }

  #line(name, version) {
    const number = ++this.made;
    const ids = [`d9m-added-${number}`, `d9m-added-version-${number}`];
    const package_ = element("select", { id: ids[0] }, element("option", { value: "" }, "choose a package"), ...this.choices.map((each) => element("option", { value: each.name }, each.title)));
    const versions = element("select", { id: ids[1] });
    const label = (id, text) => element("label", { for: id }, text);
    const remove = element("button", { type: "button", class: "d9m-copy" }, "Remove");
    const line = element("div", { class: "d9m-fields" },
      element("div", {}, label(ids[0], "With"), package_), element("div", {}, label(ids[1], "Version"), versions), element("div", {}, remove));
    const fill = () => {
      const offered = this.choices.find((each) => each.name === package_.value)?.versions ?? [];
      versions.replaceChildren(...offered.map((each) => element("option", { value: each }, each === "any" ? "any release" : each)));
      remove.setAttribute("aria-label", package_.value ? `Remove ${package_.selectedOptions[0].text}` : "Remove this line");
    };
    package_.addEventListener("change", fill); // before the form hears of it
    remove.addEventListener("click", () => {
      line.remove();
      this.button.focus();
      this.changed();
    });
    package_.value = name;
    fill();
    if (version) versions.value = version;
    return line;
  }
}
