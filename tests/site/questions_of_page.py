"""Random questions for the page, and the resolver's answers to them."""

from __future__ import annotations

import functools
import random
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, get_args

import msgspec
from site_build import generator

from d9m.api import advise
from d9m.environment.environment import DEVICES
from d9m.errors import UsageError
from d9m.kb.store import KnowledgeBase, OpEntry
from d9m.model import op_syntax
from d9m.model.records import Scope
from d9m.model.when import clauses
from d9m.resolve import op_lookup

if TYPE_CHECKING:
    from advisor.environments import Choice


def questions(kb: KnowledgeBase, many: int, seed: int = 6) -> list[dict[str, Any]]:
    """Single and several ops, containers, devices, facts, arguments; some contradict themselves."""
    generator()
    from advisor.environments import choices

    dice, gpus = random.Random(seed), random.Random(seed)
    models = sorted(kb.gpus[""].gpus)
    offered = choices(kb)
    main = [
        each for each in offered if each.name in kb.meta.prefixes or each.option == "--container"
    ]
    found: list[dict[str, Any]] = []
    packages = [each for each in offered if each.option != "--container"]
    while len(found) < many:
        choice = dice.choice(main if dice.random() < 0.8 else offered)
        question: dict[str, Any] = {"choice": choice.name, "version": dice.choice(choice.versions)}
        question["added"] = _added(choice, packages, gpus)
        question["device"] = dice.choices(DEVICES, [12, 2, 1, 1, 4])[0]
        question["gpu"] = gpus.choice(models) if gpus.random() < 0.2 else ""
        question["scope"] = dice.choices(get_args(Scope), [8, 1, 1])[0]
        question["facts"] = _facts(kb, dice)
        question["inference"] = dice.random() < 0.1 and "training" not in question["facts"]
        question["ops"] = ", ".join(_items(kb, dice, choice.name))
        found.append(question)
    return found


def _added(
    choice: Choice, packages: Sequence[Choice], dice: random.Random
) -> list[tuple[str, str]]:
    """Up to three further packages; an image takes none."""
    others = [each for each in packages if each.name != choice.name]
    many = 0 if choice.option == "--container" else dice.choices((0, 1, 2, 3), (5, 3, 3, 1))[0]
    return [(each.name, dice.choice(each.versions)) for each in dice.sample(others, many)]


def _facts(kb: KnowledgeBase, dice: random.Random) -> dict[str, str]:
    known = [name for name, fact in kb.meta.facts.items() if not fact.argument]
    chosen = dice.sample(known, dice.choices((0, 1, 2), (5, 4, 1))[0])
    return {name: _value(kb, dice, name) for name in chosen}


def _value(kb: KnowledgeBase, dice: random.Random, name: str) -> str:
    fact = kb.meta.facts[name]
    return dice.choice(fact.values) if fact.values else str(dice.choice((1, 2, 3, 70, 80, 90)))


def _items(kb: KnowledgeBase, dice: random.Random, choice: str) -> list[str]:
    package = {"ngc-pytorch": "torch", "ngc-tensorflow": "tensorflow"}.get(choice, choice)
    if package not in kb.meta.prefixes or dice.random() < 0.05:
        return []
    known: list[OpEntry] = [kb.ops[each] for each in kb.ops if each.startswith(f"{package}:")]
    brought = {
        entry.name: op_lookup.brought_along(kb, op_syntax.parse(entry.name)) for entry in known
    }
    known = [entry for entry in known if brought[entry.name] in (None, package)]
    meeting = [
        each for each in known if any(kb.sources_of(package, one.op) for one in each.reaches)
    ]
    many = dice.choices((1, 2, 3, 8), (5, 3, 2, 1))[0]
    return [
        _item(kb, dice, dice.choice(known if dice.random() < 0.2 else meeting)) for _ in range(many)
    ]


def _item(kb: KnowledgeBase, dice: random.Random, entry: OpEntry) -> str:
    """A name as people write it, with arguments that its sources ask about more often than
    others.
    """
    asked = {
        name
        for one in entry.reaches
        for source in kb.sources_of(entry.package, one.op)
        for clause in (
            *(each.when for each in source.patterns),
            *_clauses(source.source.timeline.values()),
        )
        for name in clause
        if name in kb.meta.facts and kb.meta.facts[name].argument
    }
    arguments = sorted(asked) or [name for name, fact in kb.meta.facts.items() if fact.argument]
    chosen = dice.sample(arguments, min(len(arguments), dice.choices((0, 1, 2), (4, 4, 2))[0]))
    stated = [f"{name}={_value(kb, dice, name)}" for name in chosen]
    name = entry.name if dice.random() < 0.6 else entry.name.rpartition(".")[2]
    if "[" in name or "(" in name:
        stated = []
    direction = dice.choice(("", "", ":backward", ":forward"))
    form = dice.randrange(3)
    if not stated:
        return f"{name}{direction}"
    if form == 0:
        return f"{name}[{', '.join(stated)}]{direction}"
    if form == 1:
        return "".join((name, *(f":{each}" for each in stated), direction))
    quoted = ", ".join(f"{each.partition('=')[0]}='{each.partition('=')[2]}'" for each in stated)
    return f"{name}(x, {quoted}){direction}"


def _clauses(tracks: Any) -> list[dict[str, Any]]:
    whens = [exception.when for steps in tracks for step in steps for exception in step.unless]
    return [clause for when in whens for clause in clauses(when)]


@functools.cache
def _choices(kb: KnowledgeBase) -> dict[str, Any]:
    """What the page offers, by name: the same for every question."""
    from advisor.environments import choices

    return {choice.name: choice for choice in choices(kb)}


def expected(kb: KnowledgeBase, question: dict[str, Any]) -> dict[str, Any]:
    """The resolver's JSON; ``mistake`` where it refuses the question."""
    generator()
    from advisor.environments import asked

    choice = _choices(kb)[question["choice"]]
    environment = msgspec.structs.replace(
        asked(choice, question["version"], question["device"], question.get("added", ())),
        facts=tuple(question["facts"].items()),
        gpu=question.get("gpu") or None,
        inference=question["inference"],
    )
    items = list(dict.fromkeys(op_syntax.split(question["ops"])))
    try:
        return msgspec.json.decode(
            msgspec.json.encode(advise(kb, environment, items or None, question["scope"]))
        )
    except UsageError as error:
        return {"mistake": str(error)}


LEFT_OUT = {
    "evidence",
    "references",
    "device",
    "links",
    "summary",
    "helpers",
    "existing",
    "missing",
    "home",
    "decide",
    "could_mean",
    "fixed_with",
}
"""What pages of records and fields of the form have instead, and what is about a machine at hand.
"""


HINTS = ("default", "raised_by", "workarounds")
"""What the terminal's hints say of an assumption that falls, and the page does not."""


def compared(answer: Any) -> Any:
    """An answer less what the page leaves to the pages of records."""
    if isinstance(answer, list):
        return [compared(each) for each in answer]
    if not isinstance(answer, dict):
        return answer
    kept = {name: compared(each) for name, each in answer.items() if name not in LEFT_OUT}
    for worse in kept.get("otherwise") or ():
        for name in HINTS:
            worse.pop(name, None)
    if "workarounds" in kept:
        kept["workarounds"] = [{"text": each["text"]} for each in kept["workarounds"]]
    if "ingredients" in kept:
        kept["ingredients"] = [
            {k: v for k, v in each.items() if k != "examples"} for each in kept["ingredients"]
        ]
        kept["environment"]["device"] = answer["environment"]["device"]
    return kept
