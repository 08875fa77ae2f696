"""The built site in a real browser."""

from __future__ import annotations

import gzip
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import pytest
from browser import blank, opened, site
from site_build import built, real

from d9m.model.versions import minor

if TYPE_CHECKING:
    from playwright.sync_api import Page

KINDS = (
    "",
    "?tensorflow=2.0&ops=conv,bias_add",
    "sources/",
    "sources/tensorflow/bias-add/",
    "solutions/",
    "solutions/tensorflow/tdo/",
    "settings/tensorflow/tf-deterministic-ops/",
    "ingredients/seeds/",
    "errors/",
    "errors/pytorch/not-deterministic/",
    "versions/",
    "versions/torch/",
    "ops/torch/",
    "status/",
    "pull-requests/",
    "myths/",
    "corrections/",
    "documents/",
    "facts/",
    "lint/",
    "scan/",
    "scan/unused-ignore/",
    "recipe/",
    "status/jax/",
    "releases/torch/2.6/",
    "containers/ngc-pytorch/24.12-py3/",
    "runs/torch-2.13.0-cpu/",
    "helpers/transformers/enable-full-determinism/",
    "upgrade/torch/",
    "symptoms/runs-differ/",
    "compare/",
    "reference/records/",
)
"""A page of each kind."""

FEW = (
    "",
    "?tensorflow=2.0&ops=conv,bias_add",
    "sources/tensorflow/bias-add/",
    "errors/",
    "ops/torch/",
    "scan/unused-ignore/",
    "status/jax/",
    "releases/torch/2.6/",
    "reference/records/",
)
"""Pages that are laid out unlike each other."""

PHONE = {"width": 390, "height": 844}


def there(pages: Sequence[str] = KINDS) -> list[str]:
    """Those of the pages that this edition has: a record may be renamed, a kind may not vanish."""
    found = [path for path in pages if (built() / urlsplit(path).path / "index.html").is_file()]
    assert len(found) >= len(pages) - len(pages) // 12
    return found


def _ready(page: Page) -> Page:
    if page.locator(".d9m-advisor").count():
        page.locator(".d9m-advisor select").first.focus()  # the tables come when somebody asks
        page.wait_for_selector("[data-ready=true]")
    return page


def _read(page: Page) -> Page:
    """Scroll down as a reader does: long tables get their place when they come into view.

    A window that nobody sees may never draw, and an animation may never end: neither is waited for
    longer than it takes a reader to see it.
    """
    page.evaluate("""async () => {
        const atMost = (milliseconds, promise) =>
            Promise.race([promise, new Promise((late) => setTimeout(late, milliseconds))]);
        const drawn = () => atMost(500, new Promise((done) =>
            requestAnimationFrame(() => requestAnimationFrame(done))));
        for (let at = 0; at < document.body.scrollHeight; at += innerHeight) {
            scrollTo(0, at);
            await drawn();
        }
        scrollTo(0, 0);
        await drawn();
        // the head fades in again
        const animations = document.getAnimations().map((animation) => animation.finished);
        await atMost(3000, Promise.allSettled(animations));
    }""")
    return page


def _thinned(page: Page) -> Page:
    """Take away rows and items that are built like three before them: Axe looks at each for long,
    and what it finds in one it finds in all.
    """
    page.evaluate("""() => {
        const often = new Map();
        const built = (element) => [
            element.tagName, element.className, ...[...element.attributes].map(({ name }) => name),
            element.textContent.trim() === "", ...[...element.children].map(built),
        ].join(" ");
        for (const row of document.querySelectorAll("tbody tr, li")) {
            const like = built(row);
            often.set(like, (often.get(like) ?? 0) + 1);
            if (often.get(like) > 3) row.remove();
        }
    }""")
    return page


def every() -> list[str]:
    """All pages but those that only lead on."""
    found = [path.parent for path in built().rglob("index.md")]
    found += [path.with_suffix("") for path in built().rglob("*.md") if path.name != "index.md"]
    return [f"{path.relative_to(built()).as_posix()}/".removeprefix("./") for path in found]


@pytest.mark.parametrize(
    ("width", "pages"),
    [
        (PHONE["width"], there),
        pytest.param(1280, every, marks=pytest.mark.nightly),
    ],
    ids=["phone", "every-page"],
)
def test_no_page_asks_another_host_or_fails_in_a_script_or_is_too_wide(
    width: int, pages: Callable[[], list[str]]
) -> None:
    asked: list[str] = []
    complaints: list[str] = []
    page = blank(viewport={"width": width, "height": PHONE["height"]})
    page.on("request", lambda request: asked.append(request.url))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("console", lambda each: complaints.append(each.text) if each.type == "error" else None)
    for path in pages():
        asked.clear()
        page.goto(site() + path)
        wide = _ready(page).evaluate("document.documentElement.scrollWidth")
        assert {urlsplit(each).netloc for each in asked} == {urlsplit(site()).netloc}, path
        assert not complaints, path
        assert wide <= width, path
    page.close()


EVERY_RULE = {"resultTypes": ["violations"]}
RULES_OF_COLOUR = {
    **EVERY_RULE,
    "runOnly": {"type": "rule", "values": ["color-contrast", "link-in-text-block"]},
}


@pytest.mark.parametrize(
    ("scheme", "options", "pages"),
    [
        ("light", EVERY_RULE, FEW),
        ("dark", RULES_OF_COLOUR, FEW[:4]),
        pytest.param("light", EVERY_RULE, KINDS, marks=pytest.mark.nightly),
        pytest.param("dark", RULES_OF_COLOUR, KINDS, marks=pytest.mark.nightly),
    ],
    ids=["light", "dark", "light-every-kind", "dark-every-kind"],
)
def test_pages_are_accessible(scheme: str, options: dict[str, Any], pages: Sequence[str]) -> None:
    """Axe finds nothing serious. In the dark only colours differ."""
    from axe_playwright_python.sync_playwright import Axe

    serious: list[tuple[str, str, Any]] = []
    page = blank(color_scheme=scheme)
    for path in there(pages):
        page.goto(site() + path)
        _thinned(_read(_ready(page)))
        for each in Axe().run(page, options=options).response["violations"]:
            if each["impact"] in ("serious", "critical"):
                serious.append((path, each["id"], [node["target"] for node in each["nodes"]][:3]))
    page.close()
    assert not serious


@pytest.mark.parametrize(
    "path", ["", "?torch=2.6&ops=conv,interpolate", "status/torch/", "sources/", "ops/torch/"]
)
@pytest.mark.parametrize("width", [390, pytest.param(1280, marks=pytest.mark.nightly)])
def test_nothing_moves_while_a_page_loads(path: str, width: int) -> None:
    """The sum of layout shifts, which the web's vitals want below a tenth."""
    page = blank(viewport={"width": width, "height": 844})
    page.add_init_script(
        "window.moved = 0; new PerformanceObserver((list) => list.getEntries().forEach((each) => {"
        "  if (!each.hadRecentInput) window.moved += each.value; "
        "})).observe({ type: 'layout-shift', buffered: true });"
    )
    page.goto(site() + path)
    _ready(page).wait_for_load_state("networkidle")
    moved = page.evaluate("window.moved")
    page.close()
    assert moved < 0.1


def test_a_phone_shows_the_newest_releases_of_a_table_and_what_each_cell_says() -> None:
    page = opened("status/torch/", viewport=PHONE)
    table = page.locator(".d9m-grid").first
    newest = table.locator("thead th").nth(1).bounding_box()
    name = table.locator("tbody th").first.bounding_box()
    assert newest is not None
    assert name is not None
    assert newest["x"] + newest["width"] <= PHONE["width"]
    lines = table.locator("thead th").all_inner_texts()[1:]
    assert lines[0] == minor(real().releases("torch")[-1])
    for row in table.locator("tbody tr").all()[:10]:
        label = row.locator("td a").first.bounding_box()
        assert label is not None
        assert name["x"] + name["width"] <= label["x"] < PHONE["width"]
    page.close()


def test_a_link_to_an_op_lands_on_it() -> None:
    page = opened("ops/tensorflow/conv/")
    page.wait_for_url("**/ops/tensorflow/#conv")
    assert page.evaluate("document.getElementById('conv').getBoundingClientRect().top") < 900


def test_blocks_have_a_button_that_copies_them() -> None:
    page = opened("sources/tensorflow/bias-add/", permissions=["clipboard-read", "clipboard-write"])
    button = page.locator("button.md-clipboard, button[data-clipboard-target]").first
    button.scroll_into_view_if_needed()
    button.click()
    copied = page.evaluate("navigator.clipboard.readText()")
    assert copied.strip()
    assert copied.strip() in page.locator("main").inner_text().replace("\xa0", " ") or "=" in copied


def test_the_first_page_is_small() -> None:
    """All that a browser loads of it, compressed, less what it loads behind it: the tables, and the
    search's index.
    """
    page = blank()
    bodies: dict[str, bytes] = {}
    page.on("response", lambda response: bodies.setdefault(response.url, response.body()))
    page.goto(site())
    _ready(page)
    page.wait_for_load_state("networkidle")
    loaded = {
        url: body
        for url, body in bodies.items()
        if not url.endswith(("search_index.json", "tables.json"))
    }
    assert sum(len(gzip.compress(body, 9, mtime=0)) for body in loaded.values()) < 170_000
