"""Calls of libraries that set things: what do they leave, and what do they cost?"""

from __future__ import annotations

from collections.abc import Iterator

from d9m.resolve import helper_calls
from d9m.resolve.helper_calls import Call
from d9m.scan.finding import Because, RelatedSpot
from d9m.scan.project.effects import Effect
from d9m.scan.project.programs import Program
from d9m.scan.project.project import Project
from d9m.scan.rules.program_seeds import seed_call, seeded
from d9m.scan.rules.rule import Objection, ScanRule
from d9m.scan.rules.settings import because_of, switches_on
from d9m.scan.rules.switches import is_decided_elsewhere


def _check_helper(project: Project) -> Iterator[Objection]:
    yield from _check_switch_only(project)
    yield from _check_seeds_only(project)


def _check_switch_only(project: Project) -> Iterator[Objection]:
    """Helpers that turn a switch on, in a program that seeds nothing."""
    switches = project.knowledge.switches()
    seen: set[tuple[str, int]] = set()
    for program in project.programs:
        if not project.trains(program) or seeded(project, program):
            continue
        for effect in program.effects:
            place = (effect.path, effect.place.line)
            is_on = effect.setting in switches and effect.value not in ("False", "0", "None")
            if effect.helper is None or effect.offered or not is_on or place in seen:
                continue
            if is_decided_elsewhere(effect) or _is_put_back(program, effect):
                continue
            seen.add(place)
            yield Objection(
                path=effect.path,
                place=effect.place,
                message=(
                    f"{effect.by} turns the deterministic algorithms on and seeds nothing; "
                    f"neither does {program.path}, so every run starts from other weights."
                ),
                way_out=f"{_seeding(project, program, effect.setting)} before the model is made",
                because=(Because(f"helpers/{effect.helper.id}", "sets"),),
                related=(RelatedSpot(program.path, 1, "the program"),),
            )


def _is_put_back(program: Program, effect: Effect) -> bool:
    """Whether the function that turns a switch on later gives it the value of a name, as one that
    keeps the earlier state and restores it.
    """
    for other in program.effects:
        later = other.path == effect.path and other.place.line > effect.place.line
        same = other.scope == effect.scope and other.setting == effect.setting
        if later and same and is_decided_elsewhere(other):
            return True
    return False


def _check_seeds_only(project: Project) -> Iterator[Objection]:
    """Helpers that seed, in a program without a switch, and that could turn it on."""
    seen: set[tuple[str, int]] = set()
    for program in project.programs:
        if not project.trains(program) or project.wants_determinism(program):
            continue
        for effect in program.effects:
            place = (effect.path, effect.place.line)
            if effect.helper is None or effect.offered or place in seen:
                continue
            seen.add(place)
            more = _that_switches(project, program, effect.helper)
            if more is not None:
                yield Objection(
                    path=effect.path,
                    place=effect.place,
                    severity=None if project.goal == "repeatable" else "hint",
                    message=f"{effect.by} sets seeds and leaves the deterministic algorithms off.",
                    way_out=more.helper.call,
                    because=(Because(f"helpers/{effect.helper.id}", "sets"),),
                    related=(RelatedSpot(program.path, 1, "the program"),),
                )


def _that_switches(project: Project, program: Program, helper: Call) -> Call | None:
    """The same function with the arguments that also turn the switch on, if the release has it."""
    switches = project.knowledge.switches()
    world = project.world_of(program)
    name = helper.helper.call.partition("(")[0]
    for id_, other in project.kb.helpers.items():
        if other.call.partition("(")[0] != name or other.warns is not None:
            continue
        turns = {turn.set for turn in other.sets if "True" in turn.to}
        if turns & switches.keys() and project.questions.surely_holds(world, other.condition):
            return helper_calls.call(project.kb, id_)
    return None


def _seeding(project: Project, program: Program, switch: str) -> str:
    """The call that seeds the library of a switch, or what to do where no record names one."""
    home = project.kb.home(project.kb.setting_ids[switch])
    for generator in project.knowledge.generators():
        if generator.marks.package == home:
            return f"{seed_call(project, program, generator)}(seed)"
    return "seed every generator"


HELPER_LEAVES = ScanRule(
    code="helper-leaves",
    family="settings",
    severity="missing",
    title="A helper sets seeds or the deterministic switch, and nobody sets the other",
    why="""Trainer(deterministic=True) and calls like it turn the switch on, and most of them seed
    nothing: weights, shuffles and dropout then differ in every run, however deterministic each op
    is. set_seed(1) seeds, and turns no switch on unless an argument asks for it: that is a hint,
    and with --goal repeatable a warning.""",
    silent="""Another line of the program does what the call leaves, or the call has no argument
    for it. A call that takes its value from a name, and one whose function gives the switch such a
    value afterwards, as to restore an earlier state, ask for nothing.""",
    bad="""import lightning
import torch

trainer = lightning.Trainer(deterministic=True)
trainer.fit(model)
""",
    good="""import lightning
import torch

lightning.seed_everything(1, workers=True)
trainer = lightning.Trainer(deterministic=True)
trainer.fit(model)
""",
    check=_check_helper,
)


def _check_fill(project: Project) -> Iterator[Objection]:
    fills: dict[str | None, str] = {}
    for marks in project.kb.code.values():
        if marks.fills is not None:
            fills[marks.package] = marks.fills
    for switch in switches_on(project):
        home = project.kb.home(project.kb.setting_ids[switch.setting])
        setting = fills.get(home)
        if setting is None or switch.offered or switch.guarded:
            continue
        if any(effect.setting == setting for made in project.effects.values() for effect in made):
            return
        stack = project.world(switch.path, frozenset((home,)))
        known = project.kb.settings[setting]
        if not project.questions.surely_holds(stack, known.condition):
            continue
        if _reads_unset(project, home):
            return
        off = (known.statement or setting).replace("{value}", "False")
        yield Objection(
            path=switch.path,
            place=switch.place,
            message=(
                "Under this switch every new tensor is filled with a fixed value, which costs "
                "time. No call of this project makes a tensor that is left unset."
            ),
            way_out=off,
            confidence="likely",
            because=because_of(project, setting, "what it costs"),
        )
        return


def _reads_unset(project: Project, package: str) -> bool:
    """Whether a call of the project makes memory that nobody has filled."""
    unset: set[str] = set()
    for source in project.kb.sources.values():
        if source.mechanism == "uninitialised-memory":
            unset.update(name.partition("[")[0].rpartition(".")[2] for name in source.ops)
    for facts in project.python.values():
        for call in facts.calls:
            owner = project.vocabulary.package(call.name)
            if call.name.rpartition(".")[2] in unset and owner in (package, None):
                return True
    return False


FILL_COST = ScanRule(
    code="fill-cost",
    family="settings",
    severity="missing",
    title="The switch fills new memory that no op reads unset",
    why="""From PyTorch 2.1 on torch.use_deterministic_algorithms(True) fills every new tensor with
    a fixed value: one more write for each. It matters only where a program reads memory that it
    has never written. From 2.2 on torch.utils.deterministic.fill_uninitialized_memory = False
    leaves it out.""",
    silent="""The project sets it, calls torch.empty or its like, or its release fills nothing.""",
    bad="import torch\n\ntorch.use_deterministic_algorithms(True)\n",
    good="""import torch

torch.use_deterministic_algorithms(True)
torch.utils.deterministic.fill_uninitialized_memory = False
""",
    check=_check_fill,
)

RULES = (HELPER_LEAVES, FILL_COST)
