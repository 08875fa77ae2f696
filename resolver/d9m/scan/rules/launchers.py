"""Job files: do they contradict one another, or the options of what they start?"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import msgspec

from d9m.model.records import SettingChange, Solution
from d9m.scan.facts import WITHOUT_EFFECT, FileFacts, Launch
from d9m.scan.finding import Because, RelatedSpot, Spot
from d9m.scan.project.project import Project
from d9m.scan.rules.rule import Objection, ScanRule
from d9m.scan.rules.settings import because_of


class GivenValue(msgspec.Struct, frozen=True):
    """The value of a variable that a launcher gives to a program."""

    path: str
    place: Spot
    value: str


def _given(facts: FileFacts, launch: Launch) -> dict[str, GivenValue]:
    """What a launch gets from its file: variables set before it, then its own."""
    found: dict[str, GivenValue] = {}
    for write in facts.variables:
        if write.place.line > launch.place.line or write.how in WITHOUT_EFFECT:
            continue
        if write.how == "unset" or write.value is None or write.arms:
            found.pop(write.name, None)
        else:
            found[write.name] = GivenValue(facts.path, write.place, write.value)
    for name, value in launch.variables.items():
        if value is None:
            found.pop(name, None)
        else:
            found[name] = GivenValue(facts.path, launch.place, value)
    return found


def _check_contradiction(project: Project) -> Iterator[Objection]:
    options = _option_solutions(project)
    seen: set[tuple[str, Spot]] = set()
    for path, facts in project.files.items():
        for launch in facts.launches:
            given = _given(facts, launch)
            for option in launch.options:
                for solution in options.get(option, ()):
                    for turn in solution.settings:
                        found = _against(project, path, launch, given, option, solution, turn)
                        if found is not None and (path, found.place) not in seen:
                            seen.add((path, found.place))
                            yield found


def _option_solutions(project: Project) -> dict[str, list[Solution]]:
    """Option of a command line -> solutions that turn it on."""
    found: dict[str, list[Solution]] = {}
    for solution in project.kb.solutions.values():
        for turn in solution.settings:
            if turn.set is not None and turn.set.startswith("--"):
                found.setdefault(turn.set, []).append(solution)
    return found


def _against(
    project: Project,
    path: str,
    launch: Launch,
    given: dict[str, GivenValue],
    option: str,
    solution: Solution,
    turn: SettingChange,
) -> Objection | None:
    """A variable or option of a launch that contradicts another option of it."""
    if turn.name == option:
        return None
    homes = {project.kb.home(project.kb.setting_ids[name]) for name in (option, turn.name)}
    stack = project.world(path, frozenset(homes) | project.packages_around(path))
    if not project.questions.surely_holds(stack, turn.condition):
        return None
    if turn.set is not None and turn.to and turn.set in given:
        value = given[turn.set]
        if value.value in turn.to:
            return None
        what, place = f"{option} of the same job refuses {turn.set}={value.value}.", value.place
        way_out = f"{turn.set}={turn.to[0]}"
    elif turn.set is None and turn.name in launch.options:
        note = f": {turn.note}" if turn.note else ""
        what, place = f"{turn.name} contradicts {option} of the same job{note}.", launch.place
        way_out = f"remove {turn.name}"
    else:
        return None
    related = [RelatedSpot(path, launch.place.line, f"{option} is given here")]
    return Objection(
        path=path,
        place=place,
        message=what,
        way_out=way_out,
        related=tuple(related) if launch.place.line != place.line else (),
        because=(
            *because_of(project, turn.name, "with the option"),
            Because(f"solutions/{solution.label}", "settings"),
        ),
    )


CONTRADICTION = ScanRule(
    code="contradiction",
    family="settings",
    severity="error",
    title="Two settings of one job that cannot both hold",
    why="""An option asks for determinism, and a variable of the same job takes it back, or is
    refused by it. Which one wins is up to the library: it stops, or the option has no effect.""",
    silent="""The value is not written in the file, another file sets it, or the release does not
    look at it.""",
    bad="export NCCL_ALGO=NVLS\npython pretrain_gpt.py --deterministic-mode\n",
    good="export NCCL_ALGO=Ring\npython pretrain_gpt.py --deterministic-mode\n",
    sample="run.sh",
    check=_check_contradiction,
)


def _check_differ(project: Project) -> Iterator[Objection]:
    wanted = project.knowledge.wanted()
    asks = {program.path: project.wants_determinism(program) for program in project.programs}
    values: dict[tuple[str, str], list[GivenValue]] = {}
    for facts in project.files.values():
        for launch in facts.launches:
            for name, value in _given(facts, launch).items():
                setting = project.knowledge.variables.get(name)
                counts = setting is None or setting.value_type == "integer"
                if name in wanted and not counts:
                    program = _started(asks, launch)
                    values.setdefault((program, name), []).append(value)
    for (program, name), given in sorted(values.items()):
        good = [value for value in given if value.value in wanted[name]]
        bad = [value for value in given if value.value not in wanted[name]]
        if not good or not bad:
            continue
        for value in dict.fromkeys(bad):
            yield Objection(
                path=value.path,
                place=value.place,
                severity=None if asks.get(program) else "hint",
                message=(
                    f"{program} runs with {name}={value.value} from here, and with "
                    f"{name}={good[0].value} from {good[0].path}:{good[0].place.line}."
                ),
                way_out=f"{name}={good[0].value} in both",
                related=(RelatedSpot(good[0].path, good[0].place.line, "set here"),),
                because=because_of(project, name, "values"),
            )


def _started(programs: Iterable[str], launch: Launch) -> str:
    """The program that a launch means, as the project or else as the launch names it."""
    for path in programs:
        if launch.path and f"/{path}".endswith(f"/{launch.path}"):
            return path
    return launch.path or launch.module


SETTINGS_DIFFER = ScanRule(
    code="settings-differ",
    family="files",
    severity="missing",
    title="Launchers of one program set a variable to different values",
    why="""Two scripts start the same program, one with the value that determinism needs and one
    with another. Which results repeat then hangs on which script was used.""",
    silent="""All values are of the same kind, or the variable is a number. Where the program does
    not ask for determinism, this is a hint.""",
    bad="""CUBLAS_WORKSPACE_CONFIG=:4096:8 python train.py
CUBLAS_WORKSPACE_CONFIG=:0:0 python train.py
""",
    good="""CUBLAS_WORKSPACE_CONFIG=:4096:8 python train.py
CUBLAS_WORKSPACE_CONFIG=:4096:8 python train.py --resume
""",
    sample="run.sh",
    check=_check_differ,
)


_LIBRARIES = ("pyproject.toml", "setup.cfg", "setup.py")
"""Files that state what a library works with: it must not pin. Neither does code."""


def _check_unpinned(project: Project) -> Iterator[Objection]:
    seen: set[str] = set()
    for program in project.programs:
        if not project.trains(program):
            continue
        around = project.around(program.path)
        for package in sorted(project.packages_around(program.path)):
            said = around.packages.get(package)
            framework = project.kb.packages[package].kind == "framework"
            if said is None or not framework or said.how not in ("range", "assumed"):
                continue
            path, _colon, line = said.said_in.rpartition(":")
            is_library = path.rpartition("/")[2] in _LIBRARIES or path in project.python
            if not line.isdigit() or is_library or said.said_in in seen:
                continue
            seen.add(said.said_in)
            yield Objection(
                path=path,
                place=Spot(int(line)),
                message=(
                    f"{package} is not pinned: the next install can bring another release, with "
                    "other kernels and other numbers."
                ),
                way_out=f"{package}=={said.version}",
                related=(RelatedSpot(program.path, 1, "the program"),),
                confidence="likely",
            )


UNPINNED_STACK = ScanRule(
    code="unpinned-stack",
    family="files",
    severity="missing",
    title="A framework without a pinned release",
    why="""Another release of the framework brings other kernels: results change without a change
    of the code. Pin the release, or keep a lock file.""",
    silent="""A lock file or an image states the release, or the range stands in the metadata of a
    library, which must not pin.""",
    bad="torch>=2.0\n",
    good="torch==2.4.1\n",
    sample="requirements.txt",
    check=_check_unpinned,
)

RULES = (SETTINGS_DIFFER, UNPINNED_STACK)
CONTRADICTIONS = (CONTRADICTION,)
