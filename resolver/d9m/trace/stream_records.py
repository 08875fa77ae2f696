"""The records of a stream, as `folder` describes them: a letter, then fields in order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import msgspec

Plain: TypeAlias = str | int | float | bool | None
Name: TypeAlias = str | int

JITTED = "jit"
"""The phase of a site that is a whole jitted function of JAX."""

PRIMITIVE = "jax::"
"""How the op of a site begins that is a primitive of JAX; what JAX calls it follows."""


class StreamHeader(msgspec.Struct, frozen=True, kw_only=True):
    """The first line: what recorded, how, and on what."""

    d9m_trace: int
    level: str
    inputs: str = "exact"
    digest: str
    steps: tuple[int | None, int | None] = (None, None)
    every: int = 1
    modules: tuple[str, ...] = ()
    compiled: str = "as-is"
    rank: int = 0
    process: int = 0
    argv: tuple[str, ...] = ()
    python: str | None = None
    packages: dict[str, str] = {}
    versions: dict[str, str] = {}
    """Of all installed distributions."""
    cpu: str | None = None
    instructions: str | None = None
    device: str | None = None
    gpu: str | None = None
    threads: int | None = None
    pid: int | None = None
    hashseed: str | None = None
    env: dict[str, str] = {}
    deterministic: dict[str, Plain] = {}
    generators: dict[str, str] = {}
    samples: bool = False


class StreamEnd(msgspec.Struct, frozen=True):
    """The last line of a process that ended normally."""

    ended: str
    steps: int | None = None
    lines: int | None = None
    """Before it: a file that lost some is damaged."""


class _Letter(msgspec.Struct, frozen=True, array_like=True):
    pass


class Site(_Letter, frozen=True, tag="S"):
    """A place where ops are called: written once, then named by its number."""

    number: int
    op: str
    overload: str
    phase: str
    node: str | None
    module: str | None
    source: tuple[str, int, str] | None
    shapes: tuple[str, ...]
    device: str | None
    callers: tuple[tuple[str, int, str], ...] = ()
    """Lines that led to the source, the nearest first."""


class ModuleName(_Letter, frozen=True, tag="M"):
    number: Name
    name: str


class ParameterNames(_Letter, frozen=True, tag="P"):
    """Of the parameters of the sums that follow, in their order."""

    names: tuple[str, ...]


class CalledOp(_Letter, frozen=True, tag="o"):
    site: int
    arguments: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    generator: tuple[Name, str] | None = None


class ReadValue(_Letter, frozen=True, tag="v"):
    """A value that the program took out of a tensor."""

    site: int
    text: str


class ModuleOutputs(_Letter, frozen=True, tag="m"):
    module: Name
    digests: tuple[str, ...]


class ModuleGradients(_Letter, frozen=True, tag="h"):
    module: Name
    digests: tuple[str, ...]


class GraphInputs(_Letter, frozen=True, tag="c"):
    name: Name
    digests: tuple[str, ...]


class GraphOutputs(_Letter, frozen=True, tag="e"):
    name: Name
    digests: tuple[str, ...]


class CalledCollective(_Letter, frozen=True, tag="k"):
    op: str
    group: Name
    number: int
    inputs: tuple[str, ...]
    writes: tuple[int, ...] = ()


class BatchIndices(_Letter, frozen=True, tag="x"):
    loader: Name
    digest: str


class BatchContent(_Letter, frozen=True, tag="b"):
    loader: Name
    digests: tuple[str, ...]


class Losses(_Letter, frozen=True, tag="l"):
    """The tensors on which `backward` was called."""

    digests: tuple[str, ...]


class Sums(_Letter, frozen=True):
    """A digest of all, and each one's, where those were recorded."""

    whole: str
    digests: tuple[str, ...] = ()


class InitialParameters(Sums, frozen=True, tag="i"):
    pass


class Gradients(Sums, frozen=True, tag="g"):
    pass


class UpdatedParameters(Sums, frozen=True, tag="p"):
    pass


class StepEnd(_Letter, frozen=True, tag="d"):
    step: int
    generators: dict[str, str]
    rule: str = ""


class ChangedSettings(_Letter, frozen=True, tag="t"):
    deterministic: dict[str, Plain]
    threads: int | None = None


class Blindness(_Letter, frozen=True, tag="u"):
    """Something could not be seen from here on."""

    why: str


class TensorSample(_Letter, frozen=True, tag="z"):
    """Sizes of a tensor's finite elements, in float64, and some of its elements."""

    digest: str
    about: str
    count: int
    norm: float
    most: float
    mean: float
    odd: tuple[int, int, int]
    """Elements that are NaN, inf and -inf."""
    values: tuple[float | None, ...]
    """None: not finite."""


class KeptCall(_Letter, frozen=True, tag="w"):
    """The folder in `zoom/` with the values of the op that comes next."""

    folder: str


Beside: TypeAlias = TensorSample | KeptCall

StreamRecord: TypeAlias = (
    CalledOp
    | ReadValue
    | ModuleOutputs
    | ModuleGradients
    | GraphInputs
    | GraphOutputs
    | CalledCollective
    | BatchIndices
    | BatchContent
    | Losses
    | InitialParameters
    | Gradients
    | UpdatedParameters
    | StepEnd
)

Key: TypeAlias = tuple[str | int | Sequence[str] | None, ...]
"""Key that two records must share to be compared with each other."""


def site_key(site: Site) -> Key:
    """Without the line: an edited file still aligns."""
    function = site.source[2] if site.source else None
    return (
        "o",
        site.op,
        site.overload,
        site.phase,
        site.node,
        site.module,
        function,
        site.shapes,
        site.device,
    )


def named_arguments(text: str) -> dict[str, str]:
    """The arguments of a call by name: ``dim=[0, 1], alpha=2`` are two.

    >>> named_arguments("dim=[0, 1], alpha=2")
    {'dim': '[0, 1]', 'alpha': '2'}
    """
    parts: list[str] = []
    depth, begin = 0, 0
    for at, letter in enumerate(text):
        depth += (letter in "([{") - (letter in ")]}")
        if letter == "," and depth == 0:
            parts.append(text[begin:at])
            begin = at + 1
    parts.append(text[begin:])
    named = (part.strip().partition("=") for part in parts if part.strip())
    return {name: value for name, _equals, value in named}
