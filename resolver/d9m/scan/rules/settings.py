"""What rules of settings share: the record of a setting, its values, the switches of a project."""

from __future__ import annotations

from collections.abc import Iterator

from d9m.model.records import Setting
from d9m.scan.finding import Because, RelatedSpot
from d9m.scan.project.effects import Effect
from d9m.scan.project.project import Project
from d9m.scan.rules.rule import Objection


def because_of(project: Project, name: str, says: str) -> tuple[Because, ...]:
    """The record of a setting."""
    return (Because(f"settings/{project.kb.setting_ids[name]}", says),)


def value_fault(setting: Setting, value: str) -> str | None:
    if value in setting.refuses:
        return "With that value runs can differ."
    if setting.accepts and value.lower() not in map(str.lower, setting.accepts):
        *others, last = setting.accepts
        accepted = f"{', '.join(others)} or {last}" if others else last
        return f"It accepts {accepted}."
    if not setting.takes_number(value):
        return f"It must be {setting.number_wanted()}."
    return None


def switches_on(project: Project) -> Iterator[Effect]:
    """Places where a switch is turned on, in order of path and line; those under an argument that
    is false by default are among them.
    """
    switches = project.knowledge.switches()
    for made in project.effects.values():
        for effect in made:
            if effect.setting in switches and effect.value not in ("False", "0", "None"):
                yield effect


def refused_by_switch(project: Project) -> Iterator[Objection]:
    """Values that the switch of the same project does not accept."""
    for switch in switches_on(project):
        for solution, turn in project.knowledge.needed_with(switch.setting):
            assert turn.set is not None
            package = project.kb.home(project.kb.setting_ids[switch.setting])
            world = project.world(switch.path, frozenset((package,)))
            if not project.questions.surely_holds(world, turn.condition):
                continue
            setting = project.knowledge.variables[turn.set]
            for path, write in project.variables.get(turn.set, ()):
                known = write.value and value_fault(setting, write.value) is None
                if known and write.value not in turn.to:
                    yield Objection(
                        path=path,
                        place=write.place,
                        severity="warning" if switch.warns else None,
                        message=(
                            f"{solution.title} refuses {turn.set}={write.value}: the first call "
                            f"that needs it {'only warns' if switch.warns else 'raises an error'}."
                        ),
                        way_out=f"{turn.set}={turn.to[0]}",
                        related=(RelatedSpot(switch.path, switch.place.line, "switched on here"),),
                        because=because_of(project, setting.name, "values"),
                    )
        return
