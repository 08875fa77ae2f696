// The advisor's scripts and tables are the larger part of the page: they come when somebody asks, or reaches for the form.

const place = document.querySelector(".d9m-advisor");
const form = place.querySelector("form");
let started = null;

function begin() {
  started ??= load().catch((error) => {
    place.querySelector(".d9m-advice").textContent = "The advisor's tables could not be read. Load the page again, or ask on the command line.";
    throw error;
  });
  return started;
}

async function load() {
  const [{ start }, tables] = await Promise.all([import("./page.js"), fetch(place.dataset.tables).then((found) => found.json())]);
  return start(place, tables);
}

// What is clicked before they are there is clicked again when they are.
for (const button of form.querySelectorAll("button")) button.disabled = false;
form.addEventListener("submit", (event) => {
  event.preventDefault();
  if (!place.dataset.ready) begin().then(() => form.requestSubmit());
});
form.addEventListener("click", ({ target }) => {
  const button = target.closest("button[type=button]");
  if (button && !place.dataset.ready) begin().then(() => button.click());
});

if (location.search) begin();
else for (const event of ["pointerover", "focusin", "touchstart"]) place.addEventListener(event, begin, { once: true, passive: true });
