"""What the tests of the site share: the generator, a build of it, and its HTML taken apart."""

from __future__ import annotations

import functools
import os
import subprocess
import sys
from html.parser import HTMLParser
from importlib.util import find_spec
from pathlib import Path

import msgspec

import d9m
from conftest import needs, shared
from d9m.kb.store import KnowledgeBase
from golden import knowledge_base

BUILT = "D9M_TEST_SITE"
"""Set to the site of these very records that a strict build has made already, with its log in
`SITE.log`.
"""

ROOT = Path(__file__).parents[2]
SITE = ROOT / "site"
KB = ROOT / "kb"


def need_mkdocs() -> None:
    """Skip the test where the site cannot be built."""
    present = all(find_spec(name) for name in ("jinja2", "mkdocs", "material"))
    needs(
        present, "MkDocs with its Material theme", "pip install 'd9m[site]' (Python 3.11 or newer)"
    )


def generator() -> None:
    """Make `pages` importable, as MkDocs does for its hook."""
    need_mkdocs()
    if str(SITE) not in sys.path:
        sys.path.append(str(SITE))


def generated(kb: KnowledgeBase) -> dict[str, str]:
    """All pages of a knowledge base."""
    generator()
    from pages import pages

    return pages(kb)


@functools.cache
def real_pages() -> dict[str, str]:
    """All pages of the real records, generated once for all processes."""
    place = shared(
        "pages",
        lambda folder: (folder / "pages.json").write_bytes(msgspec.json.encode(generated(real()))),
    )
    generator()
    return msgspec.json.decode((place / "pages.json").read_bytes(), type=dict[str, str])


def uneven_rows(text: str) -> list[str]:
    """Rows of the tables in a Markdown text that have more or fewer cells than the head."""
    found: list[str] = []
    head = 0
    for line in text.splitlines():
        pipes = line.replace("\\|", "").count("|") if line.lstrip().startswith("|") else 0
        head = head if head and pipes else pipes
        if pipes != head:
            found.append(line)
    return found


def real() -> KnowledgeBase:
    return knowledge_base()


def variables(kb: Path, **more: str) -> dict[str, str]:
    """The environment of a process that reads a folder of records with the d9m under test."""
    here = str(Path(d9m.__file__).parents[1])
    inherited = {name: value for name, value in os.environ.items() if name != "SOURCE_DATE_EPOCH"}
    return {**inherited, "PYTHONPATH": here, "D9M_KB": str(kb), "NO_MKDOCS_2_WARNING": "1", **more}


def build(kb: Path, out: Path, **more: str) -> str:
    """Build the site strictly into `out`; what MkDocs said."""
    need_mkdocs()
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(out)]
    done = subprocess.run(
        command,
        cwd=ROOT,
        env=variables(kb, **more),
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )
    assert done.returncode == 0, done.stderr
    return done.stderr


@functools.cache
def built() -> Path:
    """The site of the real records, built once: by the first test that asks, or before the
    tests.
    """
    need_mkdocs()
    made = os.environ.get(BUILT)
    return Path(made) if made else shared("site", _build_real) / "site"


def said() -> str:
    """What MkDocs said while it built the real records."""
    return Path(f"{built()}.log").read_text(encoding="utf-8")


def _build_real(folder: Path) -> None:
    (folder / "site.log").write_text(build(KB, folder / "site"), encoding="utf-8")


class Element(msgspec.Struct):
    """One start tag."""

    tag: str
    attributes: dict[str, str]


class Html(HTMLParser):
    """A page taken apart: its elements, and its text outside scripts and styles."""

    def __init__(self, page: Path) -> None:
        super().__init__()
        self.elements: list[Element] = []
        self.scripts: list[str] = []
        self.parts: list[str] = []
        self._within = ""
        self.feed(page.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append(Element(tag, {name: value or "" for name, value in attrs}))
        self._within = tag if tag in ("script", "style") else self._within

    def handle_endtag(self, tag: str) -> None:
        self._within = "" if tag == self._within else self._within

    def handle_data(self, data: str) -> None:
        if self._within == "script":
            self.scripts.append(data)
        elif not self._within:
            self.parts.append(data)

    @property
    def text(self) -> str:
        return " ".join("".join(self.parts).split())

    @functools.cached_property
    def ids(self) -> set[str]:
        return {each.attributes["id"] for each in self.elements if "id" in each.attributes}
