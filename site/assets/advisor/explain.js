// Recognise an error or warning text, as `d9m explain` does.

const LEAST_WORDS = 5; // words of a wording that must stand in the text; people cut the rest off

// At each place of the text the most particular match, and each record once; first come first.
export function explain(tables, text) {
  const matches = tables.errors.flatMap((error) => found(tables, error, text));
  const kept = [];
  for (const match of telling(matches).sort((one, other) => other.weight - one.weight || one.start - other.start)) {
    const taken = kept.some((other) => match.start < other.end && other.start < match.end);
    if (!taken && !kept.some((other) => other.error.id === match.error.id)) kept.push(match);
  }
  return kept.filter((match) => !isPart(match, kept)).sort((one, other) => one.start - other.start).map((match) => match.error);
}

// Whether a match is the beginning of a message that another record words in more detail: the same message once more, and cut off.
function isPart(match, others) {
  const plain = (text) => text.split(/\s+/).filter(Boolean).join(" ");
  return others.some((other) => match.weight < other.weight && plain(other.text).startsWith(plain(match.text)));
}

// Every wording of one error that stands in the text.
function found(tables, error, text) {
  const lower = text.toLowerCase();
  return tables.wordings[error.id].flatMap(([wording, , whole]) => {
    const { start, patterns } = reading(wording);
    if (!start.every((part) => lower.includes(part))) return [];
    return [...text.matchAll(whole ? patterns.whole : patterns.cut)].map((match) => ({
      error,
      start: match.index,
      end: match.index + match[0].length,
      text: match[0],
      weight: weight(match),
      whole: match[0].search(patterns.whole) >= 0,
    }));
  });
}

// Without beginnings that several errors share: where the text goes on otherwise or ends, it may be any of them.
function telling(matches) {
  const sharing = new Map();
  const beginning = (match) => [match.start, match.weight, match.text].join(" ");
  for (const match of matches.filter((each) => !each.whole)) {
    sharing.set(beginning(match), (sharing.get(beginning(match)) ?? new Set()).add(match.error.id));
  }
  return matches.filter((match) => match.whole || sharing.get(beginning(match)).size === 1);
}

// Letters that matched to the letter: more is more particular.
function weight(match) {
  const varying = Object.values(match.groups ?? {}).reduce((sum, value) => sum + (value?.length ?? 0), 0);
  return match[0].length - varying;
}

const readings = new Map();

// How a wording is looked for, made once: the fixed parts of its first words, and its patterns.
function reading(wording) {
  if (!readings.has(wording)) {
    const first = wording.toLowerCase().trim().split(/\s+/).slice(0, LEAST_WORDS);
    const start = first.flatMap((each) => each.split(/\{[^{}]*\}|…|\.\.\.|,/)).filter(Boolean);
    readings.set(wording, { start, patterns: { cut: pattern(wording, false), whole: pattern(wording, true) } });
  }
  return readings.get(wording);
}

// Of a wording everything after the first words may be missing unless it is to be whole:
// {name} stands for one word, … for anything; any white space matches any.
function pattern(wording, whole) {
  const words = wording.trim().split(/\s+/).map(word);
  const least = whole ? words.length : LEAST_WORDS;
  const rest = words.slice(least).reduceRight((inner, each) => `(?:\\s*${each}${inner})?`, "");
  const wholeWord = wording.startsWith("{") ? "(?<![^\\s'\"])" : ""; // or each letter of a long one is a beginning
  return new RegExp(wholeWord + words.slice(0, least).join("\\s*") + rest, "gi");
}

function word(text) {
  return text.split(/(\{[^{}]*\}|…|\.\.\.)/).filter(Boolean).map(part).join("");
}

function part(text) {
  if (text === "…" || text === "...") return ".{0,400}?";
  if (/^\{.*\}$/.test(text)) return /^\{[A-Za-z_]\w*\}$/.test(text) ? `(?<${text.slice(1, -1)}>[^\\s'"]+)` : `[^\\s'"]+`;
  return text.split(",").map((each) => each.replace(/[.*+?^${}()|[\]\\\/-]/g, "\\$&")).join(",\\s*");
}
