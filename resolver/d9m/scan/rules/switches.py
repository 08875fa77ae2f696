"""Switches: are they on for good, and with what they need?"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator

from d9m.scan.finding import Because, Fix, RelatedSpot, Spot, TextEdit
from d9m.scan.project.effects import Effect
from d9m.scan.project.programs import Program
from d9m.scan.project.project import Project
from d9m.scan.rules.devices import may_use_gpu
from d9m.scan.rules.ops import first_warned, shown
from d9m.scan.rules.program_seeds import seeded
from d9m.scan.rules.rule import Doubt, Objection, ScanRule
from d9m.scan.rules.settings import because_of, switches_on
from d9m.scan.rules.timed_ops import times_nothing


def _check_no_workspace(project: Project) -> Iterator[Objection]:
    for switch in switches_on(project):
        if switch.guarded or _is_parameter(switch):
            continue
        package = project.kb.home(project.kb.setting_ids[switch.setting])
        for solution, turn in project.knowledge.needed_with(switch.setting):
            assert turn.set is not None
            if turn.set in project.variables:
                continue
            stated = project.questions.stated(project.around(switch.path), package)
            newest = project.world(switch.path, frozenset((package,)))
            oldest = project.world(switch.path, frozenset((package,)), oldest=True)
            setting = project.knowledge.variables[turn.set]
            if project.questions.surely_holds(newest, turn.condition):
                severity, where = None, ""
            elif stated.oldest and project.questions.surely_holds(oldest, turn.condition):
                severity = "warning"
                where = f" on {package} {stated.oldest}, which {stated.said_in} allows"
            else:
                continue
            note = turn.note or f"{solution.title} needs it"
            if switch.warns:
                severity = "warning"
                note = "calls that need it only warn, and can differ between runs"
            spared = _stays_on_cpu(project, switch, package)
            spared = spared or _may_be_set_elsewhere(project, switch)
            spared = spared and project.goal != "repeatable"
            if spared or not _is_asked_for(project, switch):
                severity = "hint"
            yield Objection(
                path=switch.path,
                place=switch.place,
                severity=severity,
                message=f"{turn.set} is set nowhere: {note}{where}.",
                way_out=f"export {turn.set}={turn.to[0]}",
                because=because_of(project, setting.name, "needed by the switch"),
            )


def _stays_on_cpu(project: Project, switch: Effect, package: str) -> bool:
    """Whether programs that train run a switch, and nothing shows that one of them uses a GPU."""
    running: list[Program] = []
    for program in project.training:
        if project.reach.runs(program, switch.path, switch.place.line):
            running.append(program)
    return bool(running) and not any(may_use_gpu(project, one, package) for one in running)


def _may_be_set_elsewhere(project: Project, switch: Effect) -> bool:
    """Whether a program that runs a switch also calls what may set all that it needs."""
    return any(
        switch.path in program.files
        and program.runs(switch.path, switch.scope)
        and project.may_seed_elsewhere(program)
        for program in project.programs
    )


def _is_asked_for(project: Project, switch: Effect) -> bool:
    """Whether a switch that only a parameter offers, false by default, is asked for in sight."""
    return not switch.offered or any(
        switch.path in program.files and program.asks(switch.path, switch.scope, switch.offered)
        for program in project.programs
    )


def _is_parameter(effect: Effect) -> bool:
    """A library hands its own argument on: whoever calls it decides."""
    call = effect.call
    return (
        call is not None
        and effect.helper is None
        and effect.value is not None
        and effect.value not in ("True", "1")
        and effect.offered != ""
    )


NO_WORKSPACE = ScanRule(
    code="no-workspace",
    family="settings",
    severity="missing",
    title="A switch without the variable that it needs",
    why="""Under torch.use_deterministic_algorithms(True) PyTorch 1.7 to 2.9 refuses matrix
    products on CUDA 10.2 and newer unless CUBLAS_WORKSPACE_CONFIG is :4096:8 or :16:8. With
    warn_only=True it only warns, so this is a warning. The scan looked for the variable in
    code, scripts, images and job files.""",
    silent="""Any file of the project sets the variable, or the release does not need it. Where the
    programs that train and run the line name no device, and no library chooses one for them, it is
    a hint: they stay on the CPU. So it is where such a program calls something out of sight whose
    name or argument says that it seeds: it may set the variable. With --goal repeatable both are
    reported like any other. Where only a parameter turns the switch on, false by default, and no
    call in the project gives it, it is a hint.""",
    bad="import torch\n\ntorch.use_deterministic_algorithms(True)\n",
    good="""import os

os.environ["CUBLAS_WORKSPACE_CONFIG"] = ":4096:8"

import torch

torch.use_deterministic_algorithms(True)
""",
    check=_check_no_workspace,
)


def _check_benchmark(project: Project) -> Iterator[Objection]:
    spoken: set[tuple[str, Spot]] = set()
    for objection in itertools.chain(_in_one_flow(project), _in_one_program(project)):
        if (objection.path, objection.place) not in spoken:
            spoken.add((objection.path, objection.place))
            yield objection


def _in_one_flow(project: Project) -> Iterator[Objection]:
    """Benchmarking in the same function as a line that asks for determinism."""
    wanted = project.knowledge.wanted()
    for path, made in project.effects.items():
        statements = wanted.keys() - project.knowledge.variables.keys()
        turned: list[Effect] = []
        for one in made:
            if one.setting in statements and not project.reach.is_refused(path, one.place.line):
                turned.append(one)
        for effect in turned:
            off = effect.setting in project.knowledge.timed()
            if _has_no_effect(project, effect, made):
                continue
            if effect.assignment is None or not off or effect.value in (None, "False"):
                continue
            asking = _asking_line(effect, turned, wanted)
            if asking is None or _is_taken_back(effect, asking, turned, wanted):
                continue
            if not _is_given_up(effect, asking, turned):
                yield _timed(project, effect, asking)


def _in_one_program(project: Project) -> Iterator[Objection]:
    """Benchmarking that nothing turns off, in a program that asks for determinism elsewhere or
    sets a seed.
    """
    wanted = project.knowledge.wanted()
    offs = project.knowledge.timed()
    for program in project.programs:
        if not project.trains(program):
            continue
        world = project.world_of(program)
        made: list[Effect] = []
        for path in program.files:
            made += (one for one in project.effects[path] if project.is_made(world, one))
        for effect in made:
            surely = not effect.arms and program.surely_runs(effect.path, effect.scope)
            if effect.setting not in offs or effect.value != "True" or not surely:
                continue
            if any(one.setting == effect.setting and one.value != "True" for one in made):
                continue
            if _has_no_effect(project, effect, made):
                continue
            good = next(
                (one for one in program.effects if _surely_asks(program, one, wanted)), None
            )
            if good is not None or seeded(project, program):
                yield _timed(project, effect, good)


def _has_no_effect(project: Project, effect: Effect, made: Iterable[Effect]) -> bool:
    """Whether another setting that this one needs gets another value."""
    needs = project.kb.settings[effect.setting].needs
    return any(one.setting in needs and one.value not in (None, needs[one.setting]) for one in made)


def _surely_asks(program: Program, effect: Effect, wanted: dict[str, frozenset[str]]) -> bool:
    """Whether a setting asks for determinism in every run of a program."""
    asks = effect.value == "True" and "True" in wanted.get(effect.setting, ())
    return (
        asks
        and not (effect.arms or effect.offered or effect.guarded)
        and program.surely_runs(effect.path, effect.scope)
    )


def _timed(project: Project, effect: Effect, good: Effect | None) -> Objection:
    """Benchmarking, in spite of a line that asks for determinism, or of seeds alone."""
    off = "False"
    fix = None
    if effect.assignment is not None:
        spot = effect.assignment.value_place
        edit = TextEdit((spot.line, spot.column), (spot.end_line, spot.end_column), off)
        fix = Fix(True, f"Set it to {off}", [edit])
    if good is None:
        what = (
            "cuDNN times its algorithms and takes the fastest, in spite of the seeds: the choice, "
            "and the rounding, can differ between runs."
        )
    else:
        here = good.path == effect.path
        place = project.line if here else project.spot
        where = f"in {place(good.path, good.place.line)}"
        what = (
            f"{good.by} {where} asks for determinism, but with {effect.setting} = {effect.value} "
            "timing picks among the deterministic algorithms: the choice can differ between runs."
        )
    severity: Doubt | None = None
    if (good is None and project.goal != "repeatable") or times_nothing(project, effect):
        severity = "hint"
    return Objection(
        path=effect.path,
        place=effect.place,
        severity=severity,
        message=what,
        way_out=f"{effect.setting} = {off}",
        related=(RelatedSpot(good.path, good.place.line, "switched on here"),) if good else (),
        because=because_of(project, effect.setting, "value"),
        fix=fix,
    )


def _asking_line(
    effect: Effect, turned: list[Effect], wanted: dict[str, frozenset[str]]
) -> Effect | None:
    """Another statement of the same flow that asks for determinism."""
    for other in turned:
        if (
            other.setting != effect.setting
            and other.value in wanted[other.setting]
            and other.value == "True"
            and other.scope == effect.scope
            and not _exclusive(other, effect)
        ):
            return other
    return None


def _is_taken_back(
    effect: Effect, asking: Effect, turned: list[Effect], wanted: dict[str, frozenset[str]]
) -> bool:
    """Whether a later line sets the right value wherever the other line asks for determinism, or
    puts back what was there before.
    """
    for other in turned:
        later = other.place.line > effect.place.line and other.scope == effect.scope
        right = other.value is None or other.value in wanted[effect.setting]
        right = right and other.setting == effect.setting
        covers = asking.arms[: len(other.arms)] == other.arms
        if later and right and covers:
            return True
    return False


def _is_given_up(effect: Effect, asking: Effect, turned: list[Effect]) -> bool:
    """Whether the same block turns off what the other line asks for: there nobody wants it."""
    for other in turned:
        same = other.scope == effect.scope and other.arms == effect.arms
        if same and other.setting == asking.setting and other.value == "False":
            return True
    return False


def _exclusive(one: Effect, other: Effect) -> bool:
    """Whether two statements stand in different arms of one branch."""
    arms = dict(other.arms)
    return any(number in arms and arms[number] != arm for number, arm in one.arms)


BENCHMARK_ON = ScanRule(
    code="benchmark-on",
    family="settings",
    severity="error",
    title="Benchmarking is on in a program that asks for determinism",
    why="""With torch.backends.cudnn.benchmark = True cuDNN times its algorithms in every run
    and takes the fastest. The deterministic switches limit it to deterministic algorithms, but
    timing still picks among them: the winner, and the rounding, can differ between runs.
    The switches do not turn benchmarking off.""",
    silent="""The two stand in different arms of a condition, or a later line sets the right
    value or puts the old one back, or the block with the one turns the other off, or cuDNN itself
    is off. In a program that only sets seeds it is a hint, unless --goal is repeatable, and in one
    whose layers cuDNN does not time.""",
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


def _check_warn_only(project: Project) -> Iterator[Objection]:
    switches = project.knowledge.switches()
    found: list[Effect] = []
    for made in project.effects.values():
        found += (one for one in made if one.warns and one.setting in switches and not one.offered)
    warned = first_warned(project) if found else {}
    for effect in found:
        op = warned.get((effect.path, effect.place)) if not is_decided_elsewhere(effect) else None
        related: tuple[RelatedSpot, ...] = ()
        if op is not None:
            related = (RelatedSpot(op.path, op.call.place.line, f"{shown(op.call)} only warns"),)
        yield Objection(
            path=effect.path,
            place=effect.place,
            severity=None if op is not None else "hint",
            message=(
                "This only warns: an op without a deterministic version still runs, and "
                "can differ between runs."
            ),
            way_out=f"{_strict(effect)} once nothing warns",
            related=related,
            because=(Because(f"helpers/{effect.helper.id}", "warns"),) if effect.helper else (),
        )


def is_decided_elsewhere(effect: Effect) -> bool:
    """Whether a name stands where the switch is turned on, such as that of an option."""
    if effect.call is None or not effect.call.positional:
        return False
    first = effect.call.positional[0]
    return first != "True" and first[:1].isalpha()


def _strict(effect: Effect) -> str:
    named = effect.call is not None and "warn_only" in effect.call.keywords
    return "drop warn_only=True" if named else "ask for errors instead of warnings"


WARN_ONLY = ScanRule(
    code="warn-only",
    family="settings",
    severity="missing",
    title="A switch that only warns",
    why="""With warn_only=True, or deterministic="warn", an op that has no deterministic version
    prints a warning and still runs. Two runs can then differ, and a warning among thousands
    of lines is the only sign.""",
    silent="""The caller decides on the switch. Where a configuration decides, or no op is in sight
    that has no deterministic version, it is a hint: who writes warn_only mostly means it.""",
    bad="""import torch

torch.use_deterministic_algorithms(True, warn_only=True)
x = torch.zeros(8, requires_grad=True)
torch.cumsum(x, 0).sum().backward()
""",
    good="""import torch

torch.use_deterministic_algorithms(True)
x = torch.zeros(8, requires_grad=True)
torch.cumsum(x, 0).sum().backward()
""",
    check=_check_warn_only,
)


RULES = (BENCHMARK_ON, WARN_ONLY, NO_WORKSPACE)
