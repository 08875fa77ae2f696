// Filters of the status tables and of the lists of records. The tables say everything without it.
(() => {
  const start = () => {
    const form = document.querySelector(".d9m-filter:not(.d9m-upgrade)");
    if (!form || form.dataset.ready) return;
    form.dataset.ready = "yes";
    form.hidden = false;
    const asked = new URLSearchParams(location.search);
    for (const field of form.elements) {
      if (!field.name || !asked.has(field.name)) continue;
      if (field.type === "checkbox") field.checked = true; else field.value = asked.get(field.name);
    }
    form.addEventListener("input", () => show(form, true));
    form.addEventListener("submit", (event) => event.preventDefault());
    show(form, false);
  };

  const show = (form, remember) => {
    const want = Object.fromEntries(new FormData(form));
    let seen = 0, all = 0;
    for (const table of document.querySelectorAll(".md-typeset table")) {
      const lines = [...table.tHead.rows[0].cells].slice(1).map((cell) => cell.textContent);
      const from = want.from ? lines.indexOf(want.from) : lines.length - 1; // the newest comes first
      const to = want.to ? lines.indexOf(want.to) : 0;
      for (const row of table.tBodies[0].rows) {
        const states = cells(row);
        const name = (row.dataset.ways ? row.cells[0] : row).textContent.toLowerCase();
        const fits = name.includes((want.op || "").toLowerCase().trim())
          && (!want.outcome || states.slice(Math.min(from, to), Math.max(from, to) + 1).some((each) => each.outcome === want.outcome))
          && (!want.way || row.dataset.ways.split(" ").includes(want.way))
          && (!want.changed || states[from].text !== states[to].text);
        row.hidden = !fits;
        seen += fits; all += 1;
      }
      (table.closest(".d9m-part") || table).hidden = [...table.tBodies[0].rows].every((row) => row.hidden);
    }
    let heads = []; // a heading goes when no row below it is left
    for (const part of form.parentElement.children) {
      if (/^H[23]$/.test(part.tagName)) {
        heads = [...heads.filter((head) => head.tagName < part.tagName), part];
        part.hidden = true;
      } else if (part.querySelector("tbody tr:not([hidden])")) heads.forEach((head) => { head.hidden = false; });
    }
    form.querySelector("output").textContent = seen === all ? `${all} rows${form.dataset.rows || ""}` : `${seen} of ${all} rows`;
    if (!remember) return;
    const query = new URLSearchParams(Object.entries(want).filter(([, value]) => value));
    history.replaceState(null, "", `${query.size ? `?${query}` : location.pathname}${location.hash}`);
  };

  // What a row says of each line of releases: a cell may stand for several.
  const cells = (row) => [...row.cells].slice(1).flatMap((cell) =>
    Array(cell.colSpan).fill({ outcome: cell.dataset.outcome || "", text: `${cell.dataset.outcome || ""} ${cell.querySelector("a span")?.textContent || ""}` }));

  if (window.document$) window.document$.subscribe(start); else document.addEventListener("DOMContentLoaded", start);
})();
