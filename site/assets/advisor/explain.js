// Recognise an error or warning text, as `d9m explain` does.

const LEAST_WORDS = 5; // words of a wording that must stand in the text; people cut the rest off

export function explain(tables, text) {
  const matches = [];
  for (const error of tables.errors) {
    for (const [wording, , whole] of tables.wordings[error.id]) {
      const match = pattern(wording, whole).exec(text);
      if (match) matches.push({ error, start: match.index, end: match.index + match[0].length, weight: weight(match) });
    }
  }
  const kept = [];
  for (const each of matches.sort((one, other) => other.weight - one.weight)) {
    const taken = kept.some((other) => each.start < other.end && other.start < each.end);
    if (!taken && !kept.some((other) => other.error.id === each.error.id)) kept.push(each);
  }
  return kept.sort((one, other) => one.start - other.start).map((each) => each.error);
}

// Letters that matched to the letter: more is more particular.
function weight(match) {
  const varying = Object.values(match.groups ?? {}).reduce((sum, value) => sum + (value?.length ?? 0), 0);
  return match[0].length - varying;
}

// A wording as a pattern, of which everything after the first words may be missing unless it is to be whole:
// {name} stands for one word, … for anything; any white space matches any.
function pattern(wording, whole) {
  const words = wording.trim().split(/\s+/).map(word);
  const least = whole ? words.length : LEAST_WORDS;
  const rest = words.slice(least).reduceRight((inner, each) => `(?:\\s*${each}${inner})?`, "");
  return new RegExp(words.slice(0, least).join("\\s*") + rest, "i");
}

function word(text) {
  return text.split(/(\{[^{}]*\}|…|\.\.\.)/).filter(Boolean).map(part).join("");
}

function part(text) {
  if (text === "…" || text === "...") return ".{0,400}?";
  if (/^\{.*\}$/.test(text)) return /^\{[A-Za-z_]\w*\}$/.test(text) ? `(?<${text.slice(1, -1)}>[^\\s'"]+)` : `[^\\s'"]+`;
  return text.split(",").map((each) => each.replace(/[.*+?^${}()|[\]\\\/-]/g, "\\$&")).join(",\\s*");
}
