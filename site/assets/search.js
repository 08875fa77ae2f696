// The theme's worker, with lunr mended and a ranking by pages: see search-worker.js.
const WORKER = new URL("search-worker.js", document.currentScript.src);
// A link can restrict the search to a folder: ?q=words&in=symptoms.
const folder = new URLSearchParams(location.search).get("in");

window.Worker = class extends Worker {
  constructor(address, options) {
    const mended = new URL(WORKER);
    mended.hash = new URL(address, location).href;
    super(mended, options);
  }

  postMessage(message, ...rest) {
    super.postMessage({ ...message, folder }, ...rest);
  }
};

// The index is megabytes: it is asked for when the search box opens, or by a link that searches.
const opened = new Promise((open) => {
  if (new URLSearchParams(location.search).has("q")) open();
  for (const event of ["focusin", "change"]) {
    document.addEventListener(event, ({ target }) => {
      if (target.matches?.(".md-search__input, #__search")) open();
    });
  }
});

const { open: address, send: ask } = XMLHttpRequest.prototype;

XMLHttpRequest.prototype.open = function (method, url, ...rest) {
  this.waits = String(url).endsWith("search/search_index.json");
  return address.call(this, method, url, ...rest);
};

XMLHttpRequest.prototype.send = function (body) {
  if (this.waits) opened.then(() => ask.call(this, body));
  else ask.call(this, body);
};
