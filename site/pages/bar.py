"""The bar of releases: what a source does from the first release to the newest, at a glance."""

from __future__ import annotations

import html
import itertools
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

import msgspec

from d9m.browse.history import ReleaseRow, ReleaseTrack
from d9m.kb.store import KnowledgeBase
from d9m.model.advice import REPEATS, WORST_LAST, joined
from d9m.model.records import Outcome
from pages import phrases
from pages.markdown import Markdown


def bar(kb: KnowledgeBase, track: ReleaseTrack, released: Sequence[str]) -> Markdown:
    """One part for each run of releases with the same answer, as wide as it has releases; empty
    without any.

    Where conditions decide between good and bad ones, the answer is that it depends; what each
    condition gives stands in the part's title, and in the table below.
    """
    parts = list(_parts(kb, track, released))
    if len(released) < 2 or not parts:
        return Markdown("")
    said = "; ".join(f"{part.span}: {phrases.WORDS[part.outcome]}" for part in parts)
    inner = "".join(map(_shown, parts))
    return Markdown(
        f'<div class="d9m-bar" role="img" aria-label="{html.escape(said)}">{inner}</div>'
    )


class BarPart(msgspec.Struct, frozen=True):
    """Releases that follow each other and answer alike."""

    span: str
    outcome: Outcome | None
    """None: the source is not in these releases."""
    branches: str
    """What each condition gives; empty where none decides."""
    width: int


def _shown(part: BarPart) -> str:
    title = f"{part.span}: {part.branches or phrases.WORDS[part.outcome]}"
    return (
        f'<span class="d9m-{part.outcome or "none"}" style="flex-grow:{part.width}" '
        f'title="{html.escape(title)}">'
        f"<b>{phrases.SYMBOLS[part.outcome] if part.outcome else '–'}</b> "
        f"{html.escape(part.span)}</span>"
    )


def _parts(kb: KnowledgeBase, track: ReleaseTrack, released: Sequence[str]) -> Iterator[BarPart]:
    rows: dict[str, list[ReleaseRow]] = {}
    for row in track.rows:
        for release in row.releases:
            rows.setdefault(release, []).append(row)
    answers = {release: _answer(kb, here) for release, here in rows.items()}
    for answer, group in itertools.groupby(released, key=answers.get):
        releases = list(group)
        outcome, branches = answer or (None, "")
        span = phrases.run(releases[0], releases[-1], released)
        yield BarPart(span, outcome, branches, len(releases))


def _answer(kb: KnowledgeBase, rows: Sequence[ReleaseRow]) -> tuple[Outcome, str]:
    """What one release does, and the branches where conditions decide."""
    outcome = joined(row.verdict.outcome for row in rows)
    if outcome != "depends":
        return outcome, ""
    said = (
        f"{phrases.WORDS[row.verdict.outcome]} {phrases.plain(kb, row.where)}".rstrip()
        for row in rows
    )
    return outcome, ", ".join(dict.fromkeys(said))


def strip(outcomes: Iterable[Outcome]) -> Markdown:
    """Return how many ops have each outcome, as parts of one bar."""
    counts = Counter("solved" if outcome in REPEATS else outcome for outcome in outcomes)
    found = [outcome for outcome in WORST_LAST if counts[outcome]]
    names = {
        **phrases.WORDS,
        "solved": "deterministic",
        "raises": "raise an error",
        "depends": "depend",
    }
    names |= {"unsolved": "nondeterministic", "unknown": "not verified"}
    said = ", ".join(f"{counts[outcome]} {names[outcome]}" for outcome in found)
    parts = "".join(
        f'<span class="d9m-{outcome}" style="flex-grow:{counts[outcome]}" '
        f'title="{counts[outcome]} {names[outcome]}"><b>{phrases.SYMBOLS[outcome]}</b> '
        f"{counts[outcome]} {names[outcome]}</span>"
        for outcome in found
    )
    if not found:
        return Markdown("")
    return Markdown(
        f'<div class="d9m-bar d9m-strip" role="img" aria-label="{html.escape(said)}">{parts}</div>'
    )
