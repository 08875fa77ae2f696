"""The bar of releases: what a source does from the first release to the newest, at a glance."""

from __future__ import annotations

import html
import itertools
from collections.abc import Iterator, Sequence

from d9m.browse.history import ReleaseTrack
from d9m.model.advice import worst
from d9m.model.records import Outcome
from pages import phrases
from pages.markdown import Markdown


def bar(track: ReleaseTrack, released: Sequence[str]) -> Markdown:
    """One part for each run of releases with the same answer, as wide as it has releases; empty
    without any.

    Where conditions decide, the worst answer is shown: the table below has all.
    """
    parts = list(_parts(track, released))
    if len(released) < 2 or not parts:
        return Markdown("")
    told: list[str] = []
    inner: list[str] = []
    for span, outcome, width in parts:
        told.append(f"{span}: {outcome.replace('-', ' ') if outcome else 'not met'}")
        symbol = phrases.SYMBOLS[outcome] if outcome else "–"
        inner.append(
            f'<span class="d9m-{outcome or "none"}" style="flex-grow:{width}" '
            f'title="{html.escape(span)}"><b>{symbol}</b> {html.escape(span)}</span>'
        )
    label = html.escape("; ".join(told))
    return Markdown(f'<div class="d9m-bar" role="img" aria-label="{label}">{"".join(inner)}</div>')


def _parts(
    track: ReleaseTrack, released: Sequence[str]
) -> Iterator[tuple[str, Outcome | None, int]]:
    answers: dict[str, Outcome] = {}
    for row in track.rows:
        for release in row.releases:
            known = answers.get(release, row.verdict.outcome)
            answers[release] = worst([known, row.verdict.outcome])
    for _outcome, group in itertools.groupby(released, key=answers.get):
        releases = list(group)
        outcome = answers.get(releases[0])
        yield phrases.run(releases[0], releases[-1], released), outcome, len(releases)
