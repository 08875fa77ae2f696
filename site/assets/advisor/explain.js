// Recognise an error or warning text: the patterns are those of `d9m explain`.

export function explain(tables, text) {
  const matches = [];
  for (const error of tables.errors) {
    for (const pattern of error.patterns) {
      const match = new RegExp(pattern, "i").exec(text);
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
