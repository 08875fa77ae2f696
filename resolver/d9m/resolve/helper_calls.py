"""Calls that set things on the user's behalf, and which of them the user wrote."""

from __future__ import annotations

import re
from collections.abc import Sequence

import msgspec

from d9m.environment.environment import Environment
from d9m.errors import UsageError, nearest, quote
from d9m.kb.store import KnowledgeBase
from d9m.model.op_syntax import split
from d9m.model.records import Helper
from d9m.model.signatures import arguments as read_arguments
from d9m.resolve import plain_statements
from d9m.resolve.op_names import meaning


class Call(msgspec.Struct, frozen=True):
    """A call, as the knowledge base knows it."""

    id: str
    home: str
    """Package that it comes with."""
    helper: Helper


# Text, not compiled: few questions need it, and compiling is felt at the start.
_CALL = r"(?s)\s*(?P<name>[\w.\-/=]+)\s*(?P<arguments>\(.*\))?\s*"
_LONGEST = 500


def find(kb: KnowledgeBase, packages: Sequence[str], text: str) -> Call:
    """Return the call that the user wrote: ``seed_everything``, ``Trainer(deterministic=True)``,
    with any further arguments; or a statement that makes one setting.

    Where several packages have it, that of the named `packages` is meant. Raises UsageError.
    """
    if len(text) > _LONGEST:
        raise _no_call(text)
    every = [call(kb, id_) for id_ in kb.helpers]
    wanted = text.strip().lower()
    named = [known for known in every if wanted in (known.id, *map(str.lower, spellings(known)))]
    written = re.fullmatch(_CALL, text)
    arguments = written["arguments"] if written is not None else None
    own = None if named else plain_statements.helper_of(kb, text)
    if written is not None and not named and (own is None or arguments is not None):
        named = _best(every, written["name"], arguments)
    found = [known for known in named if known.home in packages] or named
    if own is not None and not found:
        home = kb.meta.folders.get(own[0].partition("/")[0], "")
        brings = home in packages or home in kb.meta.prefixes
        return Call(own[0], home if brings else "", own[1])
    if len(found) == 1:
        return _with_seed(found[0], arguments)
    if found:
        raise UsageError(
            f"{quote(text)} may be any of {len(found)}",
            allowed=[known.helper.call for known in found],
        )
    if written is None:
        raise _no_call(text)
    names: list[str] = []
    for known in every:
        names += spellings(known)
    near = _nearest(text.partition("(")[0].strip(), names)
    tip = _as_op(kb, packages, written["name"]) or "see: d9m list helpers"
    raise UsageError(f"unknown call {quote(text)}", nearest=near, tip=tip)


def _as_op(kb: KnowledgeBase, packages: Sequence[str], name: str) -> str | None:
    """How to name what is an op: ``torch.compile`` sets nothing, and says a lot of the program."""
    for package in packages:
        if package in kb.meta.prefixes and meaning(kb, package, name).entries:
            return f"it is an op: --ops {name}"
    return None


def _no_call(text: str) -> UsageError:
    known = ["seed_everything", "Trainer(deterministic=True)", "torch.manual_seed(7)"]
    return UsageError(f"{quote(text)} is not a call", allowed=known)


_SEED = r"(?:seed=)?(?:0|seed)"
_NUMBER = r"(?:seed=)?(?P<number>[0-9]+)"


def _with_seed(known: Call, arguments: str | None) -> Call:
    """A call with the seed that was written in place of the one of its record."""
    first = next(iter(split(arguments[1:-1])), "") if arguments else ""
    given = re.fullmatch(_NUMBER, first.replace(" ", ""))
    helper = known.helper
    name, _bracket, inside = helper.call.partition("(")
    template = split(inside.rpartition(")")[0])
    if given is None or not template or not re.fullmatch(_SEED, template[0]):
        return known
    sets = list(helper.sets)
    for place, turn in enumerate(sets):
        if turn.any_value:
            sets[place] = msgspec.structs.replace(turn, to=[given["number"]], any_value=False)
    keyword = "seed=" if template[0].startswith("seed=") else ""
    shown = f"{name}({', '.join([keyword + given['number'], *template[1:]])})"
    return Call(known.id, known.home, msgspec.structs.replace(helper, call=shown, sets=sets))


def spellings(wanted: Call) -> tuple[str, ...]:
    """A call as people write it, the usual way first."""
    return (wanted.helper.call, *wanted.helper.aliases)


def call(kb: KnowledgeBase, id_: str) -> Call:
    """The call with this id."""
    return Call(id_, kb.meta.folders.get(id_.partition("/")[0], ""), kb.helpers[id_])


def must_exist(environment: Environment, wanted: Call) -> None:
    """Raises UsageError where no release in question has the call."""
    if wanted.home and not environment.holding(wanted.helper.condition):
        version = environment.packages[wanted.home].version
        raise UsageError(
            f"{wanted.home} {version or ''} has no {wanted.helper.call}".replace("  ", " ")
        )


def decide_facts(kb: KnowledgeBase, environment: Environment, calls: Sequence[Call]) -> Environment:
    """The environment with what the calls decide by the settings that they make; a fact that only
    some of the releases decide is undecided. What the user says of a fact stays.
    """
    decided: dict[str, str] = {}
    undecided = set(environment.undecided)
    for made in calls:
        for turn in made.helper.sets:
            facts = kb.settings[turn.name].decides.get(next(iter(turn.to), ""), {})
            where = environment.holding(turn.condition) if facts else []
            if {} in where:
                decided.update(facts)
            elif where:
                undecided.update(facts)
    open_ = frozenset(undecided - decided.keys())
    return msgspec.structs.replace(
        environment.given({**decided, **environment.facts}), undecided=open_
    )


def _nearest(name: str, spellings: Sequence[str]) -> list[str]:
    """Calls with a name like this one, with or without what comes before the last dot."""
    ends: dict[str, str] = {}
    for spelling in spellings:
        ends[spelling.partition("(")[0].rpartition(".")[2]] = spelling
    short = [ends[end] for end in nearest(name.rpartition(".")[2], ends)]
    return list(dict.fromkeys([*nearest(name, spellings), *short]))[:3]


def _best(every: Sequence[Call], name: str, arguments: str | None) -> list[Call]:
    """Calls of this name whose arguments were written; those that ask for the most."""
    named: list[tuple[Call, dict[str, str]]] = []
    for known in every:
        for spelling in spellings(known):
            asked = _asked(spelling, name)
            if asked:
                named.append((known, asked))
    given = _arguments(arguments or "()")
    fitting = [(known, asked) for known, asked in named if asked.items() <= given.items()]
    if not fitting and arguments is None:  # the bare name of a call that always has arguments
        return list({known.id: known for known, _asked in named}.values())
    most = max((len(asked) for _known, asked in fitting), default=0)
    return list({known.id: known for known, asked in fitting if len(asked) == most}.values())


def _asked(spelling: str, name: str) -> dict[str, str]:
    """The name and arguments that make a spelling this call and no other; empty for another name.

    A number or a variable stands for any value (``seed=0``, ``seed=seed``).
    """
    known, bracket, rest = spelling.partition("(")
    if not f".{known}".lower().endswith(f".{name}".lower()):
        return {}
    asked = {"": ""}
    for argument, value in _arguments(bracket + rest).items():
        if value != argument and not value.isdigit():
            asked[argument] = value
    return asked


def _arguments(text: str) -> dict[str, str]:
    """Keyword arguments, and texts without a keyword (``"error"``); of anything, the empty one."""
    written = read_arguments(text[1:].rpartition(")")[0])
    found = {"": ""}
    for name, said in written.keywords.items():
        found[name.lower()] = _literal(said)
    for said in written.positional:
        if said[:1] in "\"'":
            found[repr(_literal(said))] = _literal(said)
    return found


def _literal(text: str) -> str:
    return text.strip("\"'").lower()
