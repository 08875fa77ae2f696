// The theme's search worker, whose address stands after the #, with one function of lunr mended.
//
// lunr names a node of its index by "label + number", so that label 1 to node 23 reads like label 12 to node 3. In an
// index full of releases it then takes two nodes for one, follows edges that lead to no word, and fails.

importScripts(decodeURI(location.hash.slice(1)));

lunr.TokenSet.prototype.toString = function () {
  const labels = Object.keys(this.edges).sort();
  return this._str || labels.reduce((text, label) => `${text}|${label}:${this.edges[label].id}`, this.final ? "1" : "0");
};
