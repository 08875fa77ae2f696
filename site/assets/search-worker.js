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
// which is longer, all words count alike. What the whole site is about tells pages apart least.
const NAME_WORDS = 3;
const NAME_IN_TITLE = 6;
const SUBJECT_WORDS = 0.5;
const SUBJECT = /^(non)?(determinis|reproduc)[a-z]*$/;
const MOST_OF_A_QUESTION = 6;

// A page that is called by the words asked for, and by no other.
const CALLED_SO = 1.2;

const search = lunr.Index.prototype.search;
const pageOf = (ref) => ref.split("#", 1)[0];

function weightOf(word) {
  if (SUBJECT.test(word)) return SUBJECT_WORDS;
  return word.includes("_") ? NAME_WORDS : 1;
}

// A name that people write as one word and others as two: its parts are searched for, too, where they stand together
// more often than it stands itself.
const SHORTEST_PART = 4;
const SELDOM = 4;

function sections(index, term) {
  return new Set(["title", "text"].flatMap((field) => Object.keys(index.invertedIndex[term]?.[field] ?? {})));
}

function partsOf(index, word) {
  const own = sections(index, word).size;
  for (let end = SHORTEST_PART; end <= word.length - SHORTEST_PART; end += 1) {
    const parts = [word.slice(0, end), word.slice(end)];
    const [first, last] = parts.map((part) => sections(index, part));
    if ([...first].filter((ref) => last.has(ref)).length > own * SELDOM) return parts;
  }
  return [];
}

// Which words each page has, and by which of them it is called: they stand in its titles and in its address.
function pagesWith(found, words) {
  const pages = new Map();
  for (const { ref, matchData } of found) {
    const page = pageOf(ref);
    const address = page.split(/[/-]/);
    if (!pages.has(page)) pages.set(page, { has: new Set(), called: new Set(words.filter((word) => address.includes(word))) });
    const { has, called } = pages.get(page);
    for (const [term, { title }] of Object.entries(matchData.metadata)) {
      for (const word of words.filter((each) => term.startsWith(each))) {
        has.add(word);
        if (title) called.add(word);
      }
    }
  }
  return pages;
}

function isCalledSo(page, words) {
  const name = page.split("/").filter(Boolean).at(-1)?.split("-") ?? [];
  return name.length > 1 && name.every((part) => words.includes(part));
}

// A page that has all words comes before one that has some of them often: the words may stand in different sections.
lunr.Index.prototype.search = function (asked) {
  const [, folder] = asked.match(/in_folder_(\w+)/) ?? [];
  const text = asked.replace(/\S*in_folder_\S*/g, "").trim();
  const words = text.toLowerCase().split(/\s+/).map((word) => word.replace(/^\+|[*^~].*$/g, "")).filter(Boolean);
  const isQuestion = words.length <= MOST_OF_A_QUESTION;
  const split = new Map(words.map((word) => [word, isQuestion ? partsOf(this, word) : []]));
  const parts = [...split.values()].flat();
  const found = search.call(this, [text, ...parts].join(" ")).filter(({ ref }) => !folder || ref.startsWith(`${folder}/`));
  const pages = pagesWith(found, [...words, ...parts]);
  const sum = (some) => some.reduce((total, word) => total + (isQuestion ? weightOf(word) : 1), 0);
  const isIn = (word, some) => some.has(word) || (split.get(word).length > 0 && split.get(word).every((part) => some.has(part)));
  const share = (some) => sum(words.filter((word) => isIn(word, some))) / sum(words);
  const names = isQuestion ? words.filter((word) => word.includes("_")) : [];
  const isTitled = ({ metadata }) => Object.keys(metadata).some((term) => metadata[term].title && names.some((name) => term.startsWith(name)));
  for (const each of found) {
    const page = pageOf(each.ref);
    const { has, called } = pages.get(page);
    each.score *= share(has) ** 3;
    if (words.length > 1 && isTitled(each.matchData)) each.score *= NAME_IN_TITLE;
    if (words.length > 1 && isQuestion) each.score *= (1 + share(called)) * (isCalledSo(page, words) ? CALLED_SO : 1);
  }
  return found;
};
