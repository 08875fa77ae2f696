"""Several ranks at once: the same probes on every device, collectives between them, one report of it all."""

from __future__ import annotations

import hashlib
import platform
import threading
from collections.abc import Iterable, Sequence
from typing import Any

import msgspec

from d9m.check import report
from d9m.check.examine import Question, advice_for
from d9m.check.judge.expect import expectations
from d9m.check.judge.observe import Found
from d9m.check.plan import arms, catalogue
from d9m.check.plan.arms import Arm
from d9m.check.plan.catalogue import Collective, Selected
from d9m.check.ranks import compare
from d9m.check.ranks.meeting import Rank
from d9m.check.report import ProbeResult, RankSeen, Report
from d9m.check.workers.launch import START, events
from d9m.check.workers.look import Seen
from d9m.check.workers.run import Effort, Told, Watch
from d9m.environment.environment import describe
from d9m.kb.store import KnowledgeBase

PATIENCE = 300.0
"""Seconds a rank waits for the others: they import at their own pace."""

TWICE = ("default", "advised")
"""Arms of which several processes are compared."""

FRAMEWORK = "torch"
"""The one whose processes can be brought together."""


class Meeting(msgspec.Struct, frozen=True):
    """One process of every rank, at the same time."""

    arm: Arm
    number: int


class Met(msgspec.Struct, frozen=True):
    """What came of a meeting; on every rank but the first, nothing."""

    reports: list[str] = []
    """Of every rank, as JSON."""
    told: dict[str, list[Found]] = {}
    """Key of a probe -> what each rank saw."""
    failed: str = ""


def unite(kb: KnowledgeBase, question: Question, seen: Seen, rank: Rank, own: Report, watch: Watch) -> Report | None:
    """The report on all ranks; None on every rank but the first.

    A rank that does not answer is a note in the report: nobody waits longer than `PATIENCE`.
    """
    asked = msgspec.structs.replace(seen.asked, device=own.device)
    environment = describe(kb, asked)
    if FRAMEWORK not in environment.packages:
        note = f"ranks are brought together by {FRAMEWORK}, which is not installed here: each was left alone"
        return msgspec.structs.replace(own, notes=[*own.notes, note]) if rank.number == 0 else None
    every = [each for each in catalogue.collectives(FRAMEWORK) if own.device in each.devices]
    chosen = [Selected(each, each.dtypes[0]) for each in every if each.ranks <= rank.size]
    several = arms.arms(kb, environment, advice_for(kb, asked, chosen, question.ops), FRAMEWORK, seen.variables)
    several = [*(each for each in several if each.name in TWICE), *_varied(several[0], own.device)]
    text = msgspec.json.encode(_signed(own, rank)).decode()
    met: list[tuple[Meeting, Met]] = []
    for meeting in _meetings(several, question.effort):
        met.append((meeting, _meet(question, rank, meeting, chosen, own.device, text)))
        watch(f"{meeting.arm.name}: {rank.size} ranks")
        if met[0][1].failed:
            break
    if rank.number:
        return None
    told = Told(_by_arm(met), {}, {}, False, {})
    expected = expectations(kb, asked, [each.probe for each in chosen])
    results = report.results(chosen, several, told, own.device, expected)
    notes = [*_failures(met), *_unlike(chosen, met[0][1].told), *_idle(every, rank)]
    return _with(own, results, [msgspec.json.decode(each, type=Report) for each in met[0][1].reports], notes)


def _with(own: Report, results: Sequence[ProbeResult], every: Sequence[Report], notes: Sequence[str]) -> Report:
    probes = [*own.probes, *results]
    return msgspec.structs.replace(
        own,
        probes=probes,
        summary=report.summary(probes),
        ranks=[one for each in every for one in each.ranks],
        odd=compare.odd(every),
        notes=[*own.notes, *notes],
    )


def _signed(own: Report, rank: Rank) -> Report:
    """A rank's own report, saying whose it is."""
    name = own.frameworks.get(FRAMEWORK, {}).get("device") or own.host.cpu
    return msgspec.structs.replace(own, ranks=[RankSeen(rank.number, platform.node(), rank.local, str(name))])


def _by_arm(met: Iterable[tuple[Meeting, Met]]) -> dict[str, dict[str, list[Found]]]:
    found: dict[str, dict[str, list[Found]]] = {}
    for meeting, each in met:
        for key, told in each.told.items():
            found.setdefault(meeting.arm.name, {}).setdefault(key, []).append(joined(told))
    return found


def _failures(met: Iterable[tuple[Meeting, Met]]) -> list[str]:
    return [f"{meeting.arm.name}: the ranks did not meet: {each.failed}" for meeting, each in met if each.failed]


def _idle(every: Iterable[Collective], rank: Rank) -> list[str]:
    return [
        f"{each.id}: not run, {rank.size} ranks cannot show anything (it takes {each.ranks})"
        for each in every
        if each.ranks > rank.size
    ]


def _varied(default: Arm, device: str) -> list[Arm]:
    """Arms beside the usual ones: a variable at each of its values."""
    if device == "cpu":
        return []
    return [
        Arm(f"{name}={value}", {**default.env, name: value}, [each for each in default.unset if each != name])
        for name, values in catalogue.together(FRAMEWORK).vary.items()
        for value in values
    ]


def _meetings(several: Sequence[Arm], effort: Effort) -> list[Meeting]:
    """Every process that a rank starts, in the same order on each."""
    order = [arm for replica in range(effort.processes) for arm in several if replica == 0 or arm.name in TWICE]
    return [Meeting(arm, number) for number, arm in enumerate(order)]


def _meet(question: Question, rank: Rank, meeting: Meeting, chosen: Sequence[Selected], device: str, text: str) -> Met:
    job: dict[str, Any] = {
        "kind": "together",
        "adapter": catalogue.adapter(FRAMEWORK), "group": catalogue.group(FRAMEWORK),
        "rank": rank.number, "size": rank.size, "meeting": meeting.number, "patience": PATIENCE, "text": text,
        "device": device, "threads": None, "memory": None,
        "env": meeting.arm.env, "unset": meeting.arm.unset, "statements": meeting.arm.statements,
        # Not as many as fit: the slower ranks would make fewer calls, and the others wait for those that never come.
        "repeats": question.effort.calls, "budget": PATIENCE, "proofs": False, "limit": question.limit,
        "probes": [each.job(each.probe.ladder[:1], 1000 * rank.number) for each in chosen],
    }  # fmt: skip
    met = Met([], {})
    for event in events(question.launcher, job, threading.Event(), START + PATIENCE):
        if event["event"] == "together":
            met = Met(event["reports"], event["told"])
        elif event["event"] in ("broken", "dead"):
            return Met([], {}, event["why"])
    return met


def joined(told: Sequence[Found]) -> Found:
    """What all ranks saw in one meeting, as one: it varied if it varied for any of them."""
    ran = [each for each in told if "digests" in each]
    if len(ran) < len(told):
        return next(each for each in told if "digests" not in each)
    most = max(ran, key=lambda each: len(each["digests"]))
    if len(most["digests"]) > 1:
        return most
    together = hashlib.sha256(" ".join(next(iter(each["digests"])) for each in ran).encode()).hexdigest()[:24]
    return {**most, "digests": {together: most["repeats"]}}


def _unlike(chosen: Sequence[Selected], told: dict[str, list[Found]]) -> list[str]:
    """Collectives that gave ranks different results of what is one."""
    return [
        f"{each.probe.id}: the ranks hold different results of the same call"
        for each in chosen
        if isinstance(each.probe, Collective)
        and each.probe.alike
        and len({tuple(one.get("digests", ())) for one in told.get(each.key, ())}) > 1
    ]
