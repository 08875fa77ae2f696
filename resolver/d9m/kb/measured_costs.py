"""Times of measured runs, as costs of the sources and solutions that they tried.

A run times every call without any setting and with the advised ones. What such a pair says of one
op is a cost of its source. What all pairs of a framework say together is a cost of the solution
that most of the framework's sources ask for, where the run made it."""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import TypeVar

import msgspec

from d9m.model.records import Cost, Evidence, Package, Setting, Solution, Source, together
from d9m.model.runs import Observation, Run, Seen
from d9m.model.versions import key, minor
from d9m.model.when import Range, Value, World

Priced = TypeVar("Priced", Source, Solution)

_RELEASE = re.compile(r"\d+(\.\d+)*")


class Timed(msgspec.Struct, frozen=True):
    """Times that one run measured in one framework."""

    id: str
    run: Run
    package: str
    title: str
    release: str

    @property
    def machine(self) -> str:
        if self.run.device == "cpu":
            return self.run.cpu
        named = self.run.frameworks.get(self.package, {}).get("device")
        return self.run.gpus[0].name if self.run.gpus else str(named or self.run.device)

    @property
    def place(self) -> str:
        return f"measured on {self.machine} with {self.title} {self.release}"

    def pairs(self) -> Iterator[tuple[Observation, Seen, Seen]]:
        """Each call that came to an end both without settings and with the advised ones."""
        for seen in self.run.observations:
            default, advised = seen.arms.get("default"), seen.arms.get("advised")
            if seen.probe.partition("/")[0] != self.package or seen.verdict == "inconclusive":
                continue
            if default is not None and advised is not None and _has_spread(default, advised):
                yield seen, default, advised

    def world(self) -> World:
        """Releases and device, for conditions; what the run does not say is absent."""
        found: defaultdict[str, Value] = defaultdict(lambda: None, device=self.run.device)
        for name, version in self.run.packages.items():
            release = version.partition("+")[0]
            if _RELEASE.fullmatch(release):
                found[name] = key(release)
        return found

    def made(self, setting: Setting, values: Sequence[str]) -> bool:
        """Whether the advised arm of the run set a setting to one of the values."""
        text, own = setting.statement, self.run.settings
        if text is not None:
            return any(text.replace("{value}", value) in own for value in values or ("",))
        found = own.get(setting.name, "")
        return any(value in (found, *found.split(setting.list_)) for value in values)


def timed(runs: Mapping[str, Run], packages: Mapping[str, Package]) -> list[Timed]:
    """Times that runs measured in each release that the records know, the oldest release first."""
    found: list[Timed] = []
    for id_, run in runs.items():
        for name in run.frameworks:
            release = run.packages.get(name, "").partition("+")[0]
            if name in packages and release in packages[name].releases:
                found.append(Timed(id_, run, name, packages[name].title, release))
    return sorted(found, key=lambda one: (one.package, key(one.release), one.run.date, one.id))


def of_sources(every: Sequence[Timed], sources: Mapping[str, Source]) -> dict[str, Source]:
    """The sources, with what their calls cost."""
    costs: dict[str, list[Cost]] = {}
    for one in every:
        factors: dict[str, list[float]] = {}
        for seen, default, advised in one.pairs():
            if seen.source is not None and seen.source in sources:
                own = factors.setdefault(seen.source, [])
                if _differs([default], [advised]):
                    own.append(_seconds([advised]) / _seconds([default]))
        for id_, several in factors.items():
            times = _rounded(several)
            if times:
                range_ = times[0] if len(times) == 1 else f"{times[0]} to {times[-1]}"
                text = f"{range_} times as long with the advised settings"
                costs.setdefault(id_, []).append(_cost(one, every, text, times[-1]))
    return _with(sources, costs)


def of_solutions(
    every: Sequence[Timed],
    solutions: Mapping[str, Solution],
    sources: Mapping[str, Source],
    settings: Mapping[str, Setting],
    homes: Mapping[str, str],
) -> dict[str, Solution]:
    """The solutions, with what all calls together cost. `homes`: folder -> its package."""
    wanted: Counter[str] = Counter()
    for source in sources.values():
        for combined in source.labels():
            wanted.update(together(combined))
    costs: dict[str, list[Cost]] = {}
    for one in every:
        made: list[str] = []
        for id_, solution in solutions.items():
            if homes.get(id_.partition("/")[0]) == one.package and _made(one, solution, settings):
                made.append(id_)
        pairs = list(one.pairs())
        if made and pairs:
            main = max(made, key=lambda id_: wanted[solutions[id_].label])
            costs.setdefault(main, []).append(_total(one, every, pairs))
    return _with(solutions, costs)


def _made(one: Timed, solution: Solution, settings: Mapping[str, Setting]) -> bool:
    """Whether the advised arm made every setting of the solution there."""
    world = one.world()
    turns = [turn for turn in solution.settings if turn.set and turn.condition.holds(world)]
    return bool(turns) and all(one.made(settings[turn.name], turn.to) for turn in turns)


def _total(
    one: Timed, every: Sequence[Timed], pairs: Sequence[tuple[Observation, Seen, Seen]]
) -> Cost:
    default, advised = [pair[1] for pair in pairs], [pair[2] for pair in pairs]
    factor = _seconds(advised) / _seconds(default)
    percent = round(100 * abs(factor - 1))
    said: str | None = None
    if not percent or not _differs(default, advised):
        text = "neither slower nor faster in all than the same calls vary by themselves"
    else:
        said = f"{factor:.2f}"
        text = f"about {percent} % {'slower' if factor > 1 else 'faster'} in all"
    number = f"{len(pairs)} call{'s' * (len(pairs) != 1)}"
    return _cost(one, every, text, said, f" ({number}, all advised settings)")


def _cost(
    one: Timed, every: Sequence[Timed], text: str, factor: str | None, more: str = ""
) -> Cost:
    """It holds from the measured release on, until one that was measured on the same machine."""
    first = minor(one.release)
    later: list[str] = []
    for other in every:
        same = one.package == other.package and one.machine == other.machine
        if same and key(minor(other.release)) > key(first):
            later.append(minor(other.release))
    span = Range(from_=first, until=min(later, key=key, default=None))
    return Cost(
        text=f"{text}, {one.place}{more}",
        when={one.package: span, "device": one.run.device},
        factor=factor,
        evidence=[Evidence(kind="measured", run=one.id)],
    )


def _has_spread(*arms: Seen) -> bool:
    return all(arm.seconds and arm.quartiles and all(arm.quartiles) for arm in arms)


def _differs(default: Sequence[Seen], advised: Sequence[Seen]) -> bool:
    """Whether the times lie further from each other than those of equal calls do by themselves."""
    return abs(_seconds(advised) - _seconds(default)) > _spread(default) + _spread(advised)


def _seconds(arms: Sequence[Seen]) -> float:
    return sum(arm.seconds or 0.0 for arm in arms)


def _spread(arms: Sequence[Seen]) -> float:
    """Half of the span that the middle half of the calls takes; of a sum, as independent calls
    add up.
    """
    spans = [arm.quartiles[1] - arm.quartiles[0] for arm in arms if arm.quartiles is not None]
    return math.hypot(*spans) / 2


def _rounded(factors: Sequence[float]) -> list[str]:
    """The factors to two digits, each once, smallest first; none that is one."""
    several = dict.fromkeys(f"{float(f'{factor:.2g}'):g}" for factor in sorted(factors))
    return [text for text in several if text != "1"]


def _with(records: Mapping[str, Priced], costs: Mapping[str, list[Cost]]) -> dict[str, Priced]:
    found = dict(records)
    for id_, more in costs.items():
        found[id_] = msgspec.structs.replace(found[id_], costs=[*more, *found[id_].costs])
    return found
