"""Time: are seeds and switches set before what they govern, and do they stay?"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from d9m.scan.facts import FileFacts, LocalCall, WrittenCall
from d9m.scan.finding import RelatedSpot, Spot
from d9m.scan.project.effects import Effect
from d9m.scan.project.knowledge import Generator
from d9m.scan.project.programs import Program
from d9m.scan.project.project import Project
from d9m.scan.rules.rule import Objection, ScanRule
from d9m.scan.rules.settings import because_of
from d9m.scan.rules.straight import first_before, runs_before, seedings, trains_between

_OFF = ("False", "0", "None")


def _check_late_seed(project: Project) -> Iterator[Objection]:
    seen: set[tuple[str, int]] = set()
    for program in project.programs:
        if not project.trains(program):
            continue
        for generator in project.knowledge.generators():
            found = list(seedings(project, program, generator))
            late = _only_seeding(program, found)
            if late is None:
                continue
            path, seeding = late
            used = _used_before(project, program, generator, path, seeding)
            if used is None or (path, seeding.place.line) in seen:
                continue
            seen.add((path, seeding.place.line))
            what, line = used.what, used.line
            aside = program.files[path].kind == "notebook" and not used.is_model
            yield Objection(
                path=path,
                place=seeding.place,
                severity="hint" if aside else None,
                message=(
                    f"{what} in {project.line(path, line)} draws from {generator.title} before "
                    "this seed is set."
                ),
                way_out=f"move it above {project.line(path, line)}",
                related=(RelatedSpot(path, line, "draws here"),),
            )


def _only_seeding(
    program: Program, found: list[tuple[str, WrittenCall | Effect]]
) -> tuple[str, WrittenCall | Effect] | None:
    """The first seeding of straight code, if nothing else can have seeded before it."""
    if not found or any(
        one[0] != found[0][0] or one[1].scope != found[0][1].scope for one in found
    ):
        return None
    path, first = min(found, key=lambda one: one[1].place)
    call = first.call if isinstance(first, Effect) else first
    again = call is not None and call.in_loop
    ready = program.surely_runs(path, first.scope) and not first.offered and not again
    return (path, first) if ready and not first.arms else None


class Used(msgspec.Struct, frozen=True):
    """What draws from a generator."""

    what: str
    line: int
    is_model: bool
    """It draws the weights of a model or of a layer."""


def _used_before(
    project: Project,
    program: Program,
    generator: Generator,
    path: str,
    seeding: WrittenCall | Effect,
) -> Used | None:
    """What draws from a generator before the seed, in the same straight code."""
    facts = program.files[path]
    draws, others = project.vocabulary.draws_of(generator.marks)
    calls = [call for call in facts.calls if call.name in draws and call.name not in others]
    plain = [
        call
        for call in calls
        if not ("generator" in call.keywords or call.guarded or _makes_seed(call, seeding))
    ]
    first = first_before(plain, seeding)
    made = _model_before(program, facts, generator, seeding)
    if made is not None and (first is None or made.line < first.place.line):
        return made
    if first is None:
        return None
    return Used(f"{first.name}()", first.place.line, first.name in project.vocabulary.layers)


def _makes_seed(draw: WrittenCall, seeding: WrittenCall | Effect) -> bool:
    """Whether a draw is what the seed is made of: ``seed = random.randint(1, 10000)``."""
    call = seeding.call if isinstance(seeding, Effect) else seeding
    if call is None:
        return False
    return draw.name in call.made_from or (draw.target != "" and draw.target in call.positional)


def _model_before(
    program: Program, facts: FileFacts, generator: Generator, seeding: WrittenCall | Effect
) -> Used | None:
    """A model of the program's own classes that is made before the seed, and not again after it."""
    classes = _model_classes(program, generator)
    made: list[LocalCall] = []
    for call in facts.called:
        if call.scope == seeding.scope and call.is_call and call.name in classes:
            made.append(call)
    again = {call.name for call in made if call.line > seeding.place.line}
    for call in made:
        before = 0 < call.line < seeding.place.line
        if before and not call.is_optional and call.name not in again:
            return Used(f"{call.name}()", call.line, True)
    return None


def _model_classes(program: Program, generator: Generator) -> frozenset[str]:
    """Names of the classes whose objects are models, by what they derive from, and which make
    something of their own.
    """
    models = frozenset(generator.marks.models)
    found: set[str] = set()
    grows = bool(models)
    while grows:
        before = len(found)
        for facts in program.files.values():
            for scope in facts.scopes:
                inherits = any(
                    base in models or base.rpartition(".")[2].lstrip(":") in found
                    for base in scope.bases
                )
                if scope.kind == "class" and inherits:
                    found.add(scope.name.rpartition(".")[2])
        grows = len(found) > before
    return frozenset(found - _wrappers(program))


def _wrappers(program: Program) -> set[str]:
    """Names of the classes that make nothing when their objects are made: they only keep what they
    get.
    """
    found: set[str] = set()
    others: set[str] = set()
    for facts in program.files.values():
        busy = {call.scope for call in facts.called if call.name not in _BASES}
        for number, scope in enumerate(facts.scopes):
            name, _dot, method = scope.name.rpartition(".")
            if scope.kind == "function" and method == "__init__":
                (others if number in busy else found).add(name.rpartition(".")[2])
    return found - others


_BASES = ("super", "__init__")
"""What ``super().__init__()`` names."""


SEED_AFTER_USE = ScanRule(
    code="seed-after-use",
    family="seeds",
    severity="error",
    title="A seed is set after the first draw",
    why="""A seed fixes what is drawn after it. Weights and random tensors that are made above it
    differ in every run. Set every seed first.""",
    silent="""Another function seeds, too, the draw stands under a condition, or the seed in a loop:
    that one starts each round alike. A model that only keeps another one draws nothing, and one
    that is made again below the seed is replaced. In a notebook only a model counts; a picture or
    table drawn above the seed is a hint.""",
    bad="""import torch

model = torch.nn.Linear(4, 4)
torch.manual_seed(1)
model(x).sum().backward()
""",
    good="""import torch

torch.manual_seed(1)
model = torch.nn.Linear(4, 4)
model(x).sum().backward()
""",
    check=_check_late_seed,
)


def _check_late_switch(project: Project) -> Iterator[Objection]:
    switches = project.knowledge.switches()
    trains = project.vocabulary.trains
    for path, made in project.effects.items():
        turned = [
            one
            for one in made
            if one.setting in switches and one.value not in _OFF and not one.offered
        ]
        for effect in turned:
            if any(runs_before(other, effect) for other in turned):
                continue
            home = project.kb.home(project.kb.setting_ids[effect.setting])
            early: list[WrittenCall] = []
            for call in project.files[path].calls:
                is_op = project.vocabulary.package(call.name) == home and (
                    project.vocabulary.is_op(call.name)
                )
                reads_once = project.kb.settings[effect.setting].read == "first-use"
                if call.name in trains or (reads_once and is_op):
                    early.append(call)
            first = first_before(early, effect) or _compiled_before(project, path, effect)
            if first is not None:
                line = first.line if isinstance(first, LocalCall) else first.place.line
                yield Objection(
                    path=path,
                    place=effect.place,
                    message=(
                        f"{first.name.lstrip('.')}() in {project.line(path, line)} runs before "
                        "this switch is on, so the switch does not cover it."
                    ),
                    way_out=f"move it above {project.line(path, line)}",
                    related=(RelatedSpot(path, line, "runs before"),),
                    because=because_of(project, effect.setting, "read"),
                )


def _compiled_before(project: Project, path: str, switch: Effect) -> LocalCall | None:
    """A call of compiled code that runs before a switch."""
    facts = project.files[path]
    compiles = project.vocabulary.marks("compiles")
    for made in facts.calls:
        if made.name not in compiles or not made.target or not runs_before(made, switch):
            continue
        lines = range(made.place.line + 1, switch.place.line)
        for call in facts.called:
            same = call.scope == switch.scope and call.name == made.target.rpartition(".")[2]
            if same and call.is_call and call.line in lines and not call.is_optional:
                return call
    return None


LATE_SWITCH = ScanRule(
    code="late-switch",
    family="settings",
    severity="error",
    title="A deterministic switch is turned on after what it governs",
    why="""A switch reaches the ops that run after it. A gradient step, compiled code, or an op of
    TensorFlow that runs above it can already differ. Turn it on at the top of the program.""",
    silent="""The two stand in different functions or arms, or the switch was turned on before.""",
    bad=(
        "import tensorflow as tf\n\ntf.keras.utils.set_random_seed(1)\nmodel.fit(x, y)\n"
        "tf.config.experimental.enable_op_determinism()\n"
    ),
    good=(
        "import tensorflow as tf\n\ntf.keras.utils.set_random_seed(1)\n"
        "tf.config.experimental.enable_op_determinism()\nmodel.fit(x, y)\n"
    ),
    check=_check_late_switch,
)


def _check_switched_off(project: Project) -> Iterator[Objection]:
    wanted = project.knowledge.wanted()
    seen: set[tuple[str, Spot]] = set()
    for program in project.programs:
        world = project.world_of(program)
        on: list[Effect] = []
        for effect in program.effects:
            asked = effect.value == "True" and "True" in wanted.get(effect.setting, ())
            if asked and not effect.offered and not effect.guarded:
                on.append(effect)
        for path in program.files:
            for off in project.effects[path]:
                if (path, off.place) in seen or off.offered or off.value != "False":
                    continue
                if not program.makes(off) or not project.is_made(world, off):
                    continue
                earlier = _undone(project, program, on, off)
                if earlier is not None:
                    seen.add((path, off.place))
                    yield _taken_back(project, earlier, off)


def _undone(project: Project, program: Program, on: list[Effect], off: Effect) -> Effect | None:
    """The switch that is off again before anything could run under it."""
    for effect in on:
        if effect.setting != off.setting or effect.place == off.place or effect.path != off.path:
            continue
        again = any(runs_before(off, later) for later in on if later.setting == off.setting)
        in_module = (
            effect.scope == 0 and off.scope != 0 and program.surely_runs(off.path, off.scope)
        )
        straight = runs_before(effect, off) and not off.arms
        if again or not (straight or (in_module and off.helper is not None)):
            continue
        if straight and trains_between(project, off.path, effect, off):
            continue
        return effect
    return None


def _taken_back(project: Project, earlier: Effect, off: Effect) -> Objection:
    whose = off.by if off.helper is not None else "This"
    return Objection(
        path=off.path,
        place=off.place,
        message=(
            f"{whose} turns {off.setting} off again. It was turned on in "
            f"{project.line(earlier.path, earlier.place.line)}, and nothing has run in between."
        ),
        way_out="remove it" if off.helper is None else "turn the switch on after it",
        related=(RelatedSpot(earlier.path, earlier.place.line, "turned on here"),),
        because=because_of(project, off.setting, "value"),
    )


SWITCHED_OFF = ScanRule(
    code="switched-off",
    family="settings",
    severity="error",
    title="A switch that is turned off again before anything runs",
    why="""The last word counts. A switch that a later line, or a call of a library, turns off
    again has no effect. Trainer(deterministic=False) of Lightning before 2.0 is such a call.""",
    silent="""Something trains between the two, the switch is turned on again, or a condition
    decides.""",
    bad="""import torch

torch.use_deterministic_algorithms(True)
torch.use_deterministic_algorithms(False)

if __name__ == "__main__":
    loss.backward()
""",
    good="""import torch

torch.use_deterministic_algorithms(True)

if __name__ == "__main__":
    loss.backward()
""",
    check=_check_switched_off,
)

RULES = (LATE_SWITCH, SWITCHED_OFF)
SEEDS = (SEED_AFTER_USE,)
