"""The settings that the calls and statements of a file make."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from d9m.model.signatures import Arguments, arguments
from d9m.model.when import Condition
from d9m.resolve import helper_calls
from d9m.resolve.helper_calls import Call
from d9m.scan.facts import Arms, Assignment, EnvironmentWrite, FileFacts, WrittenCall
from d9m.scan.finding import Spot
from d9m.scan.project.questions import Questions
from d9m.scan.reading.expressions import shown
from d9m.scan.vocabulary import Vocabulary


class Effect(msgspec.Struct, frozen=True, kw_only=True):
    """A setting that a line of code makes."""

    setting: str
    value: str | None
    """As written; None where the text does not say it."""
    path: str
    place: Spot
    by: str
    """The code that makes it, as written."""
    package: str | None = None
    """Package of the helper that makes it, if one does."""
    when: tuple[Condition, ...] = ()
    """Where it does."""
    scope: int = 0
    arms: Arms = ()
    guarded: bool = False
    warns: bool = False
    """A switch that only warns."""
    call: WrittenCall | None = None
    write: EnvironmentWrite | None = None
    assignment: Assignment | None = None
    helper: Call | None = None
    any_value: bool = False


def written(call: WrittenCall, name: str) -> str:
    """A call as one would paste it."""
    parts = [*call.positional, *(f"{key}={said}" for key, said in call.keywords.items())]
    return f"{name}({', '.join(parts)})"


def effects(questions: Questions, vocabulary: Vocabulary, facts: FileFacts) -> Iterator[Effect]:
    """Yield the settings of a file in the order of the text, except variables, which come last."""
    for assignment in facts.assignments:
        yield Effect(
            setting=vocabulary.statements[assignment.name],
            value=assignment.value,
            path=facts.path,
            place=assignment.place,
            by=assignment.name,
            scope=assignment.scope,
            arms=assignment.arms,
            assignment=assignment,
        )
    for call in facts.calls:
        yield from _of_call(questions, vocabulary, facts, call)
    for write in facts.variables:
        yield Effect(
            setting=write.name,
            value=write.value,
            path=facts.path,
            place=write.place,
            by=write.name,
            scope=write.scope,
            arms=write.arms,
            write=write,
        )


def _of_call(
    questions: Questions, vocabulary: Vocabulary, facts: FileFacts, call: WrittenCall
) -> Iterator[Effect]:
    made = vocabulary.made(call.name, call.positional, call.keywords)
    setting, value = made if made is not None else (None, None)
    helper = _helper(questions, vocabulary, call)
    if helper is not None and not _says_other(helper, setting, value):
        yield from _of_helper(facts, call, helper)
    elif setting is not None:
        yield Effect(
            setting=setting,
            value=value,
            path=facts.path,
            place=call.place,
            by=call.name,
            scope=call.scope,
            arms=call.arms,
            guarded=call.guarded,
            call=call,
        )


def _of_helper(facts: FileFacts, call: WrittenCall, helper: Call) -> Iterator[Effect]:
    where = (helper.helper.left_out_where,) if helper.left_out else ()
    if helper.left_out and helper.helper.left_out is None:
        return
    by = _spelt(helper, call)
    for turn in helper.helper.sets:
        if turn.set is not None:
            yield Effect(
                setting=turn.set,
                value=None if turn.any_value or not turn.to else turn.to[0],
                path=facts.path,
                place=call.place,
                by=by,
                package=helper.home,
                when=(helper.helper.condition, turn.condition, *where),
                scope=call.scope,
                arms=call.arms,
                guarded=call.guarded,
                warns=helper.helper.warns is not None,
                call=call,
                helper=helper,
                any_value=turn.any_value,
            )


def as_recorded(helper: Call, call: WrittenCall) -> Arguments:
    """Return the arguments of a call as its record writes it, with the name that the file uses."""
    spellings = helper_calls.spellings(helper)
    own = (text for text in spellings if text.startswith(f"{call.name}("))
    return arguments(next(own, spellings[0]).partition("(")[2].rpartition(")")[0])


def _spelt(helper: Call, call: WrittenCall) -> str:
    """The call as the file writes it; of its keywords those that the record names, if any."""
    named = as_recorded(helper, call).keywords
    if helper.left_out and named:
        return f"{call.name}() without {next(iter(named))}="
    kept = {key: said for key, said in call.keywords.items() if key in named or not named}
    text = shown(written(msgspec.structs.replace(call, keywords=kept), call.name))
    if len(kept) == len(call.keywords):
        return text
    return f"{text.removesuffix(')')}{', ' if kept or call.positional else ''}…)"


def _says_other(helper: Call, setting: str | None, value: str | None) -> bool:
    """Whether a call gives a switch the opposite of what the helper of its arguments gives it:
    ``use_deterministic_algorithms(False, warn_only=True)``.
    """
    return value in ("True", "False") and any(
        turn.set == setting and value not in turn.to for turn in helper.helper.sets
    )


def _helper(questions: Questions, vocabulary: Vocabulary, call: WrittenCall) -> Call | None:
    package = vocabulary.package(call.name)
    last = call.name.rpartition(".")[2]
    if package is None or (package, last) not in vocabulary.helpers:
        return None
    folders = questions.kb.meta.folders
    for spelling in (call.name, f"{package}.{last}", last):
        found = questions.helper(package, written(call, spelling))
        if found is not None and found.home == package and folders:
            return found if found.id in questions.kb.helpers else None
    return None
