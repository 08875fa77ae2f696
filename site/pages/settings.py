"""A page for each setting, and the table of all."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from d9m.kb.kinds import HELPERS, INGREDIENTS, SOLUTIONS
from d9m.kb.store import KnowledgeBase
from d9m.model.records import Setting, SettingChange
from pages import layout, phrases, proof, recipes, solutions
from pages.markdown import code, codes
from pages.places import record_id


class Use(msgspec.Struct, frozen=True):
    """A record that turns a setting."""

    table: str
    id: str
    name: str
    turn: SettingChange
    automatic: bool


_KINDS = {
    "env": ("environment variable", "Environment variables"),
    "python": ("Python statement", "Python statements"),
    "flag": ("command-line flag", "Command-line flags"),
    "config": ("configuration key", "Configuration keys"),
    "install": ("package", "Packages"),
    "code": ("edit in the code", "Edits in the code"),
}


def pages(kb: KnowledgeBase) -> Iterator[tuple[str, str]]:
    uses = _uses(kb)
    groups: dict[str, list[tuple[Setting, list[Use]]]] = {}
    for name, setting in kb.settings.items():
        groups.setdefault(setting.kind, []).append((setting, uses.get(name, [])))
    title = "Settings"
    description = (
        "Every variable, statement, flag and key that affects determinism, and when it is read."
    )
    most_first = {
        kind: sorted(rows, key=lambda row: -max((_sources(kb, use) for use in row[1]), default=0))
        for kind, rows in groups.items()
    }
    ordered = [(many, most_first[kind]) for kind, (_one, many) in _KINDS.items() if kind in groups]
    yield layout.page(
        kb,
        "settings/index.md",
        "settings.md",
        title,
        description,
        groups=ordered,
        read=phrases.READ,
    )
    for name, setting in kb.settings.items():
        yield layout.record_page(
            kb,
            "settings",
            record_id(kb, "settings", name),
            "setting.md",
            name,
            setting.summary,
            setting=setting,
            facts=_facts(kb, setting),
            blocks=_blocks(kb, uses.get(name, [])),
            askers=_askers(kb, uses.get(name, [])),
            uses=uses.get(name, []),
            companions=_companions(kb, name, uses.get(name, [])),
            proofs=proof.of(kb, setting.evidence),
        )


def _facts(kb: KnowledgeBase, setting: Setting) -> list[tuple[str, str]]:
    """What is true of it whoever turns it."""
    separator = setting.list_
    known = {
        "Kind": _KINDS[setting.kind][0],
        "Read at": phrases.READ[setting.read],
        "Accepts": codes(setting.accepts),
        "Takes a list": ""
        if separator is None
        else code(separator) or "values with a blank between",
        "Place": code(setting.where or ""),
        "Read": phrases.condition(kb, setting.when),
    }
    return [(name, value) for name, value in known.items() if value]


def _askers(kb: KnowledgeBase, uses: list[Use]) -> dict[str, list[Use]]:
    """Kind of record -> who asks a person to make the setting, each once; first the solution of
    most sources.
    """
    found: dict[str, dict[str, Use]] = {}
    for use in uses:
        if use.table != HELPERS.table and not use.automatic:
            found.setdefault(use.table, {}).setdefault(use.id, use)
    return {
        table: sorted(named.values(), key=lambda use: -_sources(kb, use))
        for table, named in found.items()
    }


def _sources(kb: KnowledgeBase, use: Use) -> int:
    """How many sources the record fixes that makes a setting."""
    covered = solutions.covered(kb)
    return len(covered.get(kb.solutions[use.id].label, ())) if use.table == "solutions" else 0


def _companions(kb: KnowledgeBase, name: str, uses: list[Use]) -> list[str]:
    """What else the first solution that asks for the setting needs."""
    for use in _askers(kb, uses).get("solutions", []):
        turned = (turn.set for turn in kb.solutions[use.id].settings)
        return list(dict.fromkeys(each for each in turned if each and each != name))
    return []


def _blocks(kb: KnowledgeBase, uses: list[Use]) -> list[recipes.Block]:
    """What to copy: as the first record asks that a person follows."""
    for table, (first, *_others) in _askers(kb, uses).items():
        turns = [each.turn for each in uses if (each.table, each.id) == (table, first.id)]
        is_always = len(turns) > 1 and all(each.to == first.turn.to for each in turns)
        turn = msgspec.structs.replace(first.turn, when={}) if is_always else first.turn
        return recipes.of_turns(kb, first.name, [turn])
    return []


def _uses(kb: KnowledgeBase) -> dict[str, list[Use]]:
    """Setting -> who turns it."""
    found: dict[str, list[Use]] = {}
    for kind in (SOLUTIONS, INGREDIENTS, HELPERS):
        for id_, record in kb.of(kind).items():
            turned = [(turn, False) for turn in getattr(record, "settings", [])]
            for turn, automatic in [*turned, *((turn, True) for turn in record.sets)]:
                use = Use(kind.table, id_, record.title, turn, automatic)
                found.setdefault(turn.name, []).append(use)
    return found
