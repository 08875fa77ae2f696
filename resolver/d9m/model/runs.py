"""A run of `d9m check` as a record: what one machine did, on one day, for others to cite as
``measured``.

``evidence/runs/<id>.json``, written by ``d9m check --evidence``.
"""

from __future__ import annotations

from typing import Any

from d9m.model.records import Record


class Gpu(Record, frozen=True):
    name: str
    driver: str
    compute_capability: str
    sm_count: int | None
    memory: int | None
    """Bytes; None where the driver does not tell."""
    mig: bool


class Bounds(Record, frozen=True):
    """How often a difference may still occur, unseen: one-sided, 95 %."""

    repeat: float
    start: float


class Seen(Record, frozen=True, kw_only=True):
    """One arm: the results of `differing` of `repeats` differ from the first."""

    repeats: int
    processes: int
    distinct: int
    differing: int
    changed: float = 0.0
    max_ulp: int | None = None
    seconds: float | None = None
    """Median of one call."""
    quartiles: tuple[float, float] | None = None
    """Between which half of the calls lie, in seconds."""
    raised: str | None = None
    failed: str | None = None


class Observation(Record, frozen=True, kw_only=True):
    """One probe of a run."""

    probe: str
    source: str | None
    op: str
    direction: str
    dtype: str
    case: dict[str, int]
    verdict: str
    reason: str | None = None
    expected: str | None = None
    kb: str = "silent"
    bounds: Bounds
    arms: dict[str, Seen]
    cost: float | None = None


class Run(Record, frozen=True, kw_only=True):
    schema_version: int
    tool: str
    kb_date: str
    date: str
    """Day, ISO 8601."""
    device: str
    cpu: str
    threads: int
    gpus: list[Gpu]
    container: str | None
    packages: dict[str, str]
    frameworks: dict[str, dict[str, Any]]
    settings: dict[str, str]
    """The settings of the advised arm."""
    interrupted: bool = False
    """It was stopped before its end: some verdicts are missing."""
    observations: list[Observation]


class DigestRecord(Record, frozen=True, kw_only=True):
    """The bits of one result with the advised settings, on which every repeat agreed."""

    probe: str
    dtype: str
    case: dict[str, int]
    digest: str
    repeats: int


class DigestFile(Record, frozen=True, kw_only=True):
    """Digests with the advised settings on one machine, for others like it to compare with.

    ``evidence/digests/<id>.json``, written by ``d9m check --digests``.
    """

    schema_version: int
    tool: str
    date: str
    """Day, ISO 8601."""
    device: str
    cpu: str
    packages: dict[str, str]
    frameworks: dict[str, dict[str, Any]]
    """The properties of each framework and of its device, as it reports them."""
    results: list[DigestRecord]
