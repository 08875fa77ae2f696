// A table that is wider than its column scrolls sideways: with the arrow keys, too.

function reach(wrap) {
  if (wrap.scrollWidth > wrap.clientWidth) {
    wrap.tabIndex = 0;
    wrap.setAttribute("role", "region");
    wrap.setAttribute("aria-label", "Table, scrolls sideways");
  } else {
    ["tabindex", "role", "aria-label"].forEach((name) => wrap.removeAttribute(name));
  }
}

const sizes = new ResizeObserver((entries) => entries.forEach((entry) => reach(entry.target)));

// The theme puts tables into wraps after the page has loaded.
window.addEventListener("load", () => {
  document.querySelectorAll(".md-typeset__scrollwrap").forEach((wrap) => sizes.observe(wrap));
});
