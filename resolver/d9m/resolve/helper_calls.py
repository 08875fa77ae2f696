"""Calls that set things on the user's behalf, and which of them the user wrote."""

from __future__ import annotations

import re
from collections.abc import Sequence

import msgspec

from d9m.environment.environment import Environment
from d9m.errors import UsageError, nearest, quote
from d9m.kb.store import KnowledgeBase
from d9m.model.op_syntax import split
from d9m.model.records import Helper, SettingChange
from d9m.model.signatures import arguments as read_arguments
from d9m.model.when import Clause
from d9m.resolve import plain_statements
from d9m.resolve.merge import both
from d9m.resolve.op_names import meaning


class Call(msgspec.Struct, frozen=True):
    """A call, as the knowledge base knows it."""

    id: str
    home: str
    """Package that it comes with."""
    helper: Helper
    left_out: frozenset[str] = frozenset()
    """Names of settings whose argument the call leaves out: it makes them where that does the
    same.
    """

    def makes(self, environment: Environment, turn: SettingChange) -> tuple[Clause, ...]:
        """Return where the call makes a setting."""
        where = environment.holding(turn.condition)
        if turn.name in self.left_out:
            where = both(where, environment.holding(self.helper.left_out_where))
        return tuple(where)


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
    own = None if named else _statement(kb, packages, text)
    if written is not None and not named and (own is None or arguments is not None):
        named = _best(every, packages, written["name"], arguments)
    if own is not None:
        named = [known for known in named if not known.left_out]
        if own.home not in [known.home for known in named]:
            named.append(own)
    found = [known for known in named if known.home in packages] or named
    if len(found) == 1:
        return found[0] if found[0] is own or not arguments else _as_written(found[0], text)
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


def _statement(kb: KnowledgeBase, packages: Sequence[str], text: str) -> Call | None:
    """A statement that makes one setting, with its package where that may be brought along."""
    own = plain_statements.helper_of(kb, text)
    if own is None:
        return None
    home = kb.meta.folders.get(own[0].partition("/")[0], "")
    return Call(own[0], home if home in packages or home in kb.meta.prefixes else "", own[1])


_SEED = r"(?:seed=)?(?:0|seed)"


def _as_written(known: Call, text: str) -> Call:
    """A call with the arguments, and so with the seed, that were written; without a
    seed, or with None, it makes nothing, unless the record says that it does the same.
    """
    name, _bracket, arguments = text.strip().partition("(")
    end = f".{name}".lower()
    alike = [
        spelling
        for spelling in spellings(known)
        if f".{spelling.partition('(')[0]}".lower().endswith(end)
    ]
    fitting = alike[0] if alike else known.helper.call
    shown = f"{fitting.partition('(')[0]}({arguments}"
    template = split(fitting.partition("(")[2].rpartition(")")[0])
    places = [place for place, said in enumerate(template) if re.fullmatch(_SEED, said)]
    helper = msgspec.structs.replace(known.helper, call=shown)
    if not places or known.left_out:
        return msgspec.structs.replace(known, helper=helper)
    given = read_arguments(arguments.rpartition(")")[0])
    positional = dict(enumerate(given.positional)).get(places[0], "None")
    seed = given.keywords.get("seed", positional)
    if seed == "None":
        return _lacking(msgspec.structs.replace(known, helper=helper))
    sets = [
        msgspec.structs.replace(turn, to=[seed], any_value=False)
        if turn.any_value and seed.isdigit()
        else turn
        for turn in helper.sets
    ]
    return msgspec.structs.replace(known, helper=msgspec.structs.replace(helper, sets=sets))


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
            where = made.makes(environment, turn) if facts else ()
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


def _best(
    every: Sequence[Call], packages: Sequence[str], name: str, arguments: str | None
) -> list[Call]:
    """Calls of this name whose arguments were written; those that ask for the most."""
    named: list[tuple[Call, dict[str, str]]] = []
    for known in every:
        for spelling in spellings(known):
            asked = _asked(spelling, name)
            if asked:
                named.append((known, asked))
    here = [(known, asked) for known, asked in named if known.home in packages]
    named = here or named
    given = _arguments(arguments or "()")
    fitting = [(known, asked) for known, asked in named if asked.items() <= given.items()]
    if not fitting and arguments is None:  # the bare name of a call that always has arguments
        fitting = [(known, {"": ""}) for known, _asked in named]
    most = max((len(asked) for _known, asked in fitting), default=0)
    if here and not fitting and "*" not in given:  # which may hold any argument
        return _left_out(here, given)
    if "." not in name and not here and most == 1:  # its name alone does not tell whose it is
        homes = {known.home for known, _asked in fitting}
        fitting += [(known, {"": ""}) for known, _asked in named if known.home not in homes]
    return list({known.id: known for known, asked in fitting if len(asked) == most}.values())


def _left_out(named: Sequence[tuple[Call, dict[str, str]]], given: dict[str, str]) -> list[Call]:
    """A call without the arguments that its records ask for: that of the record which says where
    this does the same, or one that makes nothing.
    """
    free = [
        known
        for known, asked in named
        if not any(key in given or not key.isidentifier() for key in asked.keys() - {""})
    ]
    told = [known for known in free if known.helper.left_out is not None] or free[:1]
    return [_lacking(known) for known in {known.id: known for known in told}.values()]


def _lacking(known: Call) -> Call:
    """A call that leaves out the arguments which its record asks for."""
    names = frozenset(turn.name for turn in known.helper.sets)
    return msgspec.structs.replace(known, left_out=names)


def _asked(spelling: str, name: str) -> dict[str, str]:
    """The name and arguments that make a spelling this call and no other; empty for another name.

    The number of a seed or a variable stands for any value (``seed=0``, ``seed=seed``).
    """
    known, bracket, rest = spelling.partition("(")
    if not f".{known}".lower().endswith(f".{name}".lower()):
        return {}
    asked = {"": ""}
    for argument, value in _arguments(bracket + rest).items():
        if value != argument and argument != "seed":
            asked[argument] = value
    return asked


def _arguments(text: str) -> dict[str, str]:
    """Keyword arguments, and texts without a keyword (``"error"``); of anything, the empty one.
    None is an argument left out.
    """
    written = read_arguments(text[1:].rpartition(")")[0])
    found = {"": ""}
    for name, said in written.keywords.items():
        if said != "None":
            found[name.lower()] = _literal(said)
    for said in written.positional:
        if said.startswith("*"):
            found["*"] = said
        if said[:1] in "\"'":
            found[repr(_literal(said))] = _literal(said)
    return found


def _literal(text: str) -> str:
    return text.strip("\"'").lower()
