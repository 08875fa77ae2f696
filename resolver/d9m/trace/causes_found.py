"""From what each process is suspected of to the causes of an answer, alike ones of ranks merged."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from d9m.trace.cause_candidates import CauseCandidate
from d9m.trace.draws import UNSEEDED
from d9m.trace.findings import Cause, Descendant, Reach, SourceLine
from d9m.trace.process import ComparedProcess
from d9m.trace.reading import maker
from d9m.trace.settings_differ import is_rate
from d9m.trace.stream_records import PRIMITIVE, Site, named_arguments

MOST_DESCENDANTS = 500
"""Places of ops that differ because of a cause; all ops are counted."""

FROM_INSIDE = ("op", "compiled", "collective")
"""Kinds that a setting of the framework can remove."""

GENERATORS = {"python": "Python's random generator", "numpy": "NumPy's random generator"}


_OPAQUE = (
    "The recording does not show the content of one of its inputs, such as an iterator over "
    "batches, which may differ. --compiled eager shows it."
)

_SEED = "tf.random.set_seed"

_UNSEEDED = "TensorFlow has no seed: its random numbers differ in each run."

_THREADS = (
    "The program computes in threads that it started itself. The recording does not see them, and "
    "their order is not fixed."
)


class LocatedCause(msgspec.Struct, frozen=True):
    """A cause, and where it was found."""

    cause: Cause
    process: int
    number: int


def causes(processes: Sequence[ComparedProcess]) -> tuple[list[Cause], list[Cause]]:
    """Causes that matter, in the order in which they began, and those that reach nothing."""
    matter: list[LocatedCause] = []
    harmless: list[Cause] = []
    for place, process in enumerate(processes):
        wanted = _mattering(process)
        for number, suspect in enumerate(process.walker.suspects):
            located = LocatedCause(_cause(process, suspect), place, number)
            if number in wanted:
                matter.append(located)
            elif not suspect.moved and suspect.kind not in ("state", "structure"):
                harmless.append(located.cause)
    matter.sort(key=lambda located: (located.cause.step, located.process, located.cause.record))
    return _with_settings(processes, _with_rates(processes, _merged(matter))), harmless


def _mattering(process: ComparedProcess) -> set[int]:
    """Of a process that was cut off, what it found last may still have reached something; where the
    recorder failed or could not read a tensor, anything may.
    """
    suspects = process.walker.suspects
    blind = {"fault", "subclass"} & set(process.unseen)
    cut = 0 if blind else min(process.a.step, process.b.step)
    found = suspects.mattering(not process.walker.learned.recorded)
    cut_off = any(stream.ended not in ("exit", "steps") for stream in (process.a, process.b))
    for number, suspect in enumerate(suspects if cut_off or blind else ()):
        if suspect.step >= cut and suspect.kind != "structure":
            found.add(number)
    found -= {number for number in found if suspects[number].moved}
    named = found - suspects.numbers(("state",))
    follows_ops = process.a.header.level == "op"
    return named if named and follows_ops else found


def _cause(process: ComparedProcess, suspect: CauseCandidate) -> Cause:
    site = suspect.site
    made = None
    if suspect.kind == "uninitialised" and suspect.storage is not None:
        made = maker(process.a.file, suspect.storage, suspect.record)
    cause = Cause(
        kind=suspect.kind,
        process=process.name,
        op=None if suspect.arrival is None else suspect.arrival.op,
        module=suspect.name if _is_module(suspect) else None,
        step=suspect.step,
        record=suspect.record,
        count=suspect.count,
        steps=suspect.steps,
        certain=suspect.certain,
        may_follow=sorted(suspect.may_follow),
        arguments=named_arguments(suspect.arguments),
        argument=suspect.argument or (None if _is_module(suspect) else suspect.name),
        parameter=suspect.parameter,
        a=suspect.a,
        b=suspect.b,
        made=_source(made),
        reaches=Reach(**suspect.reaches),
        inherited=suspect.inherited,
        descendants=_descendants(process, suspect),
        hints=_hints(process, suspect),
        shared=process.settings.shared_at(suspect.record) if suspect.kind in FROM_INSIDE else {},
    )
    return cause if site is None else at_site(cause, site)


def at_site(cause: Cause, site: Site) -> Cause:
    """Return a cause with what a site says of its op."""
    return msgspec.structs.replace(
        cause,
        op=site.op,
        overload=site.overload,
        phase=site.phase,
        node=site.node or None,
        module=site.module or None,
        source=_source(site),
        callers=[SourceLine(*line) for line in site.callers],
        device=site.device,
        inputs=list(site.shapes),
    )


def _descendants(process: ComparedProcess, suspect: CauseCandidate) -> list[Descendant]:
    """By place: a loop over one line is one entry."""
    found: dict[tuple[object, ...], Descendant] = {}
    for number, (step, count) in suspect.descendants.items():
        site = process.a.sites[number]
        key = (site.op, site.node, site.module, site.phase, site.source)
        known = found.get(key)
        if known is not None:
            found[key] = msgspec.structs.replace(known, count=known.count + count)
        elif len(found) < MOST_DESCENDANTS:
            found[key] = Descendant(
                op=site.op,
                phase=site.phase,
                node=site.node or None,
                module=site.module or None,
                source=_source(site),
                step=step,
                count=count,
            )
    return list(found.values())


def _is_module(suspect: CauseCandidate) -> bool:
    return suspect.kind == "state"


def _source(site: Site | None) -> SourceLine | None:
    return SourceLine(*site.source) if site and site.source else None


def _hints(process: ComparedProcess, suspect: CauseCandidate) -> list[str]:
    """Return what else was seen that can be the reason."""
    if suspect.kind == "outside-write" and "thread" in process.unseen:
        return [_THREADS]
    if suspect.opaque:
        return [_OPAQUE]
    if suspect.kind == "state" and _is_unseeded(process):
        return [_UNSEEDED]
    function = _function_called(suspect)
    if function is not None:
        return [f"It calls {function}, a function of the program whose results differ."]
    return []


def _function_called(suspect: CauseCandidate) -> str | None:
    """The name of the Python function that a primitive of JAX calls, such as pure_callback."""
    if suspect.kind != "op" or suspect.site is None or not suspect.site.op.startswith(PRIMITIVE):
        return None
    return named_arguments(suspect.arguments).get("callback")


def _is_unseeded(process: ComparedProcess) -> bool:
    """Whether TensorFlow computed in both runs and had no seed when the first record was made."""
    seeds = [stream.header.deterministic.get(_SEED) for stream in (process.a, process.b)]
    return seeds == [UNSEEDED, UNSEEDED]


def _merged(matter: Sequence[LocatedCause]) -> list[Cause]:
    """Alike causes of several processes as one."""
    kept: list[Cause] = []
    numbers: dict[tuple[int, int], int] = {}
    for located in matter:
        alike = next((at for at, cause in enumerate(kept) if _alike(cause, located.cause)), None)
        if alike is None:
            numbers[located.process, located.number] = len(kept)
            kept.append(located.cause)
        else:
            numbers[located.process, located.number] = alike
            kept[alike] = _joined(kept[alike], located.cause)
    place = {located.cause.process: located.process for located in matter}
    for at, cause in enumerate(kept):
        follows = [(place[cause.process], number) for number in cause.may_follow]
        known = [numbers[suspect] for suspect in follows if suspect in numbers]
        kept[at] = msgspec.structs.replace(cause, may_follow=known)
    return kept


def _alike(one: Cause, other: Cause) -> bool:
    return one.process != other.process and _what(one) == _what(other)


def _what(cause: Cause) -> tuple[object, ...]:
    return (
        cause.kind,
        cause.step,
        cause.op,
        cause.node,
        cause.module,
        cause.phase,
        cause.argument if cause.kind != "seed" else None,
    )


def _joined(one: Cause, other: Cause) -> Cause:
    return msgspec.structs.replace(
        one,
        also=[*one.also, other.process],
        count=one.count + other.count,
        inherited=one.inherited + other.inherited,
        reaches=_first_reached([one, other]),
    )


def _first_reached(found: Sequence[Cause]) -> Reach:
    first: dict[str, int] = {}
    for cause in found:
        for what, step in cause.reaches.steps().items():
            first[what] = min(step, first.get(what, step))
    return Reach(**first)


def _with_rates(processes: Sequence[ComparedProcess], matter: Sequence[Cause]) -> list[Cause]:
    """The causes, with a learning rate that differs in the place of what optimizers were given."""
    rates = [each for one in processes for each in one.settings.differences if is_rate(each.name)]
    if not rates or not matter:
        return list(matter)
    first = rates[0]
    step = first.step or 0
    given = [at for at, cause in enumerate(matter) if _of_optimizer(cause) and cause.step >= step]
    lead = matter[given[0]] if given else None
    place = given[0] if given else sum(cause.step < step for cause in matter)
    later = [cause for cause in matter if cause.step >= step]
    cause = Cause(
        kind="argument",
        process=lead.process if lead else matter[0].process,
        step=step,
        record=lead.record if lead else 0,
        argument=first.name,
        a=first.a,
        b=first.b,
        source=lead.source if lead else None,
        callers=lead.callers if lead else [],
        reaches=_first_reached(later),
        inherited=sum(cause.inherited for cause in matter if _of_optimizer(cause)),
    )
    kept = [msgspec.structs.replace(each, may_follow=[]) for each in matter]
    before = [each for at, each in enumerate(kept[:place]) if at not in given]
    after = [each for at, each in enumerate(kept[place:], place) if at not in given]
    after = [each for each in after if each.kind != "state"]
    return [*before, cause, *after]


def _of_optimizer(cause: Cause) -> bool:
    return cause.kind == "argument" and cause.phase == "opt"


def _with_settings(processes: Sequence[ComparedProcess], matter: Sequence[Cause]) -> list[Cause]:
    """The causes, and settings that differ ahead of what is expected of them: all that began when
    they did, or later.
    """
    begin: int | None = None
    names: list[str] = []
    for process in processes:
        first = process.a.header.steps[0] or 0
        for setting in process.settings.differences:
            if setting.name != "arguments" and not is_rate(setting.name):
                names.append(setting.name)
                step = first if setting.step is None else setting.step
                begin = step if begin is None else min(begin, step)
    place = next((at for at, cause in enumerate(matter) if cause.step >= (begin or 0)), None)
    if begin is None or place is None:
        return list(matter)
    later = matter[place:]
    settings = Cause(
        kind="settings",
        process=later[0].process,
        step=begin,
        record=0,
        count=len(set(names)),
        argument=", ".join(dict.fromkeys(names)),
        reaches=_first_reached(later),
    )
    return [*matter[:place], settings, *(_expected(cause, place) for cause in later)]


def _expected(cause: Cause, settings: int) -> Cause:
    """A cause that different settings explain as well; they come ahead of it."""
    follows = [settings, *(number + (number >= settings) for number in cause.may_follow)]
    return msgspec.structs.replace(cause, certain=False, may_follow=follows)
