"""What records say under conditions: each condition by its number, decided in every environment."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator
from typing import Any

import msgspec

from advisor.columns import positions
from advisor.environments import Offered
from advisor.tensors import Tensors, open_domains
from d9m.kb.store import KnowledgeBase
from d9m.model.records import Caution, SettingChange
from d9m.model.when import Condition, Cuts, When, parse


class Conditions:
    """Every distinct `when` of a statement, and where it holds."""

    def __init__(self, tensors: Tensors) -> None:
        self.tensors = tensors
        self._numbers: dict[bytes, int] = {}
        self._conditions: list[Condition] = []
        self._seen: dict[Hashable, int] = {}
        self._parts: dict[Hashable, Hashable] = {}

    def number(self, when: When) -> int:
        """The number of a condition."""
        text = msgspec.json.encode(when)
        if text not in self._numbers:
            self._numbers[text] = len(self._conditions)
            self._conditions.append(parse(when))
        return self._numbers[text]

    def __iter__(self) -> Iterator[Condition]:
        """All conditions, by their numbers."""
        return iter(self._conditions)

    def cuts(self) -> list[Cuts]:
        """Everything that the conditions restrict."""
        return [condition.cuts for condition in self._conditions]

    def __len__(self) -> int:
        return len(self._conditions)

    def tensor(self, number: int, offered: Offered) -> int:
        """The tensor of one condition in one environment."""
        condition = self._conditions[number]
        cuts = condition.cuts
        names = [name for name in cuts if name not in offered.environment.vocabulary]
        place = (number, *(self._part(name, cuts[name], offered) for name in names))
        if place not in self._seen:
            domains = open_domains(offered.environment, dict(cuts))
            self._seen[place] = self.tensors.place(
                domains, lambda world: int(condition.holds(world))
            )
        return self._seen[place]

    def _part(self, name: str, cuts: tuple[str, ...], offered: Offered) -> Hashable:
        if name == "device":
            return offered.environment.device
        place = (name, cuts, offered.held.get(name))
        if place not in self._parts:
            self._parts[place] = positions(offered.environment, name, cuts)
        return self._parts[place]


class Statements:
    """Records as the page needs them, with the number of a condition in place of each condition."""

    def __init__(self, kb: KnowledgeBase, numbered: Conditions) -> None:
        self.kb = kb
        self.number = numbered.number

    def everything(self, sources: Iterable[str]) -> dict[str, Any]:
        """All statements; `sources` are those that columns name."""
        kb = self.kb
        ingredients = sorted(kb.ingredients, key=lambda id_: (kb.ingredients[id_].order, id_))
        return {
            "sources": [self.source(id_) for id_ in sources],
            "solutions": (solutions := [self.solution(id_) for id_ in kb.solutions]),
            "ingredients": (needed := [self.ingredient(id_) for id_ in ingredients]),
            "settings": {name: self.setting(name) for name in _turned([*solutions, *needed])},
            "setting_pages": {name: kb.setting_ids[name] for name in kb.settings},
            "wordings": {id_: self.wordings(id_) for id_ in kb.errors},
            "errors": [self.error(id_) for id_ in kb.errors],
        }

    def source(self, id_: str) -> dict[str, Any]:
        source = self.kb.sources[id_]
        return {
            "id": id_,
            "title": source.title,
            "scope": source.scope,
            "cautions": self._cautions(source.cautions),
            "workarounds": [[each.text, self.number(each.when)] for each in source.workarounds],
            "costs": [[each.text, each.factor, self.number(each.when)] for each in source.costs],
            "links": len(source.references) + len(source.evidence),
        }

    def solution(self, id_: str) -> dict[str, Any]:
        solution = self.kb.solutions[id_]
        return {
            "id": id_,
            "label": solution.label,
            "title": solution.title,
            "home": self.kb.meta.folders.get(id_.partition("/")[0]),
            "costs": [[each.text, each.factor, self.number(each.when)] for each in solution.costs],
            "settings": self._turns(solution.settings),
            "sets": self._turns(solution.sets),
            "cautions": self._cautions(solution.cautions),
            "notes": self._cautions(solution.notes),
            "warns": None if solution.warns is None else self.number(solution.warns),
        }

    def ingredient(self, id_: str) -> dict[str, Any]:
        ingredient = self.kb.ingredients[id_]
        return {
            "id": id_,
            "title": ingredient.title,
            "scope": ingredient.scope,
            "optional": ingredient.optional,
            "when": self.number(ingredient.when),
            "names": sorted(ingredient.condition.cuts),
            "settings": self._turns(ingredient.settings),
            "cautions": self._cautions(ingredient.cautions),
        }

    def wordings(self, id_: str) -> list[Any]:
        texts = self.kb.errors[id_].texts
        return [[text.text, self.number(text.when), int(text.whole)] for text in texts]

    def error(self, id_: str) -> dict[str, Any]:
        """An error as it is recognised, and what it is about."""
        error = self.kb.errors[id_]
        package = self.kb.meta.folders.get(id_.partition("/")[0])
        about = {
            "title": error.title,
            "kind": error.kind,
            "advice": error.advice,
            "package": package,
        }
        return {"id": id_, **about, "ops": error.ops}

    def setting(self, name: str) -> dict[str, Any]:
        setting = self.kb.settings[name]
        kept = (
            "name",
            "kind",
            "read",
            "statement",
            "imports",
            "before_import",
            "list",
            "value_type",
            "where",
            "refuses",
            "summary",
        )
        known = msgspec.to_builtins(setting)
        return {name: known[name] for name in kept if name in known}

    def _turns(self, turns: Iterable[SettingChange]) -> list[dict[str, Any]]:
        return [{**msgspec.to_builtins(turn), "when": self.number(turn.when)} for turn in turns]

    def _cautions(self, cautions: Iterable[Caution]) -> list[Any]:
        return [[each.text, self.number(each.when)] for each in cautions]


def _turned(told: Iterable[dict[str, Any]]) -> list[str]:
    """Names of the settings that are turned."""
    found: set[str] = set()
    for record in told:
        for turn in (*record.get("settings", ()), *record.get("sets", ())):
            found.add(turn.get("set") or turn.get("unset"))
    return sorted(found)
