"""A line of a card. Field names are those of the JSON."""

from __future__ import annotations

from typing import Literal, TypeAlias

import msgspec

Status: TypeAlias = Literal["ok", "missing", "unknown"]

WORST_FIRST: tuple[Status, ...] = ("missing", "unknown", "ok")


class CardCheck(msgspec.Struct, frozen=True):
    """A line of a card."""

    code: str
    name: str
    status: Status
    text: str
    path: str = ""
    """Where the text says that something is; empty where it is nowhere."""
    line: int = 0


class CardLine(msgspec.Struct, frozen=True):
    """The subject of a line, the same on every card."""

    name: str
    asks: str


LINES = {
    "card-release": CardLine("release", "Do the records know the releases that files state?"),
    "card-seeds": CardLine("seeds", "Is every generator that the program uses seeded?"),
    "card-flag": CardLine("flag", "Are the deterministic algorithms of the framework on?"),
    "card-cudnn": CardLine("cuDNN", "Does cuDNN choose its algorithms without timing them?"),
    "card-workers": CardLine("workers", "Do the workers of data loaders get fixed seeds?"),
    "card-collectives": CardLine("collectives", "Do several ranks add in a fixed order?"),
    "card-hash-seed": CardLine("hash seed", "Are hashes of strings the same in every run?"),
    "card-ops": CardLine("ops", "Which ops raise an error or stay nondeterministic with the flag?"),
}
"""By code, in the order in which they are printed."""

SIGNS: dict[Status, str] = {"ok": "✓", "missing": "✗", "unknown": "?"}
LEGEND: dict[Status, str] = {
    "ok": "set here",
    "missing": "missing or wrong",
    "unknown": "these files do not say",
}
