// The smallest consistent set of solutions that meets every need. A need is a source with alternatives, preferred first.


const MOST_LABELS = 12; // beyond so many free solutions, each need takes its first

export function meets(need, chosen) {
  return need.alternatives.some((labels) => labels.every((label) => chosen.has(label)));
}

export function choose(needs, consistent) {
  const forced = new Set(needs.filter((need) => need.alternatives.length === 1).flatMap((need) => need.alternatives[0]));
  const rest = distinct(needs.filter((need) => !meets(need, forced)));
  const all = candidates(forced, rest);
  const first = all.next().value ?? forced;
  if (consistent(first) || !consistent(forced)) return first; // more solutions never end a contradiction
  for (const candidate of all) if (consistent(candidate)) return candidate;
  return first;
}

function distinct(needs) {
  return [...new Map(needs.map((need) => [JSON.stringify(need.alternatives), need])).values()];
}

function* candidates(forced, rest) {
  const labels = [...new Set(rest.flatMap((need) => need.alternatives.flat()))].filter((each) => !forced.has(each)).sort(byText);
  if (labels.length > MOST_LABELS) {
    yield new Set([...forced, ...rest.flatMap((need) => need.alternatives[0])]);
    return;
  }
  for (let size = 0; size <= labels.length; size++) {
    const fitting = [...combinations(labels, size)]
      .map((extra) => new Set([...forced, ...extra]))
      .filter((chosen) => rest.every((need) => meets(need, chosen)))
      .map((chosen) => [preference(chosen, rest), [...chosen].sort(byText), chosen]);
    fitting.sort((one, other) => one[0] - other[0] || byList(one[1], other[1]));
    for (const [, , chosen] of fitting) yield chosen;
  }
}

function* combinations(items, size, start = 0) {
  if (size === 0) {
    yield [];
    return;
  }
  for (let at = start; at <= items.length - size; at++) {
    for (const others of combinations(items, size - 1, at + 1)) yield [items[at], ...others];
  }
}

// How far down its list each need finds its answer, summed.
function preference(chosen, needs) {
  return needs.reduce(
    (sum, need) => sum + need.alternatives.findIndex((labels) => labels.every((label) => chosen.has(label))),
    0
  );
}

export function byText(one, other) {
  return one < other ? -1 : one > other ? 1 : 0;
}

function byList(one, other) {
  for (let at = 0; at < Math.min(one.length, other.length); at++) {
    if (one[at] !== other[at]) return byText(one[at], other[at]);
  }
  return one.length - other.length;
}

