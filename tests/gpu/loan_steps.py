"""What to do with a GPU that is lent for minutes: the steps, the most valuable one first."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec
from single_settings import PROBES

from d9m.check.plan import catalogue
from d9m.check.plan.effort import Effort

CHUNK = 36
"""Probes of one step: fewer would import the framework too often, more would lose too much."""

SHORT = Effort(repeats=64, processes=3, again=1, budget=0.4, climb=False)
PRICES = Effort(repeats=100, processes=3, again=3, budget=0.3, climb=False)
LADDERS = Effort(repeats=32, processes=3, again=1, budget=1.0)

MUST_VARY = ("index-add", "scatter-add", "cumsum", "index-put-accumulate", "sdpa-backward")
"""Probes that show at once whether the machine is one that the records speak of."""


class LoanStep(msgspec.Struct, frozen=True):
    """A part of the work that is whole in itself; its name is that of its file."""

    name: str
    framework: str
    probes: list[str]
    """Ids of probes; none: the collectives."""
    effort: Effort
    prices: bool = False
    """Whether each setting is measured alone, too."""


def steps(frameworks: Sequence[str], device: str, only: Sequence[str] = ()) -> list[LoanStep]:
    """All steps. A machine that goes away after any of them leaves the best there was to have."""
    found: list[LoanStep] = []
    first: dict[str, list[list[str]]] = {}
    for framework in frameworks:
        first[framework] = list(_chunks(_ordered(framework, device, only)))
        found += _short(framework, first[framework][:1], 1)
        found += _prices(framework, device, only)
        if framework == "torch":
            found.append(LoanStep("torch-collectives", "torch", [], SHORT))
    for framework in frameworks:
        found += _short(framework, first[framework][1:], 2)
    for framework in frameworks:
        for number, ids in enumerate(first[framework], 1):
            found.append(LoanStep(f"{framework}-ladders-{number}", framework, ids, LADDERS))
    return [step for step in found if step.probes or step.name == "torch-collectives"]


def _short(framework: str, chunks: Sequence[list[str]], start: int) -> Iterator[LoanStep]:
    for number, ids in enumerate(chunks, start):
        yield LoanStep(f"{framework}-probes-{number}", framework, ids, SHORT)


def _prices(framework: str, device: str, only: Sequence[str]) -> Iterator[LoanStep]:
    there = _ordered(framework, device, only)
    ids = [id_ for name in PROBES[framework] if (id_ := f"{framework}/{name}") in there]
    for number, part in enumerate((ids[: len(ids) // 2], ids[len(ids) // 2 :]), 1):
        yield LoanStep(f"{framework}-settings-{number}", framework, part, PRICES, prices=True)


def _ordered(framework: str, device: str, only: Sequence[str]) -> list[str]:
    """Ids of all probes on this device: telling ones, quick ones, the rest."""
    here = [probe for probe in catalogue.probes(framework) if device in probe.devices]
    if only:
        here = [probe for probe in here if probe.id in only]
    telling = {f"{framework}/{name}" for name in MUST_VARY}
    here.sort(key=lambda probe: (probe.id not in telling, not probe.quick))
    return [probe.id for probe in here]


def _chunks(ids: Sequence[str]) -> Iterator[list[str]]:
    for start in range(0, len(ids), CHUNK):
        yield list(ids[start : start + CHUNK])
