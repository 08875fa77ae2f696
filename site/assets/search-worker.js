// The theme's search worker, whose address follows the #, with one function of lunr mended and a ranking by pages.

// Before the theme's own, which takes the message as this leaves it.
addEventListener("message", ({ data }) => {
  if (data.type === SETUP) remember(data.data.docs);
  if (data.type !== ASKED || /^\s*"[^"]*"\s*$/.test(data.data)) return; // asked for to the letter
  const asked = telling(data.data).map((word) => (NUMBER.test(word) ? [word] : split(word).map(stem)));
  const last = new Set(asked.map((parts) => parts.at(-1)));
  const words = [...new Set(asked.flat())];
  question = { words, qualifiers: new Set(words.filter((word) => !last.has(word))), folder: data.folder };
  data.data = words.flatMap(terms).join(" ");
});

importScripts(decodeURI(location.hash.slice(1)));

// lunr names a node of its index by "label + number", so that label 1 to node 23 reads like label 12 to node 3. In an
// index full of releases it then takes two nodes for one, follows edges that lead to no word, and fails.
lunr.TokenSet.prototype.toString = function () {
  const labels = Object.keys(this.edges).sort();
  return this._str || labels.reduce((text, label) => `${text}|${label}:${this.edges[label].id}`, this.final ? "1" : "0");
};

const SETUP = 0, ASKED = 2, FOUND = 3; // the theme's messages
const COMMON = new Set(("a all an and any are as at be because between but by can does for from had has have if in is it its just "
  + "may must no not of on only or set so such than that the their then there these this to was when which will with would you "
  + "your been could do each every get give gives how i me my should use we were what where who why").split(" "));
const NAME = /[_\d]|[a-z][A-Z]|^[A-Z]{2}|\w\.\w/;
const NUMBER = /^\d+(\.\d+)*$/;
const PATCH = /^(\d+\.\d+)\.\d+$/; // pages are about lines of releases
const MOST_PLAIN = 8; // what is particular to a message is its names and its first words
// What the site is about, one word to those who ask.
const SUBJECT = /^(non-?)?(determinis(m|tic)|reproducib(le|ility)|repeatab(le|ility))$/;
const SUBJECTS = ["determinis", "nondeterminis", "reproducib"];
const ALIKE = ["pytorch torch", "tensorflow tf", "huggingface transformers", "attention attn", "upgrade update migrate",
  "backward gradient"].map((words) => words.split(" "));

const names = new Map(); // of pages: place -> what people call it
const named = new Map(); // the same in words
const sentences = new Map(); // of pages: place -> what the page says first
let sections = 0;
let question = { words: [], qualifiers: new Set(), folder: null };

const pageOf = (ref) => ref.split("#", 1)[0];
const plain = (markup) => markup.replace(/<[^>]*>/g, " ").replace(/&[lg]t;|&amp;/g, " ").replace(/\s+/g, " ").trim();
const split = (text) => text.split(lunr.tokenizer.separator).filter((word) => /\w/.test(word ?? ""));

function stem(word) {
  const lower = word.toLowerCase();
  if (/[_\d]/.test(word) || SUBJECT.test(lower) || ALIKE.some((all) => all.includes(lower))) return lower;
  const short = lunr.stemmer(new lunr.Token(lower)).toString();
  return lower.startsWith(short) ? short : short.slice(0, -1);
}

// The words of a question that tell something.
function telling(text) {
  const words = text
    .replace(/https?:\S+/g, " ")
    .replace(/(?<=\w)'\w{1,2}\b/g, "") // that's
    .replace(/[^\w.\s-]+|(?<!\w)-+|\.(?!\w)/g, " ")
    .split(/\s+/)
    .filter(Boolean);
  const kept = words.filter((word) => !COMMON.has(word.toLowerCase()) && /..|\d/.test(word));
  if (words.length < 3 || !kept.length) return words;
  const ordinary = kept.filter((word) => !NAME.test(word)).slice(0, MOST_PLAIN);
  return kept.filter((word) => NAME.test(word) || ordinary.includes(word));
}

// The terms that a word is looked up by. A release has no wildcard: 2.1 is not 2.10. A page on its line is as good.
function terms(word) {
  if (NUMBER.test(word)) return PATCH.test(word) ? [`${word}^2`, `${word.replace(PATCH, "$1")}^1`] : [`${word}^1`];
  return SUBJECT.test(word) ? SUBJECTS : ALIKE.find((all) => all.includes(word)) ?? [word];
}

// Whether a term of the index is a form of a word of the question.
function form(word) {
  if (NUMBER.test(word)) return (term) => term === word || term === word.replace(PATCH, "$1");
  if (SUBJECT.test(word)) return (term) => SUBJECT.test(term);
  const alike = ALIKE.find((all) => all.includes(word)) ?? [];
  return (term) => term.startsWith(word) || alike.includes(term);
}

function remember(docs) {
  sections = docs.length;
  for (const { location, title, text, tags = [] } of docs) {
    const page = pageOf(location);
    const also = (more) => names.get(page).push(...more);
    if (page === location) {
      names.set(page, [title, page.split("/").at(-2)?.replaceAll("-", " ") ?? "", ...tags]);
      sentences.set(page, plain(text));
    } else if (location.endsWith("#how-people-say-it")) {
      also(text.split("<li>"));
    } else if (location.endsWith("#without-a-known-source")) {
      also([...text.matchAll(/<code>(.*?)<\/code>/g)].map(([, op]) => op));
    }
  }
}

// The words of the names of a page, each with its parts.
function namesOf(page) {
  const parts = (word) => word.replace(/([a-z])([A-Z])/g, "$1_$2").toLowerCase().split("_").filter(Boolean);
  if (!named.has(page)) {
    const words = names.get(page).map((name) => split(plain(name)).filter((word) => !COMMON.has(word.toLowerCase())));
    named.set(page, words.map((name) => name.map((word) => ({ whole: word.toLowerCase(), parts: parts(word) }))));
  }
  return named.get(page);
}

// A name that people write as one word and others as two: its parts are searched for, too, where they stand together
// more often than it does.
const SHORTEST_PART = 4;
const SELDOM = 4;
const MOST_OF_A_QUESTION = 6;

function holding(index, term) {
  return new Set(["title", "text", "tags"].flatMap((field) => Object.keys(index.invertedIndex[term]?.[field] ?? {})));
}

function partsOf(index, word) {
  const own = holding(index, word).size;
  for (let end = SHORTEST_PART; end <= word.length - SHORTEST_PART; end += 1) {
    const parts = [word.slice(0, end), word.slice(end)];
    const [first, last] = parts.map((part) => holding(index, part));
    if ([...first].filter((ref) => last.has(ref)).length > own * SELDOM) return parts;
  }
  return [];
}

// How much a word tells: one that few sections have tells most, and of a dotted name its last part.
const QUALIFIER = 0.3;
const counts = new Map();

function weightOf(index, word) {
  if (!counts.has(word)) {
    const every = Object.keys(index.invertedIndex).filter(form(word));
    counts.set(word, every.reduce((total, each) => total + holding(index, each).size, 1));
  }
  return Math.log(1 + sections / counts.get(word)) * (question.qualifiers.has(word) ? QUALIFIER : 1);
}

// How much of the question a name is, and how much of the name is asked for.
function calledBy(name, address, words, sum) {
  const asked = words.filter(({ is }) => address.some(is) || name.some(({ whole, parts }) => is(whole) || parts.some(is)));
  const is = (term) => words.some((word) => word.is(term));
  const fitting = name.map(({ whole, parts }) => (is(whole) ? 1 : parts.filter(is).length / parts.length));
  return (sum(asked) * fitting.reduce((total, each) => total + each, 0)) / name.length || 0;
}

const NAMED = 8;
const EXACT = 2;
const DAMPED = 0.5;
const search = lunr.Index.prototype.search;

// A page that has all words comes before one that has some of them often, and a page that is called so before both.
lunr.Index.prototype.search = function (asked) {
  const { folder } = question;
  const isShort = question.words.length <= MOST_OF_A_QUESTION;
  const words = question.words.map((word) => ({ is: form(word), weight: weightOf(this, word), parts: isShort ? partsOf(this, word) : [] }));
  const all = words.reduce((total, { weight }) => total + weight, 0);
  const sum = (some) => some.reduce((total, { weight }) => total + weight, 0) / all;
  const found = search.call(this, [asked, ...words.flatMap(({ parts }) => parts)].join(" ")).filter(({ ref }) => !folder || ref.startsWith(`${folder}/`));
  const pages = new Map(); // place -> terms
  for (const { ref, matchData } of found) {
    const own = pages.get(pageOf(ref)) ?? pages.set(pageOf(ref), new Set()).get(pageOf(ref));
    for (const each of Object.keys(matchData.metadata)) own.add(each);
  }
  const factors = new Map();
  for (const [page, own] of pages) {
    const has = ({ is, parts }) => [...own].some(is) || (parts.length > 0 && parts.every((part) => own.has(part)));
    const address = page.split(/[/-]/).filter(Boolean);
    const called = Math.max(...namesOf(page).map((name) => calledBy(name, address, words, sum)));
    factors.set(page, sum(words.filter(has)) ** 2 * (1 + NAMED * called) * (called > 0.99 ? EXACT : 1));
  }
  for (const each of found) each.score = each.score ** DAMPED * factors.get(pageOf(each.ref));
  return found;
};

// Of each page found, its title and what it says first; then the sections that have the words.
const LONGEST = 220;
const post = postMessage;

self.postMessage = function (message) {
  for (const docs of message.type === FOUND ? message.data.items : []) {
    const page = docs.find(({ location }) => !location.includes("#"));
    const text = sentences.get(page.location);
    page.text = text.length > LONGEST ? `${text.slice(0, text.lastIndexOf(" ", LONGEST))} …` : text;
    page.score = Math.max(...docs.map(({ score }) => score)) + 1;
    page.terms = {};
    delete page.tags;
    docs.sort((one, other) => other.score - one.score);
  }
  post.call(self, message);
};
