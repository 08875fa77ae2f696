// The theme's search worker, whose address stands after the #, with one function of lunr mended.
//
// lunr names a node of its index by "label + number", so that label 1 to node 23 reads like label 12 to node 3. In an
// index full of releases it then takes two nodes for one, follows edges that lead to no word, and fails.

importScripts(decodeURI(location.hash.slice(1)));

lunr.TokenSet.prototype.toString = function () {
  const labels = Object.keys(this.edges).sort();
  return this._str || labels.reduce((text, label) => `${text}|${label}:${this.edges[label].id}`, this.final ? "1" : "0");
};

// Who names an op in a question asks about it: the name counts for several words, and more in a title. Of a message,
// which is longer, all words count alike.
const NAME_WORDS = 3;
const NAME_IN_TITLE = 6;
const MOST_OF_A_QUESTION = 6;

// A page that has all words comes before one that has some of them often: the words may stand in different sections.
const search = lunr.Index.prototype.search;
const pageOf = (ref) => ref.split("#", 1)[0];

lunr.Index.prototype.search = function (text) {
  const words = text.toLowerCase().split(/\s+/).map((word) => word.replace(/^\+|[*^~].*$/g, "")).filter(Boolean);
  const found = search.call(this, text);
  const covered = new Map();
  for (const { ref, matchData } of found) {
    const here = covered.get(pageOf(ref)) ?? covered.set(pageOf(ref), new Set()).get(pageOf(ref));
    const terms = Object.keys(matchData.metadata);
    for (const word of words) if (terms.some((term) => term.startsWith(word))) here.add(word);
  }
  const names = words.length <= MOST_OF_A_QUESTION ? words.filter((word) => word.includes("_")) : [];
  const weight = (some) => some.reduce((sum, word) => sum + (names.includes(word) ? NAME_WORDS : 1), 0);
  const isTitled = ({ metadata }) => Object.keys(metadata).some((term) => metadata[term].title && names.some((name) => term.startsWith(name)));
  for (const each of found) {
    each.score *= (weight([...covered.get(pageOf(each.ref))]) / weight(words)) ** 3;
    if (words.length > 1 && isTitled(each.matchData)) each.score *= NAME_IN_TITLE;
  }
  return found;
};
