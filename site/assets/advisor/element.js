// HTML elements; text is always text, never markup.

import { does } from "./words.js";

export function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else if (value === true) made.setAttribute(name, "");
    else if (value !== false && value != null) made.setAttribute(name, value);
  }
  made.append(...children.flat().filter((child) => child !== null && child !== false));
  return made;
}

const SYMBOLS = {
  "no-known-source": "–",
  deterministic: "✓",
  solved: "✓",
  depends: "◐",
  unknown: "?",
  raises: "!",
  unsolved: "✗",
  nondeterministic: "✗",
};

// An outcome as a small label: a symbol, words and a colour.
export function chip(outcome) {
  return element("span", { class: `md-tag d9m-${outcome}` }, `${SYMBOLS[outcome]} ${does(outcome)}${outcome === "solved" ? " with settings" : ""}`);
}

// A button that copies a text, and says so.
export function copier(text, label = "Copy") {
  const button = element("button", { type: "button", class: "d9m-copy" }, label);
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(typeof text === "function" ? text() : text);
    button.textContent = "Copied";
    setTimeout(() => (button.textContent = label), 1500);
  });
  return button;
}
