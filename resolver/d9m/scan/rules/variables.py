"""Variables of the environment: has what is set an effect, and is it right?"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeAlias

from d9m.errors import quote
from d9m.model.records import Setting
from d9m.model.when import parse
from d9m.render.phrases import join
from d9m.resolve import values
from d9m.scan.facts import BY_PROCESS, EnvironmentWrite, Launch
from d9m.scan.finding import Fix, RelatedSpot, TextEdit
from d9m.scan.project.job_variables import given
from d9m.scan.project.project import Project
from d9m.scan.rules.rule import Objection, ScanCheck, ScanRule, because_of
from d9m.scan.spelling import closest_typo

Fault: TypeAlias = tuple[str, str] | tuple[str, str, RelatedSpot]
"""The problem, and its fix; perhaps another place that has a part in it."""

PYTHON = "python"
"""The package that reads its variables before any line of a program runs."""


def _each_write(
    find: Callable[[Project, str, EnvironmentWrite, Setting], Iterator[Fault]], says: str
) -> ScanCheck:
    """A check that looks at each place where a variable of the records is set."""

    def check(project: Project) -> Iterator[Objection]:
        for path, write, setting in project.known_writes():
            for message, workaround, *related in find(project, path, write, setting):
                yield Objection(
                    path=path,
                    place=write.place,
                    message=message,
                    workaround=workaround,
                    because=because_of(project, setting.name, says),
                    related=tuple(related),
                )

    return check


def _comes_too_late(project: Project, path: str, write: EnvironmentWrite, setting: Setting) -> bool:
    """Whether a program writes a variable that Python has read, and its file starts nothing that
    reads it again.
    """
    if setting.read != "process-start" or write.how not in BY_PROCESS:
        return False
    starts = project.vocabulary.marks("starts_process")
    later = (call for call in project.files[path].calls if call.place.line >= write.place.line)
    return project.home(setting.name) == PYTHON and not any(call.name in starts for call in later)


def _launch_without(project: Project, path: str, name: str) -> tuple[str, Launch | None]:
    """Return a job that starts a program with a file, and its command if nothing in the job sets
    a variable before.
    """
    held = ""
    for program in project.programs:
        for job, launch in program.launches if path in program.files else ():
            at = launch.place.line
            writes = [one for one in project.files[job].variables if one.place.line <= at]
            said = [one.how for one in writes if one.name == name]
            if name not in launch.variables and (not said or said[-1] == "unset"):
                return job, launch
            held = job
    return held, None


def _late_hash_seed(
    project: Project, path: str, write: EnvironmentWrite, setting: Setting
) -> Iterator[Fault]:
    if _comes_too_late(project, path, write, setting):
        job, launch = _launch_without(project, path, write.name)
        where = f"in {job}:{launch.place.line}" if launch else "before Python starts"
        value = write.value if write.value and write.value.isdigit() else "0"
        what = f"{write.name} is read when Python starts. Set here, it reaches only processes "
        if launch or not job:
            yield f"{what}that this one starts.", f"export {write.name}={value} {where}"


LATE_HASH_SEED = ScanRule(
    code="late-hash-seed",
    family="settings",
    severity="error",
    title="A program sets a variable that Python has already read",
    why="""Python reads PYTHONHASHSEED once, when it starts. A program that sets it later changes
    nothing for itself: sets and hashes of strings still differ in every run. Export it in the
    shell, the job script or the image.""",
    silent="""The file starts a new process later, which sees the variable; or the job that starts
    the program sets it, too.""",
    bad='import os\n\nos.environ["PYTHONHASHSEED"] = "0"\n',
    good="import os\n\nseed = int(os.environ.get('PYTHONHASHSEED', '0'))\n",
    check=_each_write(_late_hash_seed, "process-start"),
)


def _late_variable(
    project: Project, path: str, write: EnvironmentWrite, setting: Setting
) -> Iterator[Fault]:
    is_read_at_import = setting.read == "import" and setting.list_ is None
    if not is_read_at_import or setting.effect == "never":
        return
    if write.how not in BY_PROCESS or write.scope != 0:
        return
    home = project.home(write.name)
    stack = project.world(path, frozenset((home,)))
    for each in project.files[path].imports:
        is_before = each.scope == 0 and each.line < write.place.line and not each.guarded
        if not is_before or project.vocabulary.package(each.module) != home:
            continue
        if project.questions.surely_holds(stack, parse(setting.read_in)):
            line = project.line(path, each.line)
            what = f"{write.name} is read when {each.module} is imported, in {line}. Set here, it"
            related = RelatedSpot(path, each.line, "imported here")
            yield f"{what} has no effect.", f"set it before {line}", related
        return


LATE_VARIABLE = ScanRule(
    code="late-variable",
    family="settings",
    severity="error",
    title="A variable is set after the import that reads it",
    why="""Some libraries read their variables when they are imported, once. A value that is set
    after the import is never read. Set the variable before the import, or in the shell.""",
    silent="""The import is in a function or under a condition, another library reads the
    variable, or the release reads it later.""",
    bad='import os\n\nimport tensorflow as tf\n\nos.environ["TF_ENABLE_ONEDNN_OPTS"] = "0"\n',
    good='import os\n\nos.environ["TF_ENABLE_ONEDNN_OPTS"] = "0"\n\nimport tensorflow as tf\n',
    check=_each_write(_late_variable, "import"),
)


def _check_misspelt(project: Project) -> Iterator[Objection]:
    known = project.knowledge.variables
    for path, write in project.writes():
        meant = closest_typo(write.name, known) if write.name not in known else None
        if meant is None or write.how == "unset":
            continue
        if _comes_too_late(project, path, write, known[meant]):
            continue
        spot, fix = write.name_place, None
        if spot is not None:
            start, end = (spot.line, spot.column), (spot.end_line, spot.end_column)
            fix = Fix(True, f"Rename to {meant}", [TextEdit(start, end, f'"{meant}"')])
        yield Objection(
            path=path,
            place=write.place,
            message=f"Nothing reads {write.name}; did you mean {meant}?",
            workaround=meant,
            because=because_of(project, meant, "name"),
            fix=fix,
        )


MISSPELT_VARIABLE = ScanRule(
    code="misspelt-variable",
    family="settings",
    severity="error",
    title="A variable name that looks like a typo of a known one",
    why="""No library complains about a variable that it does not know. A misspelt name is set,
    shows up in every log, and has no effect.""",
    silent="""The name differs in its first letter, or by more than one typo (two in names of 16
    letters and more); or it would be read too late anyway.""",
    bad='import os\n\nos.environ["CUBLAS_WORKSPACE_CONFG"] = ":4096:8"\n',
    good='import os\n\nos.environ["CUBLAS_WORKSPACE_CONFIG"] = ":4096:8"\n',
    fixable="safe",
    check=_check_misspelt,
)


def _placebo(
    _project: Project, _path: str, write: EnvironmentWrite, setting: Setting
) -> Iterator[Fault]:
    if setting.effect == "never":
        meant = f"; did you mean {setting.instead}?" if setting.instead else "."
        yield f"Nothing reads {write.name}{meant}", setting.instead or f"remove {write.name}"


PLACEBO_VARIABLE = ScanRule(
    code="placebo-variable",
    family="settings",
    severity="error",
    title="A variable that nothing reads",
    why="""Some names are copied from script to script although no release of any library
    reads them. We searched the libraries themselves for them.""",
    bad='import os\n\nos.environ["NCCL_DETERMINISTIC"] = "1"\n',
    good='import os\n\nos.environ["NCCL_ALGO"] = "Ring"\n',
    check=_each_write(_placebo, "never read"),
)


def _value_fault(setting: Setting, value: str) -> str | None:
    if values.spelled(setting, value) in setting.refuses and not setting.refuses_in:
        return "With that value, results differ between runs."
    fault = values.fault(setting, value)
    return f"It {fault}." if fault else None


def _refused(
    project: Project, path: str, write: EnvironmentWrite, setting: Setting
) -> Iterator[Fault]:
    if not write.value or setting.effect == "never":
        return
    if setting.list_ is not None:
        yield from _misplaced_flags(project, path, write.value, setting)
    elif fault := _value_fault(setting, write.value):
        workaround = f"{write.name}={setting.accepts[0] if setting.accepts else '0'}"
        yield f"{write.name} is set to {quote(write.value)}. {fault}", workaround
    for switched, by, refused in _needed_by_switches(project, write.name):
        value = values.spelled(setting, write.value)
        if value not in refused and _value_fault(setting, write.value) is None:
            related = RelatedSpot(switched, by, "switched on here")
            what = f"The switch refuses {write.name}={write.value}: ops that need it raise an error"
            yield f"{what}, or warn.", f"{write.name}={refused[0]}", related
            return


def _needed_by_switches(project: Project, name: str) -> Iterator[tuple[str, int, list[str]]]:
    """Yield the places that turn on a switch which needs a variable, with the values it takes."""
    for path, made in project.effects.items():
        for one in made:
            if not project.turns_on(one.setting, one.value):
                continue
            for _solution, turn in project.knowledge.needed_with(one.setting):
                stack = project.world(path, frozenset((project.home(one.setting),)))
                if turn.set == name and project.questions.surely_holds(stack, turn.condition):
                    yield path, one.place.line, turn.to


def _misplaced_flags(project: Project, path: str, value: str, setting: Setting) -> Iterator[Fault]:
    """Flags in a list variable that belong in another one, if the stated release has them."""
    moved: dict[str, list[str]] = {}
    for flag in value.split(setting.list_) if setting.flags else ():
        for name, other in project.knowledge.variables.items():
            if name != setting.name and any(flag.startswith(start) for start in other.flags):
                moved.setdefault(name, []).append(flag)
    for other, flags in moved.items():
        known = [flag for flag in flags if _has_flag(project, path, flag)]
        gone = [flag.partition("=")[0] for flag in flags if flag not in known]
        ways = [f"{other}={(setting.list_ or ' ').join(known)}"] if known else []
        ways += [f"leave out {join(gone)}: this release knows no such flag"] if gone else []
        names = join([flag.partition("=")[0] for flag in flags])
        starts = " or ".join(setting.flags)
        what = f"{setting.name} takes flags that begin with {starts}: in it {names}"
        yield f"{what} {'have' if len(flags) > 1 else 'has'} no effect.", "; ".join(ways)


def _has_flag(project: Project, path: str, flag: str) -> bool:
    """Whether the stated releases may know a flag; one without a record counts as known."""
    setting = project.kb.settings.get(flag.partition("=")[0])
    if setting is None:
        return True
    named = frozenset[str]().union(*setting.condition.clauses)
    stack = project.world(path, frozenset(name for name in named if name in project.kb.packages))
    return project.questions.holds(stack, setting.condition)


REFUSED_VALUE = ScanRule(
    code="refused-value",
    family="settings",
    severity="error",
    title="A variable with a value that its library does not accept",
    why="""A value that a library does not know is ignored or raises an error late. The records
    list what each variable accepts, and what the switch of the program accepts.""",
    silent="The value is not written in the file, or the variable accepts anything.",
    bad='import os\n\nos.environ["TF_DETERMINISTIC_OPS"] = "yes"\n',
    good='import os\n\nos.environ["TF_DETERMINISTIC_OPS"] = "1"\n',
    check=_each_write(_refused, "values"),
)


def _list_overwritten(
    project: Project, path: str, write: EnvironmentWrite, setting: Setting
) -> Iterator[Fault]:
    is_replaced = write.how in BY_PROCESS and write.how != "setdefault" and not write.copies
    if setting.list_ is None or write.value is None or not is_replaced:
        return
    before = [
        (path, one.place.line, one.value)
        for one in project.files[path].variables
        if one.name == write.name and one.place < write.place and one.scope == write.scope
    ]
    for program in project.programs:
        for job, launch in program.launches if path in program.files else ():
            value = given(project, project.files[job], launch, write.name)
            if value is not None and not value.doubt:
                before.append((job, value.line, value.value))
    for where, line, value in before:
        lost = {*(value or "").split(setting.list_)} - {"", *write.value.split(setting.list_)}
        if lost:
            spot = project.spot(where, line)
            what = f"This line drops {join(sorted(lost))} from {write.name}, set in {spot}."
            workaround = f"append to the old value of {write.name}"
            yield what, workaround, RelatedSpot(where, line, "set here")
            return


LIST_OVERWRITTEN = ScanRule(
    code="list-overwritten",
    family="settings",
    severity="error",
    title="A list variable that is replaced instead of extended",
    why="""XLA_FLAGS and its like hold several flags. An assignment throws away those that the job
    or an earlier line of the program put there.""",
    silent="""The new value is made from the old one, or neither the job nor an earlier line of the
    same function sets it.""",
    bad="""import os

os.environ["XLA_FLAGS"] = "--xla_gpu_deterministic_ops=true"
os.environ["XLA_FLAGS"] = "--xla_gpu_autotune_level=0"
""",
    good="""import os

os.environ["XLA_FLAGS"] = "--xla_gpu_deterministic_ops=true"
os.environ["XLA_FLAGS"] = os.environ.get("XLA_FLAGS", "") + " --xla_gpu_autotune_level=0"
""",
    check=_each_write(_list_overwritten, "list"),
)


def _lost(
    project: Project, path: str, write: EnvironmentWrite, _setting: Setting
) -> Iterator[Fault]:
    pair = f"{write.name}={write.value or '...'}"
    if write.how == "unexported":
        what = "is not exported: no program that the shell starts sees it."
        yield f"{write.name} {what}", f"export {pair}"
    elif write.how == "lost" and project.files[path].kind == "docker":
        yield f"{write.name} is gone when this build step ends.", f"ENV {pair}"
    elif write.how == "lost":
        what = "is set in a shell of its own, which ends with this line."
        yield f"{write.name} {what}", f'os.environ["{write.name}"] = "{write.value or "..."}"'


LOST_EXPORT = ScanRule(
    code="lost-export",
    family="files",
    severity="error",
    title="A variable that is gone before anything reads it",
    why="""An export in a RUN of a Dockerfile, in os.system() or in a notebook's ! line lives as
    long as that shell. No program sees a variable that a shell script does not export.""",
    silent="A later line exports the variable, or the script itself uses it.",
    bad='import os\n\nos.system("export CUBLAS_WORKSPACE_CONFIG=:4096:8")\n',
    good='import os\n\nos.environ["CUBLAS_WORKSPACE_CONFIG"] = ":4096:8"\n',
    check=_each_write(_lost, "lost"),
)

RULES = (
    LATE_HASH_SEED,
    LATE_VARIABLE,
    MISSPELT_VARIABLE,
    PLACEBO_VARIABLE,
    REFUSED_VALUE,
    LIST_OVERWRITTEN,
)
LOST = (LOST_EXPORT,)
