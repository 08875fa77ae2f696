"""Several ranks at once: the same probes on every device, collectives between them, one report of
it all.
"""

from __future__ import annotations

import hashlib
import itertools
import platform
import threading
import time
from collections.abc import Iterable, Iterator, Sequence

import msgspec

from d9m.check import result as report
from d9m.check.examine import CheckRequest, advice_for
from d9m.check.judge.expect import expectations
from d9m.check.messages import GroupJob, GroupReadings, ProbeDeath, Reading, WorkerFault
from d9m.check.plan import arms, catalogue
from d9m.check.plan.arms import Arm
from d9m.check.plan.catalogue import Collective, Selected
from d9m.check.plan.effort import Effort
from d9m.check.ranks.meeting import Rank
from d9m.check.ranks.odd import odd
from d9m.check.result import ProbeResult, RankDevice, Report
from d9m.check.workers.launch import START, events
from d9m.check.workers.look import Machine
from d9m.check.workers.run import Readings, Watch
from d9m.environment.environment import describe
from d9m.kb.store import KnowledgeBase

PATIENCE = 300.0
"""Seconds that a rank waits for the others at most."""

SLOWER = 90.0
"""Seconds that another rank may need, at first, beyond twice the time that this one took: they
import and probe at their own pace, but they run the same probes.
"""

LOCKSTEP = 120.0
"""The same when they were connected before, and ended that meeting together."""

TWICE = ("default", "advised")
"""Arms of which several processes are compared."""

FRAMEWORK = "torch"
"""The one whose processes can be brought together."""


class Meeting(msgspec.Struct, frozen=True):
    """One process of every rank, at the same time."""

    arm: Arm
    number: int


class MeetingResult(msgspec.Struct, frozen=True):
    """The result of a meeting; empty on every rank but the first."""

    meeting: Meeting
    reports: list[str] = []
    """Of every rank, as JSON."""
    readings: dict[str, list[Reading]] = {}
    """Key of a probe -> what each rank saw."""
    failed: str = ""


def unite(
    kb: KnowledgeBase,
    question: CheckRequest,
    machine: Machine,
    rank: Rank,
    own: Report,
    watch: Watch,
) -> Report | None:
    """The report on all ranks; None on every rank but the first.

    A rank that does not answer is a note in the report. The others wait for it once, at most as
    long as `patience` says."""
    began = time.monotonic()
    asked = msgspec.structs.replace(machine.asked, device=own.device)
    environment = describe(kb, asked)
    if own.interrupted:
        return own if rank.number == 0 else None
    if FRAMEWORK not in environment.packages:
        note = (
            f"collectives need {FRAMEWORK}, which is not installed here: each rank was checked "
            "separately"
        )
        return _with(own, [], [], [note], lost=1) if rank.number == 0 else None
    every = [probe for probe in catalogue.collectives(FRAMEWORK) if own.device in probe.devices]
    chosen = [Selected(probe, probe.dtypes[0]) for probe in every if probe.ranks <= rank.size]
    several = arms.arms(
        kb,
        environment,
        advice_for(kb, asked, chosen, question.request.ops),
        FRAMEWORK,
        machine.variables,
    )
    several = [*(arm for arm in several if arm.name in TWICE), *_varied(several[0], own.device)]
    text = msgspec.json.encode(_signed(own, rank)).decode()
    held: list[MeetingResult] = []
    try:
        for meeting in _meetings(several, question.effort):
            watch(f"{meeting.arm.name}: waiting for {rank.size} ranks")
            most = LOCKSTEP if meeting.number else patience(own.seconds)
            held.append(_meet(question, rank, meeting, chosen, own.device, text, most))
            if held[-1].failed:
                break  # the others wait in vain once, not in every meeting that is left
    except KeyboardInterrupt:
        own = msgspec.structs.replace(own, interrupted=True)
    if rank.number:
        return None
    expected = expectations(kb, asked, [selected.probe for selected in chosen])
    results = report.results(chosen, several, Readings(_by_arm(held)), own.device, expected)
    first = held[0] if held else MeetingResult(Meeting(several[0], 0))
    notes = [*_failures(held), *_unlike(chosen, first.readings), *_idle(every, rank)]
    reports = [msgspec.json.decode(sent, type=Report) for sent in first.reports]
    lost = len(chosen) if any(result.failed for result in held) else 0
    found = _with(own, results, reports, notes, lost)
    return msgspec.structs.replace(found, seconds=round(own.seconds + time.monotonic() - began, 1))


def patience(took: float) -> float:
    """Seconds to wait for the first meeting, of a rank whose own probes took so many."""
    return min(PATIENCE, took + SLOWER)


def _with(
    own: Report,
    results: Sequence[ProbeResult],
    every: Sequence[Report],
    notes: Sequence[str],
    lost: int,
) -> Report:
    """`lost`: collectives that the ranks could not run to the end.

    What another rank could not run was not compared with it, either."""
    probes = [*own.probes, *results]
    summary = report.summary(probes)
    elsewhere = [other.summary.could_not_run for other in every]
    could_not_run = max(lost, summary.could_not_run, *elsewhere)
    return msgspec.structs.replace(
        own,
        probes=probes,
        summary=msgspec.structs.replace(summary, could_not_run=could_not_run),
        ranks=list(itertools.chain.from_iterable(other.ranks for other in every)),
        odd=odd(every),
        notes=[*own.notes, *_unproved(every), *notes],
    )


def _unproved(every: Iterable[Report]) -> Iterator[str]:
    for other in every:
        number = other.ranks[0].number if other.ranks else 0
        if number and other.summary.could_not_run:
            count = other.summary.could_not_run
            yield f"rank {number}: {count} result{'s' * (count != 1)} without a conclusion"


def _signed(own: Report, rank: Rank) -> Report:
    """A rank's own report, saying whose it is."""
    name = own.frameworks.get(FRAMEWORK, {}).get("device") or own.host.cpu
    return msgspec.structs.replace(
        own, ranks=[RankDevice(rank.number, platform.node(), rank.local, str(name))]
    )


def _by_arm(held: Iterable[MeetingResult]) -> dict[str, dict[str, list[Reading]]]:
    found: dict[str, dict[str, list[Reading]]] = {}
    for result in held:
        for key, several in result.readings.items():
            found.setdefault(result.meeting.arm.name, {}).setdefault(key, []).append(
                joined(several)
            )
    return found


def _failures(held: Iterable[MeetingResult]) -> Iterator[str]:
    for result in held:
        if result.failed:
            arm = result.meeting.arm.name
            yield f"{arm}: the ranks lost contact, and nothing more was tried: {result.failed}"


def _idle(every: Iterable[Collective], rank: Rank) -> Iterator[str]:
    for collective in every:
        if collective.ranks > rank.size:
            yield (
                f"{collective.id}: not run, {rank.size} ranks cannot show anything "
                f"(it takes {collective.ranks})"
            )


def _varied(default: Arm, device: str) -> list[Arm]:
    """Arms besides the usual ones: a variable at each of its values."""
    found: list[Arm] = []
    vary = {} if device == "cpu" else catalogue.together(FRAMEWORK).vary
    for name, values in vary.items():
        unset = [variable for variable in default.unset if variable != name]
        for value in values:
            found.append(Arm(f"{name}={value}", {**default.env, name: value}, unset))
    return found


def _meetings(several: Sequence[Arm], effort: Effort) -> list[Meeting]:
    """Every process that a rank starts, in the same order on each."""
    order = list(several)
    repeated = [arm for arm in several if arm.name in TWICE]
    for _replica in range(1, effort.processes):
        order += repeated
    return [Meeting(arm, number) for number, arm in enumerate(order)]


def _meet(
    question: CheckRequest,
    rank: Rank,
    meeting: Meeting,
    chosen: Sequence[Selected],
    device: str,
    text: str,
    most: float,
) -> MeetingResult:
    job = GroupJob(
        env=meeting.arm.env, unset=meeting.arm.unset, limit=question.limit,
        adapter=catalogue.adapter(FRAMEWORK), device=device, threads=None, memory=None,
        statements=meeting.arm.statements,
        # Not as many as fit: the slower ranks would make fewer calls, and the others wait for those
        # that never come.
        repeats=question.effort.calls, budget=PATIENCE, proofs=False,
        probes=[
            selected.exercise(selected.probe.ladder[:1], 1000 * rank.number) for selected in chosen
        ],
        group=catalogue.group(FRAMEWORK), rank=rank.number, size=rank.size, meeting=meeting.number,
        patience=most, text=text,
    )  # fmt: skip
    found = MeetingResult(meeting)
    for event in events(question.launcher, job, threading.Event(), START + most):
        if isinstance(event, GroupReadings):
            found = MeetingResult(meeting, event.reports, event.readings)
        elif isinstance(event, (WorkerFault, ProbeDeath)):
            return MeetingResult(meeting, failed=event.why)
    return found


def joined(readings: Sequence[Reading]) -> Reading:
    """Return what all ranks saw in one meeting, as one: it varied if it varied for any of them."""
    idle = next((reading for reading in readings if not reading.ran), None)
    if idle is not None:
        return idle
    restless = max(readings, key=lambda reading: len(reading.digests))
    if len(restless.digests) > 1:
        return restless
    digests = " ".join(digest for reading in readings for digest in reading.digests)
    together = hashlib.sha256(digests.encode()).hexdigest()[:24]
    return msgspec.structs.replace(restless, digests={together: restless.repeats})


def _unlike(chosen: Sequence[Selected], readings: dict[str, list[Reading]]) -> list[str]:
    """Collectives that gave ranks different results of what is one."""
    found: list[str] = []
    for selected in chosen:
        results = {tuple(reading.digests) for reading in readings.get(selected.key, ())}
        if isinstance(selected.probe, Collective) and selected.probe.alike and len(results) > 1:
            found.append(f"{selected.probe.id}: the ranks hold different results of the same call")
    return found
