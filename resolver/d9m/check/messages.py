"""The messages between the check and its workers.

A job goes to a worker as one JSON object; a worker answers with events, a line each. A line that is
an answer begins with the token of its job: anything else on a worker's stdout is a banner,
or the program's own output."""

from __future__ import annotations

import secrets
from typing import Any, TypeAlias

import msgspec

from d9m.files import UNREADABLE

Rung: TypeAlias = dict[str, int]
"""Sizes by name."""


class Exercise(msgspec.Struct, frozen=True, kw_only=True):
    """A probe in one element type, as a worker gets it."""

    key: str
    """Probe and type: the name under which its result comes back."""
    dtype: str
    turn: int
    """Another one makes other inputs."""
    rungs: list[Rung]
    probe: Any
    """The probe itself, of which the worker reads what it needs."""


class WorkerJob(msgspec.Struct, frozen=True, kw_only=True, tag_field="kind"):
    """A job for a worker, and the environment in which it runs."""

    env: dict[str, str] = {}
    unset: list[str] = []
    limit: float = 60.0
    """Seconds for one probe."""
    token: str = msgspec.field(default_factory=lambda: secrets.token_hex(8))
    parent: int | None = None
    """The process with which a worker on this machine ends."""


class SurveyJob(WorkerJob, frozen=True, kw_only=True, tag="survey"):
    """Say what is installed and set there."""

    text: str
    """The program that looks: `environment/survey.py`."""
    distributions: list[str]
    variables: list[str]
    drivers: list[str]


class ProbeJob(WorkerJob, frozen=True, kw_only=True, tag="probe"):
    """Run probes, one after the other."""

    adapter: str
    """Source text: how the worker meets the framework."""
    device: str
    threads: int | None
    """None: as many as the framework chooses."""
    memory: int | None
    """Bytes beyond what the framework itself takes; None: any number."""
    statements: list[tuple[list[str], str, bool]]
    """Imports, the line to run after them, and whether that comes before the framework's import."""
    repeats: int
    budget: float
    """Seconds for the repeats of one probe."""
    seconds: float | None = None
    """For the whole process: where it runs short, probes get fewer repeats. None: any number."""
    proofs: bool
    probes: list[Exercise]


class GroupJob(ProbeJob, frozen=True, kw_only=True, tag="group"):
    """Run probes in which the workers of several ranks take part."""

    group: str
    """Source text: how the workers meet each other."""
    rank: int
    size: int
    meeting: int
    patience: float
    """Seconds that a rank waits for the others to come."""
    text: str
    """This rank's report, for the first rank."""


class Deviation(msgspec.Struct, frozen=True):
    """The distance of a result from double precision on the CPU."""

    error: float | None
    """Largest error over the largest true value; None: one is a number where the other is not."""
    norm: float
    """A fingerprint of the true value."""


class Reading(msgspec.Struct, frozen=True, kw_only=True):
    """One process's results of a probe. Without `digests` it did not run; a text says why."""

    digests: dict[str, int] = {}
    """Result -> how often it came, the first one first."""
    rung: Rung = {}
    changed: float = 0.0
    """Largest share of elements that differ between two results."""
    max_ulp: int | None = None
    seconds: float | None = None
    """Median of a call."""
    quartiles: tuple[float, float] | None = None
    """Between which half of the calls lie, in seconds."""
    raised: str | None = None
    failed: str | None = None
    """How its process ended."""
    absent: str | None = None
    control: int | None = None
    """Distinct results where nothing can vary."""
    planted: bool | None = None
    moved: bool | None = None
    reference: Deviation | None = None
    took: float = 0.0
    """Seconds for all of it, and of that inside the op."""
    in_ops: float = 0.0
    chosen: bool = False
    """The rung was chosen by this very reading, which proves a difference and counts for no rate.
    """

    @property
    def ran(self) -> bool:
        return bool(self.digests)

    @property
    def repeats(self) -> int:
        return sum(self.digests.values())


class WorkerEvent(msgspec.Struct, frozen=True, kw_only=True, tag_field="event"):
    """Something that a worker said, or that became of it."""


class Survey(WorkerEvent, frozen=True, kw_only=True, tag="survey"):
    versions: dict[str, str]
    variables: dict[str, str]
    drivers: list[str]
    python: str
    cores: int
    memory: int | None
    """Bytes that are free there; None: the system does not say."""


class WorkerStart(WorkerEvent, frozen=True, kw_only=True, tag="ready"):
    """The framework is imported, the settings are made."""

    facts: dict[str, Any]
    seconds: float


class ProbeStart(WorkerEvent, frozen=True, kw_only=True, tag="start"):
    key: str


class ProbeReading(WorkerEvent, frozen=True, kw_only=True, tag="reading"):
    key: str
    reading: Reading


class GroupReadings(WorkerEvent, frozen=True, kw_only=True, tag="group"):
    """To the first rank: what all of them saw."""

    reports: list[str]
    readings: dict[str, list[Reading]]
    """Key of a probe -> what each rank saw."""


class WorkerEnd(WorkerEvent, frozen=True, kw_only=True, tag="end"):
    """The end: all is done."""


class WorkerFault(WorkerEvent, frozen=True, kw_only=True, tag="fault"):
    """It never got to its probes."""

    why: str


class ProbeDeath(WorkerEvent, frozen=True, kw_only=True, tag="death"):
    """A probe took its process down."""

    key: str
    why: str


_DECODER = msgspec.json.Decoder(
    Survey | WorkerStart | ProbeStart | ProbeReading | GroupReadings | WorkerEnd | WorkerFault
)


def read(line: str, token: str) -> WorkerEvent | None:
    """The event of a line; None: it is not an answer. What an answer cannot be decoded to breaks
    the worker.
    """
    start, _blank, text = line.partition(" ")
    if start != token:
        return None
    try:
        return _DECODER.decode(text)
    except (*UNREADABLE, UnicodeEncodeError) as error:
        return WorkerFault(why=f"its answer cannot be read: {error}")
