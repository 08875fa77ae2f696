"""Programs: does each do what it asks for?"""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from d9m.model.advice import OpAnswer, SourceAnswer
from d9m.scan.facts import FileFacts, WrittenCall
from d9m.scan.finding import Because, RelatedSpot, Spot
from d9m.scan.measuring import is_in_loader, loads_weights, measures, prepares
from d9m.scan.project.programs import Program
from d9m.scan.project.project import Project
from d9m.scan.rules.ops import answers, has_gradients, is_foreign, is_good_flag, question, turns_on
from d9m.scan.rules.program_seeds import seeded
from d9m.scan.rules.rule import Doubt, Objection, ScanRule
from d9m.scan.rules.seeds import draws_of

_MOST_NAMED = 3


def _check_no_seed(project: Project) -> Iterator[Objection]:
    severity: Doubt = "hint" if project.goal == "auto" else "error"
    for program in project.programs:
        trains = project.trains(program)
        draws = project.goal == "repeatable" and _draws(project, program)
        if not (trains or draws) or seeded(project, program):
            continue
        if not _has_generator(project, program):
            continue
        stated = _stated_seed(project, program)
        if stated is not None and project.goal == "auto":
            continue
        does = "trains" if trains else "draws random numbers"
        what = f"This program {does} and seeds nothing: every run starts differently."
        if stated is not None:
            path, line = stated
            what = f"This program {does} and seeds nothing itself. {path}:{line} has a seed."
        yield Objection(
            path=program.path,
            place=Spot(1),
            severity="hint" if stated is not None else severity if trains else "warning",
            message=what,
            way_out=(
                "see that what reads the file seeds every generator"
                if stated is not None
                else "seed every generator that it draws from, before it builds the model"
            ),
            confidence="likely",
        )


def _has_generator(project: Project, program: Program) -> bool:
    """Whether a framework of the program has a global generator, or it draws from any."""
    imported = frozenset[str]().union(*map(project.packages, program.files.values()))
    with_generator = project.vocabulary.with_generator
    if any(project.kb.packages[name].kind == "framework" for name in imported & with_generator):
        return True
    frameworks = [name for name in imported if project.kb.packages[name].kind == "framework"]
    return not frameworks or _draws(project, program)


def _draws(project: Project, program: Program) -> bool:
    """Whether a program draws from any global generator."""
    return any(
        next(iter(draws_of(project, program, generator)), None) is not None
        for generator in project.knowledge.generators()
    )


def _stated_seed(project: Project, program: Program) -> tuple[str, int] | None:
    """Where a configuration states a seed: in the folder of a program, the one above, or below."""
    folder = program.path.rpartition("/")[0]
    for place in dict.fromkeys((folder, folder.rpartition("/")[0])):
        below = f"{place}/" if place else ""
        for path, facts in project.files.items():
            if facts.seed_line and path.startswith(below):
                return path, facts.seed_line
    return None


NO_SEED = ScanRule(
    code="no-seed",
    family="program",
    severity="missing",
    title="A program that trains and seeds nothing",
    why="""Weights, shuffles and dropout come from generators that start differently in every
    run unless they are seeded. The first step to a repeatable run is a seed for each of them.
    With --goal seeded or repeatable this is an error; with --goal repeatable a program that trains
    nothing and draws random numbers gets a warning.""",
    silent="""The program, or a file that it imports, sets a seed, even if only on demand; or a
    configuration near it states one, which a library may apply (with another goal: a hint). Or its
    framework has no global generator, as JAX, and it draws from no other.""",
    bad="import torch\n\nmodel = torch.nn.Linear(2, 2)\nmodel(x).sum().backward()\n",
    good=(
        "import torch\n\ntorch.manual_seed(1)\nmodel = torch.nn.Linear(2, 2)\n"
        "model(x).sum().backward()\n"
    ),
    check=_check_no_seed,
)


def _check_no_switch(project: Project) -> Iterator[Objection]:
    severity: Doubt = "error" if project.goal == "repeatable" else "hint"
    for program in project.programs:
        if not project.trains(program) or not seeded(project, program):
            continue
        if project.wants_determinism(program):
            continue
        switch = project.switch_for(program)
        if switch is None:
            continue
        varying = _varying(project, program)
        named = ", ".join(varying[:_MOST_NAMED])
        more = f" and {len(varying) - _MOST_NAMED} more" if len(varying) > _MOST_NAMED else ""
        ops = f" {named}{more} can differ between runs." if varying else ""
        yield Objection(
            path=program.path,
            place=Spot(1),
            severity=severity,
            message=f"This program sets a seed but turns on no deterministic switch.{ops}",
            way_out=switch,
            confidence="likely",
        )


def _varying(project: Project, program: Program) -> list[str]:
    """Names of the ops of a program that vary with nothing set."""
    found: dict[str, None] = {}
    for _path, call, answer in answers(project, program):
        if any(_varies_by_itself(project, source) for source in answer.sources):
            found[call.name.rpartition(".")[2]] = None
    return list(found)


NO_SWITCH = ScanRule(
    code="no-switch",
    family="program",
    severity="missing",
    title="A program that sets a seed but turns on no deterministic switch",
    why="""Seeds fix the random numbers, not the order of additions. Without the framework's
    switch, kernels that add in no fixed order stay in use. With --goal repeatable this is an
    error.""",
    silent="""The program turns a switch on, or seeds nothing (no-seed).""",
    bad=(
        "import torch\n\ntorch.manual_seed(1)\nmodel = torch.nn.Conv2d(2, 2, 3)\n"
        "model(x).sum().backward()\n"
    ),
    good=(
        "import torch\n\ntorch.manual_seed(1)\ntorch.use_deterministic_algorithms(True)\n"
        "model = torch.nn.Conv2d(2, 2, 3)\nmodel(x).sum().backward()\n"
    ),
    check=_check_no_switch,
)


def _check_flag_alone(project: Project) -> Iterator[Objection]:
    wanted = project.knowledge.wanted()
    switches = project.knowledge.switches()
    spoken: set[tuple[str, int]] = set()
    for program in project.programs:
        made = itertools.chain.from_iterable(project.effects[path] for path in program.files)
        switched = any(turns_on(effect, switches) for effect in made)
        if not project.trains(program) or switched:
            continue
        flags = [effect for effect in program.effects if is_good_flag(effect, wanted)]
        if not flags or (flags[0].path, flags[0].place.line) in spoken:
            continue
        left = _left_by(project, program, flags[0].setting)
        if left:
            spoken.add((flags[0].path, flags[0].place.line))
            named = list(left)[:_MOST_NAMED]
            more = f" and {len(left) - _MOST_NAMED} more" if len(left) > _MOST_NAMED else ""
            yield Objection(
                path=flags[0].path,
                place=flags[0].place,
                message=(
                    f"{flags[0].setting} does not cover {', '.join(named)}{more}, "
                    "which can differ between runs."
                ),
                way_out=project.switch_for(program) or "",
                because=(
                    Because(f"settings/{project.kb.setting_ids[flags[0].setting]}", "covers"),
                ),
                related=tuple(RelatedSpot(*left[name], f"{name} here") for name in named),
            )


def _left_by(project: Project, program: Program, setting: str) -> dict[str, tuple[str, int]]:
    """Names of ops that vary, and that a switch solves but this setting does not, each with the
    file and line of its first call. Where no file states a release, they vary in earlier ones as
    well.
    """
    found: dict[str, tuple[str, int]] = {}
    home = project.kb.home(project.kb.setting_ids[setting])
    for path, call, answer in answers(project, program):
        package = project.vocabulary.package(call.name)
        if package is None or is_foreign(project, package, home):
            continue
        if not _is_left(project, answer, setting):
            continue
        facts = project.files[path]
        if measures(facts, call) or loads_weights(facts, call) or is_in_loader(facts, call):
            continue
        hidden = _turns_off(project, path) or _is_in_plain_class(facts, call)
        hidden = hidden or prepares(facts, call)
        if hidden and not has_gradients(project, program, path, call):
            continue
        earlier = project.questions.earlier(project.around(path), (package,))
        before = project.questions.op(earlier, question(call))
        if before is not None and before.default == "nondeterministic":
            found.setdefault(call.name.rpartition(".")[2], (path, call.place.line))
    return found


def _turns_off(project: Project, path: str) -> bool:
    """Whether a file turns gradients off somewhere, as one that searches or decodes does."""
    return any(call.name in project.vocabulary.no_gradients for call in project.files[path].calls)


def _is_in_plain_class(facts: FileFacts, call: WrittenCall) -> bool:
    """Whether a method of a class without a base makes a call: no layer, but a tool such as one
    that draws masks.
    """
    scope = facts.scopes[call.scope]
    return scope.kind == "function" and facts.scopes[scope.parent].kind == "class"


def _is_left(project: Project, answer: OpAnswer, setting: str) -> bool:
    solved = answer.default == "nondeterministic" and answer.outcome == "solved"
    return solved and any(needs_switch(project, source, setting) for source in answer.sources)


_OFTEN = "atomic-float-add"
"""The mechanism that shows in every other run; others need several streams, or unset memory."""


def _varies_by_itself(project: Project, source: SourceAnswer) -> bool:
    mechanism = project.kb.sources[source.id].mechanism
    sure = source.outcome != "depends" and not source.when
    return source.default == "nondeterministic" and sure and mechanism == _OFTEN


def needs_switch(project: Project, source: SourceAnswer, setting: str) -> bool:
    """Whether a source varies by itself until a switch is on, and a setting does not solve it."""
    labels = {label for label, _solution in project.knowledge.switches().values()}
    named = set[str]().union(*source.alternatives)
    if not _varies_by_itself(project, source) or not named & labels:
        return False
    for label in named:
        if any(turn.name == setting for turn in project.kb.solution(label)[1].settings):
            return False
    return True


CUDNN_FLAG_ALONE = ScanRule(
    code="cudnn-flag-alone",
    family="settings",
    severity="missing",
    title="A flag for cuDNN alone, in a program with other ops that vary",
    why="""torch.backends.cudnn.deterministic reaches cuDNN's convolutions and nothing else. The
    program has other ops that vary, and PyTorch's switch makes them repeatable.""",
    silent="""The program turns the switch on somewhere, or none of its other ops varies. Ops in a
    file or function whose name says that it measures, rewards, plots or loads weights do not
    count; nor do those of a class without a base, or of one that prepares data, in a file that
    does not train. It is always a hint: the text does not show for sure that what an op gets has a
    gradient, and that the op is in the model.""",
    bad="""import torch

torch.backends.cudnn.deterministic = True
x = torch.zeros(3, requires_grad=True)
y = x.index_add(0, i, s)
y.sum().backward()
torch.index_add(x, 0, i, s).sum().backward()
""",
    good="""import torch

torch.backends.cudnn.deterministic = True
model = torch.nn.Conv2d(1, 1, 1)
model(x).sum().backward()
""",
    check=_check_flag_alone,
)

RULES = (CUDNN_FLAG_ALONE,)
POLICY = (NO_SEED, NO_SWITCH)
