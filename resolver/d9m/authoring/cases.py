"""Golden cases: a question in a file, and what its answer must say.

The expected values come from documents, never from the records: an author who
changes a record sees in a case what that changes for a user.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeAlias, cast

import msgspec

from d9m import api, files
from d9m.environment.environment import Setup
from d9m.errors import D9mError, DataError
from d9m.kb.store import KnowledgeBase
from d9m.model.advice import Advice
from d9m.model.records import Scope

Object: TypeAlias = dict[str, Any]
"""Of JSON."""


class CaseQuestion(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The question; keys that are absent take the defaults of the command line."""

    with_: dict[str, str | None] = msgspec.field(name="with", default={})
    """Package -> version; null: named without one."""
    container: str | None = None
    ops: list[str] | None = None
    device: str | None = None
    facts: dict[str, str] = {}
    inference: bool = False
    scope: Scope = "run"
    calls: list[str] = []
    """Calls that the user makes already."""

    def answer(self, kb: KnowledgeBase) -> Advice:
        """Raises UsageError, as the command line would."""
        packages, facts = tuple(self.with_.items()), tuple(self.facts.items())
        asked = Setup(packages, self.container, self.device, facts, self.inference)
        return api.advise(kb, asked, self.ops, self.scope, self.calls)


class CaseRow(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One expected value, and the place in a document that says so. Exactly one comparison is
    made.
    """

    at: str
    """Dotted path into the JSON of the answer; entries of a list go by query, id or label."""
    because: Object
    is_: Any = msgspec.field(name="is", default=msgspec.UNSET)
    has: list[Any] | Object | msgspec.UnsetType = msgspec.UNSET
    """All of these: items of a list, keys or pairs of an object."""
    lacks: list[Any] | msgspec.UnsetType = msgspec.UNSET
    """None of these: items of a list, keys of an object."""
    contains: str | msgspec.UnsetType = msgspec.UNSET
    """Part of a text; empty: any text will do."""
    has_id: str | msgspec.UnsetType = msgspec.UNSET
    """Id of one of the objects."""
    some: Object | msgspec.UnsetType = msgspec.UNSET
    """One of the objects has these pairs."""
    none: Object | msgspec.UnsetType = msgspec.UNSET
    """None of the objects has these pairs."""
    some_contains: str | msgspec.UnsetType = msgspec.UNSET
    """One of the texts has this part."""
    none_contains: str | msgspec.UnsetType = msgspec.UNSET
    matches: str | msgspec.UnsetType = msgspec.UNSET
    """Pattern of the value's JSON text as a whole; a place that the answer lacks reads ``null``."""

    def comparison(self) -> tuple[str, Any]:
        """Name and wanted value. Raises ValueError unless there is exactly one."""
        made = [name for name in COMPARISONS if getattr(self, name) is not msgspec.UNSET]
        if len(made) != 1:
            raise ValueError(
                f"{self.at}: {len(made)} comparisons, needs one of {', '.join(COMPARISONS)}"
            )
        return made[0], getattr(self, made[0])

    def failure(self, answer: Any) -> str | None:
        """Return the faults of an answer."""
        name, wanted = self.comparison()
        found = list(places(answer, self.at)) or ([None] if name == "matches" else [])
        if not found:
            return f"{self.at}: the answer has no such place"
        wrong = [each for each in found if not _compares(name, each, wanted)]
        return (
            f"{self.at}: expected {name.rstrip('_')} {wanted!r}, found {wrong[0]!r}"
            if wrong
            else None
        )


class Refusal(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The error that a question must get."""

    exit: int
    says: list[str]
    """Parts of its text."""
    because: Object

    def failure(self, error: D9mError) -> str | None:
        missing = [part for part in self.says if part not in error.text()]
        if error.exit_code != self.exit:
            return f"expected exit {self.exit}, got {error.exit_code}: {error}"
        return f"expected the error to say {', '.join(missing)}: {error}" if missing else None


class Case(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One question with its expected answer, or its expected error."""

    title: str
    ask: CaseQuestion
    expect: list[CaseRow] = []
    expect_error: Refusal | None = None
    name: str = ""
    """The file's name without its ending."""


def load(folder: Path) -> list[Case]:
    """All cases of a folder, by name. Raises DataError for a malformed one."""
    return [read(path) for path in sorted(folder.glob("*.json"))]


def read(path: Path) -> Case:
    try:
        case = msgspec.json.decode(files.content(path), type=Case)
        for row in case.expect:
            row.comparison()
    except (OSError, msgspec.MsgspecError, ValueError) as error:
        raise DataError(f"{path}: not a case: {error}") from None
    if bool(case.expect) == bool(case.expect_error):
        raise DataError(f"{path}: a case needs either expect or expect_error")
    return msgspec.structs.replace(case, name=path.stem)


def failures(kb: KnowledgeBase, case: Case) -> list[str]:
    """Return where the knowledge base answers otherwise than a case expects."""
    return faults(case, reply(kb, case))


def reply(kb: KnowledgeBase, case: Case) -> Advice | D9mError:
    """The answer to a case's question, or the error that it gets."""
    try:
        return case.ask.answer(kb)
    except D9mError as error:
        return error


def faults(case: Case, said: Advice | D9mError) -> list[str]:
    """Return where a reply differs from what a case expects."""
    if isinstance(said, D9mError):
        wrong = [case.expect_error.failure(said)] if case.expect_error else [f"refused: {said}"]
    else:
        answer = msgspec.to_builtins(said)
        answered = ["answered, where an error is expected"] if case.expect_error else []
        wrong = [*answered, *(row.failure(answer) for row in case.expect)]
    return [each for each in wrong if each is not None]


def places(answer: Any, at: str) -> Iterator[Any]:
    """Every value at a path; ``sources.ID`` is that source under any op.

    Names may hold dots themselves (an op, a config key): the longest that fits is meant.
    """
    if at.startswith("sources."):
        answer = {"sources": [source for op in answer["ops"] for source in op["sources"]]}
    return _inside(answer, at)


def _inside(value: Any, at: str) -> Iterator[Any]:
    if not at:
        yield value
        return
    named = list(_named(value))
    fitting = [name for name, _inner in named if at == name or at.startswith(f"{name}.")]
    longest = max(fitting, key=len, default=None)
    for name, inner in named:
        if name == longest:
            yield from _inside(inner, at[len(name) + 1 :])


def _named(value: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(value, dict):
        yield from cast(Object, value).items()
    elif isinstance(value, list):
        for item in cast(list[Any], value):
            if isinstance(item, dict):
                for name in ("query", "id", "label"):
                    if name in item:
                        yield item[name], cast(Object, item)


def _compares(name: str, found: Any, wanted: Any) -> bool:
    """A value of another shape than the comparison needs is as wrong as another value."""
    try:
        return COMPARISONS[name](found, wanted)
    except (TypeError, AttributeError, KeyError):
        return False


def _has(found: Any, wanted: Any) -> bool:
    if isinstance(wanted, dict):
        return _has_pairs(found, cast(Object, wanted))
    return all(each in found for each in wanted)


def _has_pairs(found: Any, wanted: Object) -> bool:
    return all(name in found and found[name] == value for name, value in wanted.items())


def _lacks(found: Any, wanted: list[Any]) -> bool:
    return isinstance(found, (list, dict)) and not any(each in found for each in wanted)


def _none(found: Any, wanted: Object) -> bool:
    if not isinstance(found, list):
        return False
    return not any(_has_pairs(item, wanted) for item in cast(list[Any], found))


def _none_contains(found: Any, wanted: str) -> bool:
    return isinstance(found, list) and not any(wanted in each for each in cast(list[Any], found))


COMPARISONS: dict[str, Callable[[Any, Any], bool]] = {
    "is_": lambda found, wanted: found == wanted,
    "has": _has,
    "lacks": _lacks,
    "contains": lambda found, wanted: isinstance(found, str) and wanted in found,
    "has_id": lambda found, wanted: any(each["id"] == wanted for each in found),
    "some": lambda found, wanted: any(_has_pairs(each, wanted) for each in found),
    "none": _none,
    "some_contains": lambda found, wanted: any(wanted in each for each in found),
    "none_contains": _none_contains,
    "matches": lambda found, wanted: (
        re.fullmatch(wanted, msgspec.json.encode(found).decode()) is not None
    ),
}
"""Field of `Row` -> whether a found value is as wanted."""
