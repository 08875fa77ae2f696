"""The whole check: look at the machine, compare its settings, run the probes, judge them."""

from __future__ import annotations

import itertools
import time
from collections.abc import Sequence

import msgspec

from d9m.about import SCHEMA_VERSION
from d9m.api import advise
from d9m.check import host, settings, trust
from d9m.check import result as report
from d9m.check.against import DigestReference, hold, narrowed, require_releases
from d9m.check.against import asked as asked_of
from d9m.check.judge.expect import expectations
from d9m.check.plan import arms, catalogue
from d9m.check.plan.catalogue import Selected
from d9m.check.plan.effort import Effort
from d9m.check.plan.selection import ProbeRequest, select
from d9m.check.result import ProbeResult, Report
from d9m.check.workers.launch import Launcher
from d9m.check.workers.look import Machine
from d9m.check.workers.run import Plan, Readings, Watch, run
from d9m.environment.environment import Environment, Setup, describe
from d9m.errors import AbsentError, UsageError, quote
from d9m.kb.store import KnowledgeBase
from d9m.model.advice import Advice


class CheckRequest(msgspec.Struct, frozen=True):
    launcher: Launcher
    device: str | None
    frameworks: Sequence[str]
    """Empty: all that are installed there."""
    request: ProbeRequest
    effort: Effort
    limit: float = 60.0
    reference: DigestReference | None = None
    """Only what it has a digest of is run, at the same sizes."""
    more: Sequence[arms.Arm] = ()
    """Arms in addition to the usual ones: a single setting each, say."""


class FrameworkRun(msgspec.Struct, frozen=True):
    """One framework, as far as it was run."""

    framework: str
    selected: Sequence[Selected]
    arms: Sequence[arms.Arm]
    readings: Readings


def frameworks(kb: KnowledgeBase, machine: Machine, wanted: Sequence[str]) -> list[str]:
    """The installed frameworks that have probes.

    Raises AbsentError for one that is asked for and absent, UsageError for what is not a framework.
    """
    here = describe(kb, machine.asked).packages
    found = [name for name in catalogue.FRAMEWORKS if name in here]
    if not found:
        raise AbsentError(
            "no framework that d9m can probe is installed here", tip="try --python PATH or --runner"
        )
    named = {catalogue.framework_named(kb, word): word for word in wanted}
    for name, word in named.items():
        if name not in found:
            raise AbsentError(f"{word} is not installed here; found: {', '.join(found)}")
    return [name for name in found if not wanted or name in named]


def examine(kb: KnowledgeBase, question: CheckRequest, machine: Machine, watch: Watch) -> Report:
    """Raises AbsentError where nothing can be run, UsageError for an op that has no probe here."""
    began = time.monotonic()
    device = question.device or machine.asked.device or "cpu"
    if device not in ("cpu", machine.asked.device):
        here = "only its CPU" if machine.asked.device in (None, "cpu") else machine.asked.device
        raise AbsentError(f"no {device} device here: this machine has {here}")
    wanted = frameworks(kb, machine, question.frameworks)
    try:
        found, notes = _on(kb, question, machine, wanted, device, watch), list[str]()
    except AbsentError as error:
        if question.device is not None or device == "cpu":
            raise
        notes = [f"{error.what}; the CPU was probed instead"]
        found = _on(kb, question, machine, wanted, "cpu", watch)
    return msgspec.structs.replace(
        found,
        notes=[*notes, *found.notes],
        seconds=round(time.monotonic() - began, 1),
    )


def settings_alone(
    kb: KnowledgeBase, question: CheckRequest, machine: Machine, running: bool
) -> Report:
    """The settings against the advice; nothing is run. `running`: they are those of a process that
    runs now.

    Raises AbsentError where no package is found that the knowledge base knows, UsageError for an
    unknown op."""
    began = time.monotonic()
    asked = msgspec.structs.replace(
        machine.asked, device=question.device or machine.asked.device or "cpu"
    )
    environment = describe(kb, asked)
    if not environment.packages:
        raise AbsentError(
            "nothing is installed here that the knowledge base knows", tip="try --python PATH"
        )
    advice = advise(kb, asked, question.request.ops)
    found = _report(kb, environment, advice, machine, (), running)
    return msgspec.structs.replace(
        found, settings_only=True, seconds=round(time.monotonic() - began, 1)
    )


def _on(
    kb: KnowledgeBase,
    question: CheckRequest,
    machine: Machine,
    wanted: Sequence[str],
    device: str,
    watch: Watch,
) -> Report:
    asked = msgspec.structs.replace(machine.asked, device=device)
    environment = describe(kb, asked)
    every = list(itertools.chain.from_iterable(map(catalogue.probes, wanted)))
    request, reference = question.request, question.reference
    if reference is None:
        selected = select(kb, environment, every, request)
    else:
        require_releases(reference, environment)
        request = ProbeRequest(request.ops, full=True)  # every type that it may have bits of
        selected = select(kb, environment, every, request)
        reference = asked_of(reference, wanted, None if request.ops is None else selected)
        selected = narrowed(selected, reference)
    if not selected:
        held = f" and has digests in {quote(reference.file)}" if reference is not None else ""
        raise AbsentError(f"no probe of {', '.join(wanted)} runs on {device}{held}")
    advice = advice_for(kb, asked, selected, question.request.ops)
    runs: list[FrameworkRun] = []
    for name in wanted:
        own = [chosen for chosen in selected if chosen.probe.framework == name]
        if own and not any(one.readings.interrupted for one in runs):
            runs.append(_run(kb, question, environment, advice, machine, own, watch))
    broken: list[str] = []
    for one in runs:
        if "default" in one.readings.broken:
            broken.append(f"{one.framework}: {one.readings.broken['default']}")
    if len(broken) == len(runs):
        raise AbsentError(f"nothing can be probed here. {'; '.join(broken)}")
    found = _report(kb, environment, advice, machine, runs)
    if reference is None:
        return found
    return msgspec.structs.replace(found, against=hold(found, reference))


def _report(
    kb: KnowledgeBase,
    environment: Environment,
    advice: Advice,
    machine: Machine,
    runs: Sequence[FrameworkRun],
    running: bool = False,
) -> Report:
    device, asked = (
        environment.device,
        msgspec.structs.replace(machine.asked, device=environment.device),
    )
    facts = {one.framework: one.readings.facts for one in runs}
    selected = itertools.chain.from_iterable(one.selected for one in runs)
    expected = expectations(kb, asked, [chosen.probe for chosen in selected])
    results: list[ProbeResult] = []
    notes: list[str] = []
    left_out: dict[str, None] = {}
    for one in runs:
        results += report.results(one.selected, one.arms, one.readings, device, expected)
        notes += [f"{one.framework}, {arm}: {why}" for arm, why in one.readings.broken.items()]
        for arm in one.arms:
            left_out.update(dict.fromkeys(arm.left_out))
    missed = trust.missed(results)
    if missed:
        results = trust.withheld(results, "the probes cannot be trusted here")
        notes.insert(
            0, f"No verdict is given, because this does not hold here: {'; '.join(missed)}"
        )
    here: dict[str, str] = {}
    for name, package in environment.packages.items():
        if package.origin != "wheel":
            here[name] = package.version or "?"
    return Report(
        schema_version=SCHEMA_VERSION,
        d9m=report.tool(advice.d9m.kb_date),
        host=host.look(here, asked.container, machine.asked.device or "cpu", facts, machine.cores),
        settings=settings.compare(kb, environment, advice, machine.variables, running),
        probes=results,
        summary=report.summary(results),
        device=device,
        frameworks=facts,
        left_out=list(left_out),
        notes=notes,
        interrupted=any(one.readings.interrupted for one in runs),
        worker_seconds={name: _seconds(runs, name) for name in ("imports", "probes", "ops")},
        newer=_newer(environment),
    )


def _seconds(runs: Sequence[FrameworkRun], name: str) -> float:
    return round(sum(one.readings.seconds[name] for one in runs), 1)


def _newer(environment: Environment) -> dict[str, str]:
    """Packages that are newer than every release on record, with that release."""
    found: dict[str, str] = {}
    for name, package in environment.packages.items():
        if package.candidates.how == "newer":
            found[name] = package.candidates.releases[-1]
    return found


def advice_for(
    kb: KnowledgeBase, asked: Setup, selected: Sequence[Selected], ops: list[str] | None
) -> Advice:
    """The advice that an advised arm follows: for the ops that were named, or for all of them."""
    advice = advise(kb, asked, _items(kb, asked, selected) if ops is not None else None)
    return arms.with_switches(kb, describe(kb, asked), advice)


def _items(kb: KnowledgeBase, asked: Setup, selected: Sequence[Selected]) -> list[str]:
    """Return what `d9m advise --ops` would be asked for these probes: ops that this release
    knows.
    """
    kept: list[str] = []
    for item in dict.fromkeys(chosen.probe.item for chosen in selected):
        try:
            advise(kb, asked, [item])
        except UsageError:
            continue
        kept.append(item)
    return kept


def _run(
    kb: KnowledgeBase,
    question: CheckRequest,
    environment: Environment,
    advice: Advice,
    machine: Machine,
    own: Sequence[Selected],
    watch: Watch,
) -> FrameworkRun:
    framework = own[0].probe.framework
    several = arms.arms(
        kb, environment, advice, framework, machine.variables, question.request.full
    )
    several += question.more
    plan = Plan(
        launcher=question.launcher,
        framework=framework,
        device=environment.device,
        selected=own,
        arms=several,
        effort=question.effort,
        cores=machine.cores,
        limit=question.limit,
        memory=machine.memory,
    )
    return FrameworkRun(framework, own, several, run(plan, watch))
