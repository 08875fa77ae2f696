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
    ("fills_constant", "Overwrite with a constant what is drawn"),
    ("parameters", "Attributes of a layer that hold what it draws"),
    ("no_draws", "Among those names, draw nothing, or from their own generator"),
    ("seed_needed_by", "Settings under which they raise an error unless it is seeded"),
    ("makers", "Make a generator that is random without a seed"),
    ("reseeds", "Seed such a generator later"),
    ("environments", "Make an environment with its own generator"),
    ("spaces", "Draw from a generator of its space"),
    ("models", "Classes whose objects draw their weights when they are made"),
    ("loaders", "Load data, in workers or in an order that they draw"),
    ("datasets", "Classes that they read"),
    ("steps", "Make a step of a dataset from a function"),
    ("hooks", "Classes to derive from, which call only some methods"),
    ("asks_for_worker", "Say which worker a process is"),
    ("chance", "Give something else in every run"),
    ("listings", "List in no fixed order"),
    ("listing_methods", "The same, as methods"),
    ("listed_in_order", "Parts of a path on which they list in order"),
    ("listing_iterators", "Of both, those that give an iterator, which has no places"),
    ("completions", "Give results in the order in which they are ready"),
    ("order_blind", "Do not mind the order of what they get"),
    ("order_bound", "Build on the order of what they get"),
    ("finds_places", "Find the index of an item in a list"),
    ("asks_shape", "Ask for a shape or type, and not for what it holds"),
    ("alphabets", "Characters, from which names are drawn"),
    ("shows", "Show what they get, and keep nothing"),
    ("writes_down", "Show or store what they get"),
    ("calls_named", "Call the function that a command line names"),
    ("starts_process", "Start a process, with the environment as it is then"),
    ("trains", "Compute gradients"),
    ("no_gradients", "Switch gradients off"),
    ("leaves_gradients", "Give something without gradients"),
    ("tensors", "Give tensors"),
    ("integers", "Give tensors of whole numbers"),
    ("call_arguments", "Layers whose calls take arguments that decide on their ops"),
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
