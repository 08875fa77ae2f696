"""The environment that a question is about: packages, container, device, facts.

What is given wins over what a container holds only by agreeing with it; what a
wheel ships is a weak default. A package that was not named is absent; a platform
part (CUDA, cuDNN, a driver) that was not named is undecided.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import TypeVar

import msgspec

from d9m.environment import packages
from d9m.environment.container import Image, find_image
from d9m.environment.gpu import find_gpu
from d9m.environment.releases import Installed
from d9m.errors import UsageError, nearest, quote
from d9m.kb.store import KnowledgeBase
from d9m.model.conditions import Cell, Cells, by_answer, intervals, releases
from d9m.model.records import Conditional, Existence, Fact, GpuModel
from d9m.model.versions import FIRST, key, within
from d9m.model.when import Clause, Condition, Value

_Part = TypeVar("_Part", bound=Conditional)

DEVICES = ("cuda", "rocm", "mps", "xpu", "cpu")


class Setup(msgspec.Struct, frozen=True):
    """An environment as it was described."""

    packages: tuple[tuple[str, str | None], ...] = ()
    """Name, and version if one was given."""
    container: str | None = None
    device: str | None = None
    facts: tuple[tuple[str, str], ...] = ()
    inference: bool = False
    gpu: str | None = None
    """As a person or nvidia-smi writes it."""
    listed: tuple[tuple[str, str | None], ...] = ()
    """Packages that files list, as they spell it; what is named above wins."""


class Environment(msgspec.Struct, frozen=True):
    """An environment that holds together, ready to decide conditions."""

    packages: dict[str, Installed]
    image: Image | None
    device: str
    facts: dict[str, str]
    """Given ones only."""
    vocabulary: Mapping[str, Fact]
    undecided: frozenset[str]
    """Platform parts that were not named, and facts that only some of the releases decide."""
    gpu: str | None = None
    """The model, if it was named."""
    ignored: int = 0
    """Packages that files list and the knowledge base does not know."""
    api_defaults: Mapping[str, str] = {}
    """Defaults that the API of a call gives to arguments that are left out."""

    def is_moving(self, name: str) -> bool:
        """Whether the tag of the image names no release of a package: ``latest``."""
        parts = self.image.parts if self.image is not None else ()
        return self.packages[name].origin == "container" and (name, "latest") in parts

    def cells(self, name: str, cuts: tuple[str, ...], assume: bool = True) -> Cells:
        """The domain of one variable here, divided at `cuts`.

        With `assume` off, a fact that was not given is undecided in spite of its default.
        """
        if name == "device":
            return (Cell(self.device),)
        fact = self.vocabulary.get(name)
        if fact is not None:
            return self._fact_cells(name, fact, cuts, assume)
        installed = self.packages.get(name)
        if installed is not None and installed.candidates.releases:
            known = installed.candidates.releases
            if installed.candidates.how == "between":
                first, last = known[0], known[-1]
                between = [cut for cut in cuts if key(first) < key(cut) < key(last)]
                known = (first, *between, last)
            return releases(cuts, known)
        return intervals(cuts, key, FIRST) if installed or name in self.undecided else _ABSENT

    def _fact_cells(self, name: str, fact: Fact, cuts: tuple[str, ...], assume: bool) -> Cells:
        value = self.facts.get(name, self._default(name) if assume else None)
        if value is not None:
            return (Cell(int(value) if fact.type == "int" else value),)
        if fact.type == "int":
            cells = intervals(cuts, int, -1)
            least = int(fact.least)
            return tuple(cell for cell in cells if cell.high is None or int(cell.high) > least)
        return tuple(Cell(each, name=each) for each in fact.values)

    def _default(self, name: str) -> str | None:
        if name in self.undecided:
            return None
        return self.api_defaults.get(name, self.vocabulary[name].default)

    def assumes(self, name: str) -> bool:
        """Whether a variable has its default because nothing else was said."""
        return (
            name in self.vocabulary and name not in self.facts and self._default(name) is not None
        )

    def domains(self, cuts: Mapping[str, tuple[str, ...]], assume: bool = True) -> dict[str, Cells]:
        """The domains of several variables."""
        return {name: self.cells(name, at, assume) for name, at in cuts.items()}

    def holding(self, condition: Condition, assume: bool = True) -> list[Clause]:
        """Return what would still have to hold for a condition; none: it does not hold here."""
        if not condition.cuts:
            return [{}] if condition.clauses else []
        here: dict[str, Value] = {}
        for name, at in condition.cuts.items():
            cells = self.cells(name, at, assume)
            if len(cells) != 1:
                domains = self.domains(condition.cuts, assume)
                answers = by_answer(domains, condition.holds)
                return [clause for clause, holds in answers if holds]
            here[name] = cells[0].value
        return [{}] if condition.holds(here) else []

    def among(self, parts: Iterable[_Part]) -> list[_Part]:
        """Return those whose condition can hold here."""
        return [part for part in parts if self.holding(part.condition)]

    def given(self, facts: Mapping[str, str], api_defaults: Mapping[str, str] = {}) -> Environment:
        """This environment with further facts, such as one call's arguments, and what it leaves to
        its API.
        """
        if not facts and not api_defaults:
            return self
        return msgspec.structs.replace(
            self, facts={**self.facts, **facts}, api_defaults=api_defaults
        )

    def having(self, package: str, spans: Iterable[Existence]) -> Environment:
        """This environment without the releases of a package that lack an op."""
        held = self.packages[package]
        if held.candidates.how in ("newer", "between"):
            return self
        every = held.candidates.releases
        kept = tuple(each for each in every if all(within(each, span) for span in spans))
        if len(kept) in (0, len(every)):
            return self
        candidates = msgspec.structs.replace(held.candidates, releases=kept)
        known = {**self.packages, package: msgspec.structs.replace(held, candidates=candidates)}
        return msgspec.structs.replace(self, packages=known)


_ABSENT: Cells = (Cell(None),)
"""The domain of a package that is not here."""


def describe(kb: KnowledgeBase, setup: Setup) -> Environment:
    """The environment that was asked about.

    Raises UsageError for an unknown name or version, and for things that
    contradict each other.
    """
    image = find_image(kb, setup.container) if setup.container is not None else None
    held = packages.named(kb, setup.packages, image)
    gpu = find_gpu(kb, setup.gpu) if setup.gpu is not None else None
    device = _device(setup, image, gpu, {kb.packages[name].device for name in held})
    listed, ignored = packages.in_files(kb, setup.listed, held)
    held |= listed
    facts = _facts(kb, setup, gpu)
    if image is None or image.parts:
        held |= packages.from_builds(kb, held, device)
        if device == "cuda":
            held |= packages.from_wheels(kb, held)
    undecided = frozenset(kb.meta.platforms) - held.keys()
    return Environment(
        held, image, device, facts, kb.meta.facts, undecided, gpu[0] if gpu else None, ignored
    )


_DEVICE_NAMES = {"gpu": "cuda", "nvidia": "cuda", "amd": "rocm", "hip": "rocm", "metal": "mps"}


def device_named(text: str) -> str:
    """A device by any of its names. Raises UsageError."""
    device = _DEVICE_NAMES.get(text.lower(), text.lower())
    if device not in DEVICES:
        makers = "NVIDIA GPUs are cuda, those of AMD rocm, of Apple mps, of Intel xpu"
        raise UsageError(f"unknown device {quote(text)}", allowed=DEVICES, tip=makers)
    return device


def _device(
    setup: Setup, image: Image | None, gpu: tuple[str, GpuModel] | None, meant: set[str | None]
) -> str:
    """The device asked about. ROCm's parts mean it beside any package, the rest if all do."""
    usual = "rocm" if "rocm" in meant else "cpu" if meant == {"cpu"} else "cuda"
    built_for = image.device if image else None
    if setup.device is None or (gpu is not None and setup.device.lower() == "gpu"):
        return gpu[1].device if gpu else built_for or usual
    device = device_named(setup.device)
    if gpu is not None and device not in (gpu[1].device, "cpu"):
        raise UsageError(
            f"--device {device} contradicts --gpu {gpu[0]}, which is a {gpu[1].device} device"
        )
    return device


def _facts(kb: KnowledgeBase, setup: Setup, gpu: tuple[str, GpuModel] | None) -> dict[str, str]:
    facts: dict[str, str] = {}
    for name, value in setup.facts:
        known = fact(kb, name)
        if facts.get(name, value) != value:
            raise UsageError(f"fact {name} is given as {quote(facts[name])} and as {quote(value)}")
        facts[name] = fact_value(name, known, value)
    called, decided = (gpu[0], _facts_of_gpu(gpu[1])) if gpu is not None else ("", {})
    for name, value in decided.items():
        if facts.get(name, value) != value:
            raise UsageError(
                f"--fact {name}={facts[name]} contradicts --gpu {called}, whose {name} is {value}"
            )
        facts[name] = value
    if setup.inference:
        if facts.get("training") == "true":
            raise UsageError("--inference contradicts --fact training=true")
        facts["training"] = "false"
    return facts


def _facts_of_gpu(model: GpuModel) -> dict[str, str]:
    """Return what the architecture of a GPU decides."""
    known = {"sm": model.sm, "gfx": model.gfx}
    return {name: value for name, value in known.items() if value is not None}


def fact(kb: KnowledgeBase, name: str) -> Fact:
    """A word of the vocabulary. Raises UsageError."""
    known = kb.meta.facts.get(name)
    if known is None:
        raise UsageError(
            f"unknown fact {quote(name)}",
            nearest=nearest(name, kb.meta.facts),
            tip="see: d9m list facts",
        )
    return known


def fact_value(name: str, known: Fact, value: str) -> str:
    """`value` as the vocabulary spells it. Raises UsageError."""
    if known.type == "int":
        if not re.fullmatch(r"\d{1,9}", value):
            raise UsageError(f"{name} must be a whole number, not {quote(value)}")
        return value
    spelled = {each.lower(): each for each in known.values}.get(value.lower())
    if spelled is None:
        raise UsageError(
            f"{name} cannot be {quote(value)}",
            nearest=nearest(value, known.values),
            allowed=known.values,
        )
    return spelled
