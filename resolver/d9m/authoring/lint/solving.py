"""Steps of timelines: outcomes, the solutions behind them, and vendors' tracks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from d9m.authoring.lint.index import RecordIndex
from d9m.authoring.lint.rule import Finding, rule
from d9m.authoring.lint.timeline import Track, known_tracks, tracks
from d9m.authoring.lint.worlds import possible, worlds_of
from d9m.kb.validate import Path
from d9m.kb.yaml_files import Loaded
from d9m.model import records
from d9m.model.records import together
from d9m.model.when import When


def _rulings(
    index: RecordIndex,
) -> Iterator[tuple[Loaded, Path, records.TimelineStep | records.Unless]]:
    yield from index.parts(records.TimelineStep)
    yield from index.parts(records.Unless)


@rule(
    "outcome-by",
    "Outcome and solutions that do not fit",
    """`by` names what solves an op, or what makes it raise; so solved and raises need it and no
    other outcome takes it. A raising step also names the error that users see. A step without
    `outcome`, `by` or `as` says nothing: what nobody knows is written as outcome: unknown, with a
    note on what is missing.""",
)
def outcome_by(index: RecordIndex) -> Iterator[Finding]:
    for at, path, part in _rulings(index):
        if isinstance(part, records.TimelineStep) and part.as_ is not None:
            continue
        outcome = part.outcome or ("solved" if part.by else None)
        if outcome is None:
            yield Finding(
                at, path, "says nothing", tip="give an outcome, or by; unknown is an outcome too"
            )
            continue
        if outcome in ("solved", "raises") and not part.by:
            yield Finding(
                at, (*path, "outcome"), f"{outcome} without `by`", outcome, tip=_BY[outcome]
            )
        if outcome not in ("solved", "raises") and part.by:
            tip = "drop by, or the outcome"
            yield Finding(
                at, (*path, "by"), f"{outcome} takes no `by`", ", ".join(part.by), tip=tip
            )
        if outcome == "raises" and part.error is None:
            yield Finding(
                at,
                path,
                "raises without `error`",
                tip="add error: the id of a record under errors/",
            )
        if outcome != "raises" and part.default != "raises" and part.error is not None:
            yield Finding(
                at, (*path, "error"), f"{outcome} shows no error", part.error, tip="drop error"
            )
        if len(set(part.by)) < len(part.by):
            yield Finding(at, (*path, "by"), "names a solution twice", ", ".join(part.by))


_BY = {"solved": "name the solutions that do it", "raises": "name the switch that makes it raise"}


@rule(
    "solution-span",
    "Solution that does not exist over its whole step",
    """A step promises its solutions for every release until the next step. If a solution begins
    later or ends earlier (its own `when`), the resolver would drop it
    there and hide that the boundary of the step is wrong. Each release is tried, with what a
    vendor's image is known to contain.""",
)
def solution_span(index: RecordIndex) -> Iterator[Finding]:
    for track in known_tracks(index):
        worlds = list(worlds_of(index, track.package))
        starts = [index.place(track.package, step.from_) for step in track.steps]
        ends = [*starts[1:], len(worlds)]
        for place, (step, start, end) in enumerate(zip(track.steps, starts, ends)):
            for path, when, by in _promises(track, place, step):
                for number, combined in enumerate(by):
                    needed = [track.source.when, *when, *_existence(index, together(combined))]
                    where = [*when, track.source.when]
                    gone: list[str] = []
                    for release, world in worlds[start:end]:
                        if possible(index, where, world) and not possible(index, needed, world):
                            gone.append(release)
                    if gone:
                        yield _missing(track, (*path, "by", number), combined, gone)


def _promises(
    track: Track, place: int, step: records.TimelineStep
) -> Iterator[tuple[Path, list[When], list[str]]]:
    """Yield a step's solutions and those of its exceptions, each with its condition."""
    yield track.path(place), [], step.by
    for number, exception in enumerate(step.unless):
        yield track.path(place, "unless", number), [exception.when], exception.by


def _existence(index: RecordIndex, labels: Sequence[str]) -> list[When]:
    """Conditions under which solutions exist. Unknown labels ask for nothing."""
    return [index.labels[label].record.when for label in labels if label in index.labels]


def _missing(track: Track, path: Path, combined: str, gone: list[str]) -> Finding:
    span = gone[0] if len(gone) == 1 else f"{gone[0]} to {gone[-1]} ({len(gone)} releases)"
    message = f"does not exist in {track.package} {span} of this step"
    return Finding(
        track.at,
        path,
        message,
        combined,
        tip="move the boundary of the step, or the solution's `when`",
    )


@rule(
    "track-package",
    "Track of the wrong package",
    """A timeline has a track for the home package of its folder, which answers for every build
    without one of its own. Besides, only vendors' builds of that package (`stock` in their record)
    have tracks; what another package changes is a condition.""",
)
def track_package(index: RecordIndex) -> Iterator[Finding]:
    for at, _path, source in index.parts(records.Source):
        home = index.home(at)
        if home is not None and home not in source.timeline:
            yield Finding(
                at,
                ("timeline",),
                f"no track for the home package {home}",
                ", ".join(source.timeline),
            )
    for track in tracks(index):
        package = index.packages.get(track.package)
        if (
            track.home not in (None, track.package)
            and package is not None
            and package.stock != track.home
        ):
            builds = [name for name, each in index.packages.items() if each.stock == track.home]
            allowed = ", ".join([track.home or "", *builds])
            path = ("timeline", track.package)
            yield Finding(
                track.at,
                path,
                f"no build of {track.home}",
                track.package,
                allowed,
                "write it as a condition",
            )


@rule(
    "vendor-fallback",
    "Return to stock that says too much or too little",
    """`as: stock` says that a vendor's build behaves like the stock release it is made from. It
    stands on a vendor's track only, says nothing else, and names its evidence: of kind `assumed`,
    with the page that says which release the image is built from, as long as nobody has tried
    it.""",
)
def vendor_fallback(index: RecordIndex) -> Iterator[Finding]:
    for track in tracks(index):
        for place, step in enumerate(track.steps):
            if step.as_ is None:
                continue
            path = track.path(place, "as")
            if track.package == track.home:
                yield Finding(
                    track.at,
                    path,
                    "the home package is the stock itself",
                    "stock",
                    tip="give an outcome",
                )
            if any((step.outcome, step.by, step.default, step.error, step.unless)):
                yield Finding(
                    track.at,
                    path,
                    "says more than `as: stock`",
                    "stock",
                    tip="give one or the other",
                )
            if not step.evidence:
                yield Finding(
                    track.at,
                    path,
                    "no evidence that it behaves like stock",
                    "stock",
                    tip="kind: assumed will do",
                )


RULES = (outcome_by, solution_span, track_package, vendor_fallback)
