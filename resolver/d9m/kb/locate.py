"""Find the knowledge base: the one named, the checkout's, or the one in the wheel."""

from __future__ import annotations

import os
from pathlib import Path

from d9m.errors import DataError
from d9m.kb.store import KnowledgeBase

VARIABLE = "D9M_KB"
"""Path of a ``kb/`` folder or a compiled file to use instead of the installed one."""

_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def open_knowledge_base() -> KnowledgeBase:
    """The knowledge base to answer from.

    Raises DataError if there is none, or it is damaged.
    """
    named = os.environ.get(VARIABLE)
    place = named or _default()
    if os.path.isfile(place):
        from d9m.kb import compiled

        return compiled.read(place)
    if os.path.isdir(place):
        return from_yaml(Path(place))
    raise DataError(
        f"{place}: no knowledge base there",
        tip=f"unset {VARIABLE}" if named else "install d9m again",
    )


def _default() -> str:
    checkout = os.path.join(os.path.dirname(os.path.dirname(_PACKAGE)), "kb")
    if os.path.isfile(os.path.join(checkout, "facts.yaml")):
        return checkout
    return os.path.join(_PACKAGE, "_kb", "knowledge.d9m")


def folder() -> Path:
    """The folder of YAML records to lint or compile. Raises DataError in an installation without
    one.
    """
    place = folder_or_none()
    if place is None:
        raise DataError(
            f"{os.environ.get(VARIABLE) or _default()}: not a folder of records",
            tip=f"run in a checkout, or set {VARIABLE} to its kb/",
        )
    return place


def folder_or_none() -> Path | None:
    """The same folder; None in an installation without one."""
    place = Path(os.environ.get(VARIABLE) or _default())
    return place if place.is_dir() else None


def from_yaml(root: Path) -> KnowledgeBase:
    """Read and index the records of a checkout. Raises DataError where there are none."""
    from d9m.kb import build, yaml_files

    return build.build(yaml_files.load_some(root))
