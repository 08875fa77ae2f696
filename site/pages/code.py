"""The calls that `d9m scan` looks for in programs, by library."""

from __future__ import annotations

from collections.abc import Iterator

from d9m.kb.store import KnowledgeBase
from d9m.model.code_marks import CodeMarks
from pages import layout, proof
from pages.places import LISTS

_ROWS = (
    ("seeds", "Seed the global generator"),
    ("draws", "Draw from it"),
    ("no_draws", "Among those names, draw nothing, or from their own generator"),
    ("seed_needed_by", "Settings under which they raise an error unless it is seeded"),
    ("makers", "Make a generator that is random without a seed"),
    ("reseeds", "Seed such a generator later"),
    ("environments", "Make an environment with its own generator"),
    ("models", "Classes whose objects draw their weights when they are made"),
    ("loaders", "Load data, in workers or in an order that they draw"),
    ("chance", "Give something else in every run"),
    ("listings", "List in no fixed order"),
    ("listing_methods", "The same, as methods"),
    ("completions", "Give results in the order in which they are ready"),
    ("order_blind", "Do not mind the order of what they get"),
    ("order_bound", "Build on the order of what they get"),
    ("shows", "Show what they get, and keep nothing"),
    ("writes_down", "Show or store what they get"),
    ("starts_process", "Start a process, with the environment as it is then"),
    ("trains", "Compute gradients"),
    ("no_gradients", "Switch gradients off"),
    ("leaves_gradients", "Give something without gradients"),
    ("tensors", "Give tensors"),
    ("integers", "Give tensors of whole numbers"),
    ("own_methods", "Methods of tensors alone"),
)
"""Field of a record -> heading."""


def pages(kb: KnowledgeBase) -> Iterator[tuple[str, str]]:
    known = kb.code.items()
    found = [(id_, marks, _rows(marks), proof.of(kb, marks.evidence)) for id_, marks in known]
    title = "What the scan looks for"
    description = "The calls that d9m scan knows in a program: what seeds, draws, lists and trains."
    yield layout.page(kb, LISTS["code"], "code.md", title, description, found=found)


def _rows(marks: CodeMarks) -> list[tuple[str, list[str]]]:
    rows = [(heading, list(names)) for field, heading in _ROWS if (names := getattr(marks, field))]
    for release, names in marks.added.items():
        rows.append((f"New in {marks.title} {release}", names))
    for release, names in marks.removed.items():
        rows.append((f"Removed in {marks.title} {release}", names))
    return rows
