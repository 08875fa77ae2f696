"""The shape of a timeline: a step function over the releases of one package."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import msgspec

from d9m.authoring.lint.index import RecordIndex, readable
from d9m.authoring.lint.rule import Finding, rule
from d9m.authoring.lint.worlds import possible, reachable
from d9m.errors import UsageError
from d9m.kb.validate import Path
from d9m.kb.yaml_files import Loaded
from d9m.model import records
from d9m.model.op_syntax import parse
from d9m.model.versions import covers, key
from d9m.model.when import Range, When, clauses


class Track(msgspec.Struct, frozen=True):
    """The steps of one package in one source."""

    at: Loaded
    source: records.Source
    home: str | None
    package: str
    steps: list[records.TimelineStep]

    def path(self, place: int, *more: str | int) -> Path:
        return ("timeline", self.package, place, *more)

    @property
    def is_sound(self) -> bool:
        """Whether the steps can be placed at all."""
        return bool(self.steps) and all(readable(step.from_) is not None for step in self.steps)


def tracks(index: RecordIndex) -> Iterator[Track]:
    """Every track of every source."""
    for at, _path, source in index.parts(records.Source):
        for package, steps in source.timeline.items():
            yield Track(at, source, index.home(at), package, steps)


def known_tracks(index: RecordIndex) -> Iterator[Track]:
    """Tracks whose steps can be compared with the releases of their package."""
    return (each for each in tracks(index) if each.is_sound and index.releases.get(each.package))


@rule(
    "step-order",
    "Steps out of order",
    """Each step of a timeline lasts until the next one's `from`, so there are no gaps and no
    overlaps to get wrong, as long as the steps are written in release order. Versions are ordered
    as versions: 2.10 comes after 2.9.""",
)
def step_order(index: RecordIndex) -> Iterator[Finding]:
    for track in tracks(index):
        if not track.steps:
            yield Finding(
                track.at,
                ("timeline", track.package),
                "a track without steps",
                tip="drop it, or add a step",
            )
        for place in range(1, len(track.steps)):
            before, here = track.steps[place - 1].from_, track.steps[place].from_
            if track.is_sound and key(here) <= key(before):
                yield Finding(
                    track.at, track.path(place, "from"), f"does not come after {before}", here
                )


@rule(
    "first-step",
    "Timeline that starts too late or too early",
    """The first step starts at the first release that has the op (`from` of the op in kb/ops/), or
    at the first release of the map; on a vendor's track at the first image with such a release. A
    track that starts later says of the releases before that no source is known, which is a
    statement, not a gap.""",
)
def first_step(index: RecordIndex) -> Iterator[Finding]:
    for track in known_tracks(index):
        home_start = _start(index, track)
        if home_start is None:
            continue
        start = (
            home_start if track.package == track.home else _vendor_start(index, track, home_start)
        )
        at_ = index.place(track.package, track.steps[0].from_)
        if at_ != start:
            released = index.releases[track.package]
            expected = released[start] if start < len(released) else "no release at all"
            message = (
                "starts after the op's first release"
                if at_ > start
                else "starts before the op exists"
            )
            tip = (
                'add a step, be it "outcome: unknown"'
                if at_ > start
                else "start at the op's first release"
            )
            yield Finding(
                track.at, track.path(0, "from"), message, track.steps[0].from_, expected, tip
            )


def _start(index: RecordIndex, track: Track) -> int | None:
    """How many releases of the home package come before the source can apply; None if it is
    unknown.
    """
    if track.home is None or not index.complete("ops"):
        return None
    known = index.catalogues[track.home].ops if track.home in index.catalogues else {}
    starts: list[int] = []
    for item in track.source.ops:
        try:
            exists = known.get(parse(item).name)
        except UsageError:
            exists = None
        if exists is None:
            return None
        starts.append(_place(index, track.home, exists.from_))
    return max(min(starts, default=0), _applies_from(index, track))


def _applies_from(index: RecordIndex, track: Track) -> int:
    """The same for the source's own condition."""
    home = track.home or ""
    places: list[int] = []
    for clause in clauses(track.source.when):
        bound = clause.get(home)
        places.append(_place(index, home, bound.from_ if isinstance(bound, Range) else None))
    return min(places, default=0)


def _place(index: RecordIndex, package: str, bound: str | None) -> int:
    return 0 if bound is None or readable(bound) is None else index.place(package, bound)


def _vendor_start(index: RecordIndex, track: Track, home_start: int) -> int:
    """First release of a vendor's build that is not known to be built from a release before
    `home_start`.
    """
    package = index.packages[track.package]
    for place, release in enumerate(index.releases[track.package]):
        inside = package.releases[release].with_.get(track.home or "", "")
        if readable(inside) is None or index.place(track.home or "", inside) >= home_start:
            return place
    return len(package.releases)


@rule(
    "dead-step",
    "Step that changes nothing",
    """A step is a claim that something changed in that release. One with the same answer as the
    step before hides where the change really was. Put new evidence for the same answer on the step
    that gives it.""",
)
def dead_step(index: RecordIndex) -> Iterator[Finding]:
    for track in tracks(index):
        for place in range(1, len(track.steps)):
            before, here = track.steps[place - 1], track.steps[place]
            if _answer(here) == _answer(before):
                message = f"the same answer as from {before.from_} on"
                yield Finding(
                    track.at, track.path(place), message, here.from_, tip="drop this step"
                )


def _answer(part: records.TimelineStep | records.Unless) -> Any:
    """Return a step or an exception without its evidence."""
    outcome = part.outcome or ("solved" if part.by else "unknown")
    answer: list[Any] = [outcome, part.by, part.default, part.error]
    if isinstance(part, records.TimelineStep):
        answer += [part.as_, [(each.when, _answer(each)) for each in part.unless]]
    return answer


@rule(
    "dead-exception",
    "Exception that changes nothing",
    """An exception with the answer of its own step says nothing, unless it guards a part of a later
    one; one whose condition the source's own condition, or an earlier exception, leaves no room for
    is never reached: the first one that holds is taken. What deserves to be known without changing
    the answer is a caution.""",
)
def dead_exception(index: RecordIndex) -> Iterator[Finding]:
    for track in tracks(index):
        for place, step in enumerate(track.steps):
            for number, case in enumerate(step.unless):
                path = track.path(place, "unless", number)
                here = [track.source.when, case.when]
                earlier = [before.when for before in step.unless[:number]]
                guards = any(
                    possible(index, [*here, later.when]) for later in step.unless[number + 1 :]
                )
                if _answer(case) == _answer(step)[: len(_answer(case))] and not guards:
                    tip = "drop it, or make it a caution"
                    yield Finding(track.at, path, "the same answer as its step", tip=tip)
                elif not possible(index, here):
                    tip = "see the source's own `when`"
                    yield Finding(
                        track.at, (*path, "when"), "never holds where the source applies", tip=tip
                    )
                elif earlier and not reachable(index, here, earlier):
                    tip = "the first exception that holds is taken: put the narrower one first"
                    yield Finding(
                        track.at,
                        (*path, "when"),
                        "an earlier exception always holds first",
                        tip=tip,
                    )


@rule(
    "own-package",
    "Exception that tests its own track's package",
    """Releases of a track's package are what its steps are for. An exception that tests the same
    package is a boundary in the wrong place: it escapes the order of steps, and `fixed_in` and the
    mutation test would not see it.""",
)
def own_package(index: RecordIndex) -> Iterator[Finding]:
    for track in tracks(index):
        for place, step in enumerate(track.steps):
            for number, exception in enumerate(step.unless):
                if any(track.package in clause for clause in clauses(exception.when)):
                    path = track.path(place, "unless", number, "when")
                    yield Finding(
                        track.at,
                        path,
                        "tests the package of its own track",
                        track.package,
                        tip="add a step",
                    )


@rule(
    "verified-through",
    "Last step with an open end",
    """Nobody has looked at the releases of the future. Each track's last step says up to which
    release somebody has; from the next release on the answer is `unknown`, with this one as the
    last verified. Earlier steps end where the next begins, and one that joins stock ends where
    stock does.""",
)
def verified_through(index: RecordIndex) -> Iterator[Finding]:
    for track in tracks(index):
        for place, step in enumerate(track.steps):
            path = track.path(place, "verified_through")
            seen = step.verified_through
            last = place == len(track.steps) - 1
            if seen is None:
                if last and step.as_ is None:
                    tip = "add verified_through: the newest release that was checked"
                    yield Finding(
                        track.at,
                        track.path(place),
                        "the last step has no verified_through",
                        tip=tip,
                    )
            elif not last or step.as_ is not None:
                yield Finding(
                    track.at,
                    path,
                    "only a track's last own step has an end",
                    seen,
                    tip="drop it here",
                )
            elif track.is_sound and _is_before(seen, step.from_):
                yield Finding(
                    track.at, path, "ends before it begins", seen, f"{step.from_} or later"
                )


def _is_before(version: str, other: str) -> bool:
    return (
        readable(version) is not None and key(version) < key(other) and not covers(version, other)
    )


@rule(
    "caution-of-outcome",
    "Caution that should be an exception",
    """A caution that says what happens with some argument, fact, device or package
    (`reduce="multiply"` raises an error) contradicts the verdict above it, which does not ask for
    it. It is an exception of a step (`unless`), so that the verdict says it. A setting after which
    results vary is undone by the step's solution (`by`), and what differs between GPU models is a
    source with `scope: hardware`.""",
)
def caution_of_outcome(index: RecordIndex) -> Iterator[Finding]:
    for at, path, source in index.parts(records.Source):
        for place, caution in enumerate(source.cautions):
            for name in dict.fromkeys(_conditions_of_outcomes(index, at, source, caution)):
                tip = "write it under `unless` of its step"
                yield Finding(at, (*path, "cautions", place), f"says what {name} does", tip=tip)


def _conditions_of_outcomes(
    index: RecordIndex, at: Loaded, source: records.Source, caution: records.Caution
) -> Iterator[str]:
    """Names of conditions under which the caution tells of another outcome than the steps."""
    text = caution.text
    conditions = {name for clause in clauses(caution.when) for name in clause} - {*source.timeline}
    for name, fact in index.facts.items():
        if not fact.argument:
            conditions |= {name for words in fact.says.values() if words in text}
        elif re.search(_OUTCOME, text) and re.search(
            rf"\b({'|'.join([name, *fact.parameters])})=\S", text
        ):
            yield f"{name}="
    told = _outcomes(index, source, caution.when, conditions)
    for sentence in re.split(r"(?<=[.:;]) ", text):
        settings = index.settings.keys() & re.findall(r"[\w.]*\w", sentence)
        for claim, fitting in _CLAIMS.items():
            fits = told & (fitting | {"solved"} if settings else fitting)
            if told and not fits and re.search(claim, sentence):
                yield from [*conditions, *settings][:1]
    if (
        source.scope == "run"
        and told - {"unsolved"}
        and re.search(r"GPU.*\b(other|differs?)\b", text)
        and not _has_hardware_source(index, at, source)
    ):
        yield "another GPU"


def _has_hardware_source(index: RecordIndex, at: Loaded, source: records.Source) -> bool:
    """Whether a record of the same package tells of other machines for one of the ops."""
    return any(
        other.scope == "hardware"
        and index.home(there) == index.home(at)
        and not {*other.ops}.isdisjoint(source.ops)
        for there, _path, other in index.parts(records.Source)
    )


def _outcomes(index: RecordIndex, source: records.Source, when: When, names: set[str]) -> set[str]:
    """Outcomes of a source where `when` holds, as far as its steps ask for these conditions."""
    found: set[str] = set()
    for track in known_tracks(index):
        for step, after in zip(track.steps, [*track.steps[1:], None]):
            span = Range(from_=step.from_, until=after.from_ if after else None)
            here: list[When] = [source.when, when, {track.package: span}]
            asked = [case for case in step.unless if names.intersection(*clauses(case.when))]
            if track.source is source and possible(index, here):
                found |= {_answer(step)[0]}
                found |= {_answer(each)[0] for each in asked if possible(index, [*here, each.when])}
    return found


_OUTCOME = r"\b(raises|refuse[sd]?|(non)?deterministic|repeats|varies|differs?)\b"
"""Words for what an op does."""

_CLAIMS = {
    r"\b(?<!not )(?<!nothing )(raises?|refuses?)\b": {"raises"},
    r"\b(var(y|ies|ied)|differs?|no fixed order|nondeterministically)\b": {"unsolved", "unknown"},
    r"\brepeats?\b": {"deterministic", "solved"},
}
"""Words of a sentence on an op -> outcomes that fit them."""


RULES = (
    step_order,
    first_step,
    dead_step,
    dead_exception,
    own_package,
    verified_through,
    caution_of_outcome,
)
