"""Switches: are they on in time and for good?"""

from __future__ import annotations

from collections.abc import Iterator

from d9m.scan.finding import Fix, RelatedSpot, Spot, TextEdit
from d9m.scan.project.effects import Effect
from d9m.scan.project.programs import Program
from d9m.scan.project.project import Project
from d9m.scan.rules.rule import Objection, Positioned, ScanRule, because_of
from d9m.scan.rules.seeds import seed_call


def runs_before(one: Positioned, other: Positioned) -> bool:
    """Whether two statements of a file are of one function, and where the other runs, this one
    has run.
    """
    same = one.scope == other.scope and one.place.line < other.place.line
    return same and other.arms[: len(one.arms)] == one.arms


def _asks(project: Project, effect: Effect) -> bool:
    """Whether a line asks for determinism: it gives a setting the True that a solution wants."""
    return effect.value == "True" and "True" in project.knowledge.wanted.get(effect.setting, ())


# --- benchmark-on ----------------------------------------------------------------------


def _check_benchmark(project: Project) -> Iterator[Objection]:
    spoken: set[tuple[str, Spot]] = set()
    for program in (*project.programs, *map(project.alone, project.python)):
        world = project.world_of(program)
        made = [one for one in program.effects if project.is_made(world, one)]
        timed = [one for one in made if one.setting in project.knowledge.timed]
        asking = [one for one in made if _asks(project, one)] if timed else []
        for effect in timed:
            if effect.value != "True" or (effect.path, effect.place) in spoken:
                continue
            good = next((one for one in asking if _hold_together(program, one, effect)), None)
            others = [one for one in timed if one.setting == effect.setting and one != effect]
            if good is None or any(_takes_back(one, effect, good) for one in others):
                continue
            block = (effect.path, effect.scope, effect.arms)
            if any(
                one.setting == good.setting
                and one.value == "False"
                and (one.path, one.scope, one.arms) == block
                for one in made
            ):
                continue  # the same block gives up what the other line asks for
            needs = project.kb.settings[effect.setting].needs
            if any(one.value not in (None, needs.get(one.setting, one.value)) for one in made):
                continue
            spoken.add((effect.path, effect.place))
            yield _timed(project, effect, good)


def _hold_together(program: Program, asking: Effect, effect: Effect) -> bool:
    """Whether a run surely has both: of one function, in arms that do not exclude each other; or
    of two that run unconditionally.
    """
    if asking.path == effect.path and asking.scope == effect.scope:
        arms = dict(effect.arms)
        return all(arms.get(number, arm) == arm for number, arm in asking.arms)
    return not any(
        one.arms or one.guarded or not program.surely_runs(one.path, one.scope)
        for one in (asking, effect)
    )


def _takes_back(other: Effect, effect: Effect, asking: Effect) -> bool:
    """Whether another line gives the right value, or that of a name, where both others hold."""
    if other.value == "True":
        return False
    if (other.path, other.scope) != (effect.path, effect.scope):
        return True
    covers = asking.scope != effect.scope or asking.arms[: len(other.arms)] == other.arms
    return other.place.line > effect.place.line and covers


def _timed(project: Project, effect: Effect, good: Effect) -> Objection:
    fix = None
    if effect.assignment is not None:
        spot = effect.assignment.value_place
        edit = TextEdit((spot.line, spot.column), (spot.end_line, spot.end_column), "False")
        fix = Fix(True, "Set it to False", [edit])
    place = project.line if good.path == effect.path else project.spot
    return Objection(
        path=effect.path,
        place=effect.place,
        message=(
            f"{good.by} in {place(good.path, good.place.line)} asks for determinism, but with "
            f"{effect.setting} = True cuDNN times its algorithms in every run and takes the "
            "fastest."
        ),
        workaround=f"{effect.setting} = False",
        related=(RelatedSpot(good.path, good.place.line, "switched on here"),),
        because=because_of(project, effect.setting, "value"),
        fix=fix,
    )


BENCHMARK_ON = ScanRule(
    code="benchmark-on",
    family="settings",
    severity="error",
    title="Benchmarking is on in a program that asks for determinism",
    why="""With torch.backends.cudnn.benchmark = True cuDNN times its algorithms in every run
    and takes the fastest. The deterministic switches limit it to deterministic algorithms, but
    timing still picks among them. The switches do not turn benchmarking off.""",
    silent="""The two are in different arms of a condition, another line sets the right value or
    puts the old one back, or cuDNN itself is off.""",
    bad="""import torch

torch.backends.cudnn.deterministic = True
torch.backends.cudnn.benchmark = True
""",
    good="""import torch

torch.backends.cudnn.deterministic = True
torch.backends.cudnn.benchmark = False
""",
    fixable="safe",
    check=_check_benchmark,
)


# --- late-switch, switched-off ---------------------------------------------------------


def _check_late_switch(project: Project) -> Iterator[Objection]:
    trains, compiles = (project.vocabulary.marks(name) for name in ("trains", "compiles"))
    for path, made in project.effects.items():
        on = [one for one in made if project.turns_on(one.setting, one.value)]
        for effect in on:
            setting = project.kb.settings[effect.setting]
            if setting.kind != "python" or any(runs_before(one, effect) for one in on):
                continue
            home = project.home(effect.setting)
            for call in project.files[path].calls:
                own = setting.read == "first-use" and project.vocabulary.package(call.name) == home
                counts = call.name in trains or (own and project.vocabulary.is_op(call.name))
                counts = counts or (call.name in compiles and call.receiver != "")
                if not counts or not runs_before(call, effect):
                    continue
                line = project.line(path, call.place.line)
                yield Objection(
                    path=path,
                    place=effect.place,
                    message=(
                        f"{call.receiver or call.name.lstrip('.')}() in {line} runs before this "
                        "switch is on, so the switch does not cover it."
                    ),
                    workaround=f"move it above {line}",
                    related=(RelatedSpot(path, call.place.line, "runs before"),),
                    because=because_of(project, effect.setting, "read"),
                )
                break


LATE_SWITCH = ScanRule(
    code="late-switch",
    family="settings",
    severity="error",
    title="A deterministic switch is turned on after what it governs",
    why="""A switch reaches the ops that run after it. A gradient step, or an op of TensorFlow that
    runs above it, is not covered. Turn it on at the top of the program.""",
    silent="""The two are in different functions or arms, or the switch was turned on before.""",
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
    for path, made in project.effects.items():
        world = project.world(path, project.packages(project.files[path]))
        on = [one for one in made if _asks(project, one) and not one.guarded]
        for off in made:
            if off.value != "False" or not on or not project.is_made(world, off):
                continue
            earlier = next((one for one in on if _is_undone(project, one, off, on)), None)
            if earlier is not None:
                line = project.line(path, earlier.place.line)
                yield Objection(
                    path=path,
                    place=off.place,
                    message=(
                        f"{off.by if off.helper else 'This'} turns {off.setting} off again. It was "
                        f"turned on in {line}, and nothing has run in between."
                    ),
                    workaround="turn the switch on after it" if off.helper else "remove it",
                    related=(RelatedSpot(path, earlier.place.line, "turned on here"),),
                    because=because_of(project, off.setting, "value"),
                )


def _is_undone(project: Project, one: Effect, off: Effect, on: list[Effect]) -> bool:
    """Whether a switch is off again, in the same straight code, before anything can have run."""
    if one.setting != off.setting or off.arms or not runs_before(one, off):
        return False
    if any(runs_before(off, later) for later in on):
        return False
    facts = project.files[off.path]
    own = {scope.name.rpartition(".")[2] for scope in facts.scopes}
    between = range(one.place.line + 1, off.place.line)
    trains = project.vocabulary.marks("trains")
    calls = (call for call in facts.calls if call.place.line in between)
    runs_own = any(scope == off.scope and name in own for scope, name in facts.called)
    return not runs_own and not any(call.name in trains for call in calls)


SWITCHED_OFF = ScanRule(
    code="switched-off",
    family="settings",
    severity="error",
    title="A switch that is turned off again before anything runs",
    why="""The last word counts. A switch that a later line, or a call of a library, turns off
    again has no effect. Trainer(deterministic=False) of Lightning before 2.0 is such a call.""",
    silent="""Code that the file defines runs in the same function, the switch is turned on again,
    or a condition decides.""",
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


# --- seedless-determinism --------------------------------------------------------------


def _check_seedless(project: Project) -> Iterator[Objection]:
    spoken: set[tuple[str, Spot]] = set()
    for program in project.programs:
        settings = {effect.setting for effect in program.effects}
        for switch in program.effects:
            for generator in project.knowledge.generators:
                if switch.setting not in generator.marks.seed_needed_by or switch.arms:
                    continue
                if settings & generator.settings or (switch.path, switch.place) in spoken:
                    continue
                spoken.add((switch.path, switch.place))
                yield Objection(
                    path=switch.path,
                    place=switch.place,
                    message=(
                        f"{generator.title} is not seeded: with this switch on, random ops raise "
                        "an error."
                    ),
                    workaround=f"{seed_call(project, program, generator)}(1) first",
                    related=(RelatedSpot(program.path, 1, "the program"),),
                    because=because_of(project, switch.setting, "needs a seed"),
                )


SEEDLESS_DETERMINISM = ScanRule(
    code="seedless-determinism",
    family="settings",
    severity="error",
    title="A switch that needs a seed, in a program without one",
    why="""With tf.config.experimental.enable_op_determinism() TensorFlow's random ops,
    initializers and dropout among them, raise an error unless a global seed is set.""",
    silent="""The program seeds TensorFlow somewhere, or a condition decides on the switch.""",
    bad=(
        "import tensorflow as tf\n\ntf.config.experimental.enable_op_determinism()\n"
        "model.fit(x, y)\n"
    ),
    good=(
        "import tensorflow as tf\n\ntf.keras.utils.set_random_seed(1)\n"
        "tf.config.experimental.enable_op_determinism()\nmodel.fit(x, y)\n"
    ),
    check=_check_seedless,
)


RULES = (BENCHMARK_ON, LATE_SWITCH, SWITCHED_OFF, SEEDLESS_DETERMINISM)
