// What is pasted into the search box, made into words that tell something. Material appends a wildcard to every word,
// so that the "a" of an error message finds all words that begin with it, and lunr takes signs for operators.
const COMMON = new Set(("a an and any are as at be because but by can does for from had has have if in is it its just may must "
  + "no not of on only or set so such than that the their then there these this to was when which will with would you your "
  + "been could do each every get give gives how i me my should use we were what where who why").split(" "));
const NAME = /[_\d]|[a-z][A-Z]|^[A-Z]{2}/;
const NUMBER = /^\d+(\.\d+)*$/;
const PATCH = /^(\d+\.\d+)\.\d+$/; // pages are about lines of releases
const MOST_PLAIN = 8; // what is particular to a message is its names and its first words

function telling(text) {
  if (/^\s*"[^"]*"\s*$/.test(text)) return text; // asked for to the letter
  const words = text
    .replace(/https?:\S+/g, " ")
    .replace(/(?<=\w)'\w{1,2}\b/g, "") // that's
    .replace(/(?<![\w.])(?:[A-Za-z_]\w*\.)+(?=[A-Za-z_])/g, "") // of a dotted name the part of its own
    .replace(/[^\w.\s-]+|(?<!\w)-+|\.(?!\d)/g, " ")
    .split(/\s+/)
    .filter(Boolean)
    .flatMap((word) => (NUMBER.test(word) ? numbers(word) : [word]));
  const kept = words.filter((word) => !COMMON.has(word.toLowerCase()) && /..|\d/.test(word));
  if (words.length < 3 || !kept.length) return words.join(" ");
  const plain = kept.filter((word) => !NAME.test(word)).slice(0, MOST_PLAIN);
  return kept.filter((word) => NAME.test(word) || plain.includes(word)).join(" ");
}

// A release without a wildcard: 2.1 is not 2.10. Of a patch release the line must be there, the patch may.
function numbers(word) {
  if (word.length === 1) return [`${word}^1`]; // as in "flash attention 2": part of a name, or nothing
  return PATCH.test(word) ? [`+${word.replace(PATCH, "$1")}`, `${word}^2`] : [`+${word}`];
}

const within = () => (folder ? ` in_folder_${folder}` : "");

// The theme's worker, with lunr mended: see search-worker.js.
const WORKER = new URL("search-worker.js", document.currentScript.src);

window.Worker = class extends Worker {
  constructor(address, options) {
    const mended = new URL(WORKER);
    mended.hash = new URL(address, location).href;
    super(mended, options);
  }

  postMessage(message, ...rest) {
    const asked = typeof message?.data === "string" ? { ...message, data: telling(message.data) + within() } : message;
    super.postMessage(asked, ...rest);
  }
};

// The index is megabytes: it is asked for when somebody opens the search box, or follows a link that searches.
const opened = new Promise((open) => {
  if (new URLSearchParams(location.search).has("q")) open();
  for (const event of ["focusin", "change"]) {
    document.addEventListener(event, ({ target }) => {
      if (target.matches?.(".md-search__input, #__search")) open();
    });
  }
});
// A link can restrict the search to a folder: ?q=words&in=symptoms.
const folder = new URLSearchParams(location.search).get("in");

const { open: address, send: ask } = XMLHttpRequest.prototype;

XMLHttpRequest.prototype.open = function (method, url, ...rest) {
  this.waits = String(url).endsWith("search/search_index.json");
  return address.call(this, method, url, ...rest);
};

XMLHttpRequest.prototype.send = function (body) {
  if (this.waits) opened.then(() => ask.call(this, body));
  else ask.call(this, body);
};
