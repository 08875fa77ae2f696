// What changes between two releases: the rows of the status table that differ, the worst first.
(() => {
  const WORST_LAST = ["", "no-known-source", "deterministic", "solved", "depends", "unknown", "raises", "unsolved"];
  const form = document.querySelector(".d9m-upgrade");
  const place = document.querySelector(".d9m-upgraded");
  const data = JSON.parse(place.dataset.table);

  const element = (tag, attributes, ...children) => {
    const made = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
    made.append(...children);
    return made;
  };
  // Cells stand for several lines each.
  const states = data.rows.map(([name, at, cells]) => [name, at, cells.flatMap(([width, ...state]) => Array(width).fill(state))]);
  const bad = ([outcome]) => WORST_LAST.indexOf(outcome ?? "");
  const said = ([outcome, by, branches]) => (outcome ? branches || data.words[outcome] + (by ? `: ${by}` : "") : "nothing known");
  const short = ([outcome]) => (outcome ? data.words[outcome] : "nothing known");

  const shown = (state) => {
    const [outcome] = state;
    return outcome ? element("span", { class: `d9m-state d9m-${outcome}` }, `${data.symbols[outcome]} ${said(state)}`) : said(state);
  };

  // Of what nothing is known on one of the sides, nobody can say that it got better or worse.
  const isKnown = ([, , before, after]) => before[0] && after[0];
  const worsening = ([, , before, after]) => bad(after) - bad(before);

  const sentence = (from, to, changed) => {
    if (from === to) return "Pick two different releases.";
    if (!changed.length) return `Between ${from} and ${to}, no op that d9m knows answers differently.`;
    const [name, , before, after] = changed[0];
    if (changed.length === 1) return `Between ${from} and ${to}, one op changed: ${name}, before: ${short(before)}, now: ${short(after)}.`;
    const known = changed.filter(isKnown);
    const worse = known.filter((row) => worsening(row) > 0).length;
    const better = known.filter((row) => worsening(row) < 0).length;
    const parts = [[better, "for the better"], [worse, "for the worse"], [known.length - better - worse, "in what solves them"], [changed.length - known.length, "known on one side only"]];
    const counts = parts.filter(([count]) => count).map(([count, how]) => `${count} ${how}`);
    return `Between ${from} and ${to}, ${changed.length} ops changed: ${counts.join(", ")}.`;
  };

  // A long name may break after its dots.
  const broken = (name) => name.split(/(?<=\.)/).flatMap((part) => [part, document.createElement("wbr")]);

  const show = (remember) => {
    const [from, to] = [form.elements.from.value, form.elements.to.value];
    const [one, two] = [from, to].map((line) => data.lines.indexOf(line));
    // A call is named where it changed in another way than its op, and than the call with fewer of its arguments.
    const rows = states.map(([name, at, row]) => [name, at, row[one], row[two]]);
    const argumentsOf = ([name]) => name.match(/(?<=\().*(?=\))/)?.[0].split(",") ?? [];
    const isLike = (row, other) => row[1] === other[1] && said(row[2]) === said(other[2]) && said(row[3]) === said(other[3]);
    const isFewer = (fewer, all) => fewer.length < all.length && fewer.every((each) => all.includes(each));
    const changed = rows
      .filter((row) => !rows.some((other) => isLike(row, other) && isFewer(argumentsOf(other), argumentsOf(row))))
      .filter(([, , before, after]) => said(before) !== said(after))
      .sort((one, other) => Boolean(isKnown(other)) - Boolean(isKnown(one)) || worsening(other) - worsening(one) || bad(other[3]) - bad(one[3]));
    const row = ([name, at, before, after]) =>
      element("tr", {}, element("td", {}, element("a", { href: `${data.ops}#${at}` }, element("code", {}, ...broken(name)))), element("td", {}, shown(before)), element("td", {}, shown(after)));
    const head = element("tr", {}, ...["Op", from, to].map((each) => element("th", { scope: "col" }, each)));
    const table = element("div", { class: "d9m-wide" }, element("table", { class: "d9m-plain" }, element("thead", {}, head), element("tbody", {}, ...changed.map(row))));
    place.replaceChildren(element("p", { class: "d9m-sentence" }, element("strong", {}, sentence(from, to, changed))), ...(changed.length ? [table] : []));
    const command = document.querySelector(".d9m-command code");
    command.textContent = command.textContent.replace(/\S+$/, `${from}..${to}`);
    if (remember) history.replaceState(null, "", `?${new URLSearchParams({ from, to })}`);
  };

  for (const [name, value] of new URLSearchParams(location.search)) {
    if (data.lines.includes(value) && form.elements[name]) form.elements[name].value = value;
  }
  form.hidden = false;
  form.addEventListener("input", () => show(true));
  show(false);
})();
