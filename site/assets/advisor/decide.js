// Which of several answers most programs get. The same as the first half of resolver/d9m/resolve/decide.py; what to
// add to a question is left to the fields of the form.

import { badness } from "./evaluate.js";

// First the answer that most programs get, then from best to worst.
export function inOrder(here, possible) {
  const ranked = [...possible].sort(([, one], [, other]) => badness(one.outcome) - badness(other.outcome));
  const first = ranked.find(([when]) => isUsual(here, when)) ?? ranked[0];
  return [first, ...ranked.filter((each) => each !== first)];
}

// Whether nothing in a clause is known to be unusual: neither a value of a fact, nor an old release.
function isUsual(here, when) {
  return Object.entries(when).every(([name, allowed]) => {
    const fact = here.tables.facts[name];
    if (!fact) return hasNewest(here, name, allowed);
    return fact[5] === null || allows(allowed, fact[5]);
  });
}

function hasNewest(here, name, allowed) {
  if (typeof allowed !== "object" || Array.isArray(allowed)) return false;
  const known = here.held.find(([held]) => held === name)?.[2] ?? [];
  if (!known.length) return allowed.until === undefined;
  const rank = here.tables.ranks[name];
  const newest = rank[known.at(-1)];
  return (allowed.from === undefined || rank[allowed.from] <= newest) && (allowed.until === undefined || newest < rank[allowed.until]);
}

function allows(allowed, value) {
  if (Array.isArray(allowed)) return allowed.includes(value);
  if (typeof allowed === "string") return allowed === value;
  return (allowed.from === undefined || Number(allowed.from) <= Number(value)) && (allowed.until === undefined || Number(value) < Number(allowed.until));
}
