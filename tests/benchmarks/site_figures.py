"""What the site costs: the share of the build that makes pages, builds of many pages, the first
page, the advisor.
"""

from __future__ import annotations

import gzip
import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path.append(str(ROOT / "site"))

SIZES = (500, 2_000, 8_000)
"""Generated pages out of the navigation."""


def share(kb: object, folder: Path) -> Iterator[tuple[str, float, str, float | None]]:
    """CPU time of making pages and data, over that of the whole build, both of the real records."""
    from exports import files
    from pages import pages

    pages_made = _seconds(lambda: pages(kb))  # type: ignore[arg-type]
    data_made = _seconds(lambda: files(kb))  # type: ignore[arg-type]
    whole = _build(ROOT / "mkdocs.yml", folder / "site")
    yield "site: build of the real records", whole, "s", None
    yield "site: generating, of the build", 100 * (pages_made + data_made) / whole, "%", 25
    yield "site: of that the data (API, advisor)", 100 * data_made / whole, "%", None
    yield (
        "site: first page without the index of the search",
        _first_page(folder / "site") / 1e3,
        "kB",
        300,
    )
    tables = (folder / "site" / "assets" / "advisor" / "tables.json").read_bytes()
    yield (
        "site: the advisor's tables, compressed",
        len(gzip.compress(tables, 9, mtime=0)) / 1e3,
        "kB",
        None,
    )


def linear(folder: Path) -> Iterator[tuple[str, float, str, float | None]]:
    """CPU time a page, of many over few."""
    costs = [
        _build(_synthetic(folder / f"pages-{many}", many), folder / f"built-{many}") / many
        for many in SIZES
    ]
    for many, cost in zip(SIZES, costs):
        yield f"site: a page, of {many} synthetic ones", cost * 1e3, "ms", None
    yield f"site: a page of {SIZES[-1]} over one of {SIZES[0]}", costs[-1] / costs[0], "x", 1.2


def advisor(folder: Path) -> Iterator[tuple[str, float, str, float | None]]:
    """An answer of the page's scripts, everything known of one release: the largest question. Needs
    Node.js.
    """
    scripts, tables = (
        folder / "site" / "assets" / "advisor" / "advisor.js",
        folder / "site/assets/advisor/tables.json",
    )
    script = f"""
        import {{ readFileSync }} from "node:fs";
        const {{ Advisor }} = await import({json.dumps(scripts.as_uri())});
        const advisor = new Advisor(JSON.parse(readFileSync({json.dumps(str(tables))})));
        const question = {{
          choice: "tensorflow", version: "2.5.0", device: "cuda", facts: {{}}, ops: "",
        }};
        const times = Array.from({{ length: 30 }}, () => {{
          const start = performance.now();
          advisor.ask(question);
          return performance.now() - start;
        }});
        console.log(times.sort((one, other) => one - other)[15]);
    """
    (folder / "package.json").write_text('{"type": "module"}', encoding="utf-8")
    try:
        done = subprocess.run(
            ["node", "--input-type=module", "-e", script],
            cwd=folder,
            capture_output=True,
            check=True,
        )
    except (OSError, subprocess.CalledProcessError):
        return
    yield "site: the advisor, everything known of one release", float(done.stdout), "ms", 100


def _synthetic(folder: Path, many: int) -> Path:
    """A site with so many pages like a record's, made by a hook as ours are."""
    (folder / "docs").mkdir(parents=True)
    (folder / "docs" / "index.md").write_text("# Start\n", encoding="utf-8")
    page = (ROOT / "site" / "docs" / "recipe.md").read_text(encoding="utf-8").split("\n## ")[
        0
    ] + "\n\nText.\n"
    (folder / "hooks.py").write_text(
        "from mkdocs.structure.files import File, InclusionLevel\n"
        "def on_files(files, config):\n"
        f"    for number in range({many}):\n"
        f"        file = File.generated(config, f'pages/{{number}}.md', content={page!r})\n"
        "        file.inclusion = InclusionLevel.NOT_IN_NAV\n"
        "        files.append(file)\n"
        "    return files\n",
        encoding="utf-8",
    )
    (folder / "mkdocs.yml").write_text(
        (
            "site_name: many\nhooks: [hooks.py]\ntheme: {name: material, font: false}\nnav: "
            "[index.md]\n"
        ),
        encoding="utf-8",
    )
    return folder / "mkdocs.yml"


def _build(configuration: Path, out: Path) -> float:
    """CPU seconds of a build."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "-q", "-f", str(configuration), "-d", str(out)],
        cwd=ROOT,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
        check=True,
        stderr=subprocess.DEVNULL,
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def _seconds(call: object) -> float:
    start = time.process_time()
    call()  # type: ignore[operator]
    return time.process_time() - start


class _Loaded(HTMLParser):
    """What a page makes a browser load."""

    def __init__(self) -> None:
        super().__init__()
        self.files: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        if tag == "script" or tag == "img":
            self.files.add(given.get("src") or "")
        elif tag == "link" and given.get("rel") in ("stylesheet", "modulepreload", "icon"):
            self.files.add(given.get("href") or "")
        self.files.add(given.get("data-tables") or "")


def _first_page(site: Path) -> int:
    """Compressed bytes of the first page and of all that it loads."""
    page = site / "index.html"
    loaded = _Loaded()
    loaded.feed(page.read_text(encoding="utf-8"))
    found = {
        page,
        *(site / each for each in loaded.files if each and not each.startswith(("http", "//"))),
    }
    return sum(len(gzip.compress(each.read_bytes(), 9, mtime=0)) for each in found)
