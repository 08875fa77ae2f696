// Names that are spelled almost like a text.

const FARTHEST = 0.34; // letters that differ, of the longer of the two

// Up to `most` names, the closest first.
export function closest(text, names, most = 3) {
  const far = (name) => distance(text, name) / Math.max(text.length, name.length);
  return names
    .filter((name) => Math.abs(name.length - text.length) <= FARTHEST * Math.max(text.length, name.length))
    .map((name) => [name, far(name)])
    .filter(([, each]) => each <= FARTHEST)
    .sort((one, other) => one[1] - other[1])
    .slice(0, most)
    .map(([name]) => name);
}

// Letters to insert, to drop or to change, to get from one text to the other.
function distance(one, other) {
  let above = Array.from({ length: other.length + 1 }, (_, at) => at);
  for (let row = 1; row <= one.length; row++) {
    const here = [row];
    for (let at = 1; at <= other.length; at++) {
      const changed = above[at - 1] + (one[row - 1] === other[at - 1] ? 0 : 1);
      here.push(Math.min(changed, above[at] + 1, here[at - 1] + 1));
    }
    above = here;
  }
  return above[other.length];
}
