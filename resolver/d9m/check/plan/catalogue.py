"""The probes: data, one family a file under ``probes/<framework>/``, run by the worker."""

from __future__ import annotations

import functools
from collections.abc import Iterable
from importlib import resources
from importlib.abc import Traversable
from typing import Any

import msgspec
import yaml

from d9m.about import SCHEMA_VERSION, __version__
from d9m.check.messages import Exercise, Rung
from d9m.environment.environment import DEVICES
from d9m.errors import UsageError, quote
from d9m.kb.store import KnowledgeBase
from d9m.model.advice import Tool
from d9m.model.op_syntax import Direction

FRAMEWORKS = ("torch", "tensorflow", "jax")
"""Packages of the knowledge base whose ops can be run."""


ABOUT = "about.yaml"


class Probe(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One op, one way to call it. Expressions are Python 3.6; the worker evaluates them."""

    id: str = ""
    """``torch/index-add``: framework and the name in its file."""
    family: str = ""
    source: str | None = None
    """The record it exercises; none: an op that no record names."""
    op: str
    ask: str | None = None
    """The query item for the knowledge base, where `op` does not say all of the call."""
    direction: Direction = "forward"
    gradient: list[str] = []
    """Inputs whose gradients are compared."""
    devices: tuple[str, ...] = DEVICES
    dtypes: tuple[str, ...] = ("float32",)
    """All but the first only with ``--full``."""
    requires: str = ""
    """An expression that fails or is false in builds that lack the op."""
    inputs: dict[str, str]
    ladder: list[Rung]
    """Sizes, climbed until something varies; ``--quick`` stays on the first."""
    setup: str = ""
    call: str
    permute: dict[str, int] = {}
    """Input (``g``: upstream gradient, ``out``: result) -> axis shuffled: the same terms in another
    order.
    """
    reverse: dict[str, list[int]] = {}
    """As `permute`, turned round instead of shuffled."""
    control: dict[str, str] = {}
    """Inputs with which nothing can meet: whatever varies then is the prober's fault."""
    reference: bool = True
    """Whether double precision on the CPU gives the true value."""
    tolerance: float | None = None
    reseed: bool = False
    """Each repeat begins as a run does, with the settings made anew."""
    quick: bool = True

    @property
    def framework(self) -> str:
        return self.id.partition("/")[0]

    @property
    def item(self) -> str:
        """Return what to ask the knowledge base."""
        return f"{self.ask or self.op}:{self.direction}"


class Collective(Probe, frozen=True, kw_only=True):
    """An op of several processes, each with its own values."""

    ranks: int = 2
    """With fewer, nothing can be seen."""
    alike: bool = False
    """Whether every rank gets the same result."""


class ProbeList(msgspec.Struct, frozen=True):
    """The answer of `d9m check --list`."""

    schema_version: int
    d9m: Tool
    probes: list[Probe]
    """Probes of one process."""
    collectives: list[Collective]
    """Probes of several processes."""


class Together(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Settings for probes of several ranks: ``probes/<framework>/together/``."""

    vary: dict[str, list[str]] = {}
    """Variable -> values that are one more arm each on GPUs."""


class About(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Other facts about a framework: its ``about.yaml``."""

    fill: str | None = None
    """The setting that fills new memory with a known value; its statement takes True or False."""


class Selected(msgspec.Struct, frozen=True):
    """A probe in one element type."""

    probe: Probe
    dtype: str

    @property
    def key(self) -> str:
        return f"{self.probe.id} {self.dtype}"

    def exercise(self, rungs: list[Rung], turn: int = 0) -> Exercise:
        """Return what the worker gets. `turn`: another one makes other inputs."""
        return Exercise(key=self.key, dtype=self.dtype, turn=turn, rungs=rungs, probe=self.probe)


def framework_named(kb: KnowledgeBase, text: str) -> str:
    """Return the framework of a name or an alias. Raises UsageError for one without probes."""
    found = kb.meta.aliases.get(text.lower())
    if found not in FRAMEWORKS:
        raise UsageError(f"--framework {quote(text)}: d9m has no probes of it", allowed=FRAMEWORKS)
    return found


@functools.cache
def probes(framework: str) -> tuple[Probe, ...]:
    """Return all probes of a framework, a family after the other."""
    found: list[Probe] = []
    for file in sorted(_folder(framework).iterdir(), key=lambda file: file.name):
        if file.name.endswith(".yaml") and file.name != ABOUT:
            found += family(framework, file.name.removesuffix(".yaml"), file.read_text("utf-8"))
    return tuple(found)


def probe_list(kb: KnowledgeBase, found: Iterable[Probe]) -> ProbeList:
    """Return some probes as an answer."""
    alone: list[Probe] = []
    collective: list[Collective] = []
    for probe in found:
        if isinstance(probe, Collective):
            collective.append(probe)
        else:
            alone.append(probe)
    return ProbeList(SCHEMA_VERSION, Tool(__version__, kb.meta.date), alone, collective)


def exercised() -> set[str]:
    """Ids of the records that some probe exercises."""
    found: set[str] = set()
    for name in FRAMEWORKS:
        for probe in (*probes(name), *collectives(name)):
            if probe.source is not None:
                found.add(probe.source)
    return found


def _folder(framework: str) -> Traversable:
    return resources.files("d9m.check") / "probes" / framework


def about(framework: str) -> About:
    file = _folder(framework) / ABOUT
    return msgspec.convert(_loaded(file.read_text("utf-8")), About) if file.is_file() else About()


def family(framework: str, name: str, text: str) -> list[Probe]:
    """The probes of one file. Raises msgspec.ValidationError for one that is not a probe."""
    found: list[Probe] = []
    for probe, fields in _loaded(text).items():
        named = {**fields, "id": f"{framework}/{probe}", "family": name}
        found.append(msgspec.convert(named, Probe, strict=False))
    return found


@functools.cache
def collectives(framework: str) -> tuple[Collective, ...]:
    """The probes of several ranks; none for a framework whose processes d9m cannot bring
    together.
    """
    file = _folder(framework) / "together" / "collective.yaml"
    if not file.is_file():
        return ()
    found: list[Collective] = []
    for probe, fields in _loaded(file.read_text("utf-8")).items():
        named = {**fields, "id": f"{framework}/{probe}", "family": "collective"}
        found.append(msgspec.convert(named, Collective, strict=False))
    return tuple(found)


def together(framework: str) -> Together:
    file = _folder(framework) / "together" / ABOUT
    return msgspec.convert(_loaded(file.read_text("utf-8")), Together)


def group(framework: str) -> str:
    """The text that tells workers how to meet each other."""
    return (_folder(framework) / "together" / "group.py").read_text("utf-8")


def _loaded(text: str) -> dict[str, Any]:
    """YAML as strings: a loader that makes nothing else."""
    return yaml.load(text, Loader=getattr(yaml, "CBaseLoader", yaml.BaseLoader)) or {}  # noqa: S506


def adapter(framework: str) -> str:
    """Return the text that tells the worker how to meet a framework."""
    text = (_folder(framework) / "adapter.py").read_text("utf-8")
    if framework == "torch":
        return text
    return (_folder("arrays.py")).read_text("utf-8") + text
