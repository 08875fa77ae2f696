// The theme's search worker, whose address stands after the #, with one function of lunr mended.
//
// lunr names a node of its index by "label + number", so that label 1 to node 23 reads like label 12 to node 3. In an
// index full of releases it then takes two nodes for one, follows edges that lead to no word, and fails.

importScripts(decodeURI(location.hash.slice(1)));

lunr.TokenSet.prototype.toString = function () {
  const labels = Object.keys(this.edges).sort();
  return this._str || labels.reduce((text, label) => `${text}|${label}:${this.edges[label].id}`, this.final ? "1" : "0");
};

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
  for (const each of found) each.score *= (covered.get(pageOf(each.ref)).size / words.length) ** 3;
  return found;
};
