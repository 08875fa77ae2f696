"""Recognise an error or warning text, in a single line or a whole log, and a complaint in
somebody's own words; answer what the text is about.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Literal, TypeAlias

import msgspec

from d9m.about import __version__
from d9m.browse import mentions, symptoms
from d9m.browse.known_texts import LONG, Match, pattern, search, wordings
from d9m.browse.show import SourceHistory, source_history
from d9m.browse.subject import Subject, about_complaint, about_error, context
from d9m.environment.environment import Environment, Setup, describe
from d9m.errors import UsageError, nearest, quote
from d9m.kb.store import KnowledgeBase
from d9m.model import conditions
from d9m.model.advice import SCHEMA_VERSION, Told, Tool
from d9m.model.records import Clause, ErrorRecord, ErrorText, Range, Scope
from d9m.model.versions import key, within
from d9m.resolve.answers import told_of

Printed: TypeAlias = Literal["here", "older", "newer", "others"]


class Explanation(msgspec.Struct, frozen=True):
    """One known text or symptom that was found."""

    id: str
    kind: str
    title: str
    text: str
    """The wording that matched, with ``{…}`` where it varies."""
    parts: dict[str, str]
    """What stood where the wording varies."""
    line: int
    releases: list[Clause]
    """Releases that word it so."""
    advice: str
    ops: list[str]
    history: list[SourceHistory]
    evidence: list[Told]
    printed: Printed = "here"
    """Whether what was named can print it: `here`; if not, by `older` releases, `newer` ones, or
    `others`.
    """
    certainty: Literal["certain", "likely", "open"] = "certain"
    """`certain` for a known text; `likely` for a symptom in other words, `open` for one that names
    no cause.
    """
    scope: Scope = "run"
    """What should be the same and is not."""


class Explained(msgspec.Struct, frozen=True):
    schema_version: int
    d9m: Tool
    found: list[Explanation]
    """Known texts in the order of the text; else symptoms, most likely first."""
    subject: Subject | None = None
    """What the records say of the ops, packages and settings that the text names."""


def explain(
    kb: KnowledgeBase,
    text: str | Iterable[str],
    setup: Setup | None = None,
    here: Setup | None = None,
) -> Explained:
    """Every known text in `text`, first come first; else what the text names, and its symptoms.

    A long text comes in blocks, as `log.blocks` makes them. `setup` is what was named; what is
    installed, `here`, says only which release of a package is meant. Raises UsageError, with the
    nearest known texts, for a text that is not about determinism.
    """
    blocks = iter([text] if isinstance(text, str) else text)
    first = next(blocks, "")
    if not first.strip():
        raise UsageError(
            "no text was given", tip='d9m explain "the error text", or a log on standard input'
        )
    environment = describe(kb, setup) if setup else None
    matches = search(kb, itertools.chain([first], blocks), environment)
    if matches:
        known = context(kb, setup, mentions.versions(kb, first[:LONG]), here)
        whole = describe(kb, known)
        found = [_explained(kb, match, whole) for match in matches]
        subject = about_error(kb, known, found[0].ops) if len(found) == 1 else None
    elif len(first) < LONG:
        found, subject = _of_complaint(kb, first, setup, here)
    else:
        found, subject = [], None
    if not found and subject is None:
        tip = "what to set, by release and op: d9m advise"
        raise UsageError(
            f"no known text in {quote(first.strip())}", nearest=_nearest(kb, first), tip=tip
        )
    return Explained(SCHEMA_VERSION, Tool(__version__, kb.meta.date), found, subject)


def _of_complaint(
    kb: KnowledgeBase, text: str, setup: Setup | None, here: Setup | None
) -> tuple[list[Explanation], Subject | None]:
    described = symptoms.described(kb, text)
    if _is_message(kb, text):
        described = [symptom for symptom in described if not symptom.is_general]
    subject = about_complaint(kb, text, described, setup, here)
    if subject is not None and (subject.ops or subject.packages):
        described = [symptom for symptom in described if not symptom.record.by_settings]
    return [_of_symptom(kb, symptom) for symptom in described], subject


_MESSAGE = re.compile(r"^\s*(?:\w+\.)*\w*(?:Error|Warning|Exception): .*", re.MULTILINE)


def _is_message(kb: KnowledgeBase, text: str) -> bool:
    """Whether a text is a message rather than somebody's own words: one that nobody recorded, or
    the beginning of several.
    """
    printed = sum(len(match[0]) for match in _MESSAGE.finditer(text))
    if printed > len(text) / 2:
        return True
    start = " ".join(text.lower().split())
    return any(wording.text.text.lower().startswith(start) for wording in wordings(kb))


def _of_symptom(kb: KnowledgeBase, symptom: symptoms.Symptom) -> Explanation:
    found = _explanation(kb, symptom.id, symptom.record, symptom.wording, [], {}, 1)
    certainty = "open" if symptom.is_general else "likely"
    return msgspec.structs.replace(found, certainty=certainty)


def _nearest(kb: KnowledgeBase, text: str) -> list[str]:
    """Known texts spelled nearly so."""
    known: list[str] = []
    for error in kb.errors.values():
        known += [wording.text for wording in error.texts if error.kind != "symptom"]
    return nearest(text.strip(), known)


def _explained(kb: KnowledgeBase, found: Match, environment: Environment) -> Explanation:
    error, text = found.wording.error, found.text.lower()
    fitting = _fitting(error, text)
    explanation = _explanation(
        kb, found.id, error, found.wording.text, fitting, found.parts, found.line
    )
    return msgspec.structs.replace(explanation, printed=_printed(environment, fitting))


def _fitting(error: ErrorRecord, text: str) -> list[ErrorText]:
    """The wordings that the most of a text can be: of a text that is cut off, several."""
    lengths: dict[int, list[ErrorText]] = {}
    for wording in error.texts:
        match = pattern(wording.text).search(text)
        if match is not None:
            lengths.setdefault(len(match[0]), []).append(wording)
    return lengths[max(lengths)]


def _printed(environment: Environment, fitting: list[ErrorText]) -> Printed:
    """Which releases print one of the wordings, held against those of the environment."""
    if any(environment.holding(wording.when, assume=False) for wording in fitting):
        return "here"
    sides: set[Printed] = set()
    for clause in _clauses(fitting):
        for package, allowed in clause.items():
            installed = environment.packages.get(package)
            if installed is not None and isinstance(allowed, Range):
                sides.add(_side(allowed, installed.candidates.releases))
    if not sides:
        return "here"
    return next(iter(sides)) if len(sides) == 1 else "others"


def _side(printing: Range, here: Sequence[str]) -> Printed:
    """Where releases that print a text lie, seen from those that are here."""
    if not here or any(within(release, printing) for release in here):
        return "others"
    until = printing.until
    return "older" if until is not None and key(until) <= key(here[0]) else "newer"


def _clauses(texts: Iterable[ErrorText]) -> Iterator[Clause]:
    for wording in texts:
        yield from wording.when if isinstance(wording.when, list) else [wording.when]


def _explanation(
    kb: KnowledgeBase,
    id_: str,
    error: ErrorRecord,
    wording: ErrorText,
    fitting: list[ErrorText],
    parts: dict[str, str],
    line: int,
) -> Explanation:
    return Explanation(
        id=id_,
        kind=error.kind,
        title=error.title,
        text=wording.text,
        parts=parts,
        line=line,
        releases=[clause for clause in conditions.united(_clauses(fitting)) if clause],
        advice=error.advice,
        ops=list(error.ops),
        history=[source_history(kb, source) for source in error.sources],
        evidence=[told_of(kb, evidence) for evidence in error.evidence],
        scope=error.scope,
    )
