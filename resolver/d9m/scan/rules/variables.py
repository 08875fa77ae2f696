"""Variables of the environment: has what is set an effect, and is it right?"""

from __future__ import annotations

from collections.abc import Iterator

from d9m.errors import quote
from d9m.model.records import Setting
from d9m.model.when import parse
from d9m.scan.facts import BY_PROCESS, EnvironmentWrite, FileFacts
from d9m.scan.finding import Fix, RelatedSpot, TextEdit
from d9m.scan.project.project import Project
from d9m.scan.rules.hash_seed import comes_too_late
from d9m.scan.rules.program_seeds import listed
from d9m.scan.rules.rule import Objection, ScanRule
from d9m.scan.rules.settings import because_of, refused_by_switch, value_fault
from d9m.scan.spelling import closest_typo


def _check_late_variable(project: Project) -> Iterator[Objection]:
    for path, facts in project.python.items():
        for write in facts.variables:
            setting = project.knowledge.variables.get(write.name)
            if (
                setting is None
                or setting.read != "import"
                or setting.list_ is not None
                or write.how not in BY_PROCESS
                or write.scope != 0
                or setting.effect == "never"
            ):
                continue
            home = project.kb.home(project.kb.setting_ids[write.name])
            before = [
                each
                for each in facts.imports
                if project.vocabulary.package(each.module) == home
                and each.line < write.place.line
                and each.scope == 0
                and not each.guarded
            ]
            if before and _is_read_so(project, path, setting):
                yield Objection(
                    path=path,
                    place=write.place,
                    message=(
                        f"{write.name} is read when {before[0].module} is imported, in "
                        f"{project.line(path, before[0].line)}. Set here, it has no effect."
                    ),
                    way_out=f"set it before {project.line(path, before[0].line)}",
                    because=because_of(project, setting.name, setting.read),
                    related=(RelatedSpot(path, before[0].line, "imported here"),),
                )


def _is_read_so(project: Project, path: str, setting: Setting) -> bool:
    """Whether the release around a file surely reads a variable when its record says."""
    home = project.kb.home(project.kb.setting_ids[setting.name])
    stack = project.world(path, frozenset((home,)))
    return project.questions.surely_holds(stack, parse(setting.read_in))


LATE_VARIABLE = ScanRule(
    code="late-variable",
    family="settings",
    severity="error",
    title="A variable is set after the import that reads it",
    why="""Some libraries read their variables when they are imported, once. A value that is set
    after the import is never read. Set the variable before the import, or in the
    shell.""",
    silent="""The import stands in a function or under a condition, another library reads the
    variable, or the release reads it later.""",
    bad='import os\n\nimport tensorflow as tf\n\nos.environ["TF_ENABLE_ONEDNN_OPTS"] = "0"\n',
    good='import os\n\nos.environ["TF_ENABLE_ONEDNN_OPTS"] = "0"\n\nimport tensorflow as tf\n',
    check=_check_late_variable,
)


def _check_misspelt(project: Project) -> Iterator[Objection]:
    known = project.knowledge.variables
    for path, write in project.writes():
        if write.name in known or write.how == "unset":
            continue
        meant = closest_typo(write.name, known)
        if meant is None:
            continue
        fix = None
        if write.name_place is not None:
            fix = _replacing(write, f'"{meant}"', f"Rename to {meant}", project.files[path])
        late = comes_too_late(project, path, write, known[meant])
        only = " Python reads that when it starts: set here, it has no effect." if late else ""
        yield Objection(
            path=path,
            place=write.place,
            severity="hint" if late else None,
            message=f"Nothing reads {write.name}; did you mean {meant}?{only}",
            way_out=meant,
            because=because_of(project, meant, "name"),
            fix=fix,
        )


def _replacing(write: EnvironmentWrite, text: str, title: str, facts: FileFacts) -> Fix | None:
    spot = write.name_place
    if spot is None or facts.kind not in ("python", "notebook"):
        return None
    edit = TextEdit((spot.line, spot.column), (spot.end_line, spot.end_column), text)
    return Fix(True, title, [edit])


MISSPELT_VARIABLE = ScanRule(
    code="misspelt-variable",
    family="settings",
    severity="error",
    title="A variable name that looks like a typo of a known one",
    why="""No library complains about a variable that it does not know. A misspelt name is set,
    shows up in every log, and has no effect.""",
    silent="""The name differs in its first letter, or by more than one typo (two in names of 16
    letters and more). A program that writes PYTHONHASHSEED wrongly gets a hint: spelt right it
    comes too late as well, unless the program starts another one.""",
    bad='import os\n\nos.environ["CUBLAS_WORKSPACE_CONFG"] = ":4096:8"\n',
    good='import os\n\nos.environ["CUBLAS_WORKSPACE_CONFIG"] = ":4096:8"\n',
    fixable="safe",
    check=_check_misspelt,
)


def _check_placebo(project: Project) -> Iterator[Objection]:
    for path, write, setting in project.known_writes():
        if setting.effect != "never":
            continue
        meant = f"; did you mean {setting.instead}?" if setting.instead else "."
        yield Objection(
            path=path,
            place=write.place,
            message=f"Nothing reads {write.name}{meant}",
            way_out=setting.instead or f"remove {write.name}",
            because=because_of(project, setting.name, "never read"),
        )


PLACEBO_VARIABLE = ScanRule(
    code="placebo-variable",
    family="settings",
    severity="error",
    title="A variable that nothing reads",
    why="""Some names are copied from script to script although no release of any library
    reads them. We searched the libraries themselves for them.""",
    bad='import os\n\nos.environ["NCCL_DETERMINISTIC"] = "1"\n',
    good='import os\n\nos.environ["NCCL_ALGO"] = "Ring"\n',
    check=_check_placebo,
)


def _check_refused(project: Project) -> Iterator[Objection]:
    for path, write, setting in project.known_writes():
        if not write.value or setting.list_ is not None or setting.effect == "never":
            continue
        fault = value_fault(setting, write.value)
        if fault is not None:
            yield Objection(
                path=path,
                place=write.place,
                message=f"{write.name} is set to {quote(write.value)}. {fault}",
                way_out=_accepted(setting, write.name),
                because=because_of(project, setting.name, "values"),
            )
    yield from _misplaced_flags(project)
    yield from refused_by_switch(project)


def _misplaced_flags(project: Project) -> Iterator[Objection]:
    """Flags in a list variable that belong in another one, if the stated release has them."""
    for path, write, setting in project.known_writes():
        if not write.value or not setting.flags or setting.list_ is None:
            continue
        moved: dict[str, list[str]] = {}
        for flag in write.value.split(setting.list_):
            other = _home_of_flag(project, flag)
            if other is not None and other != setting.name:
                moved.setdefault(other, []).append(flag)
        for other, flags in moved.items():
            known = [flag for flag in flags if _has_flag(project, path, flag)]
            gone = [_name_of(flag) for flag in flags if flag not in known]
            ways = [f"{other}={setting.list_.join(known)}"] if known else []
            ways += [f"leave out {listed(gone)}: this release knows no such flag"] if gone else []
            yield Objection(
                path=path,
                place=write.place,
                message=(
                    f"{write.name} takes flags that begin with {' or '.join(setting.flags)}: in it "
                    f"{listed([_name_of(flag) for flag in flags])} "
                    f"{'have' if len(flags) > 1 else 'has'} no effect."
                ),
                way_out="; ".join(ways),
                because=because_of(project, setting.name, "flags"),
            )


def _name_of(flag: str) -> str:
    return flag.partition("=")[0]


def _has_flag(project: Project, path: str, flag: str) -> bool:
    """Whether the stated releases may know a flag; one without a record counts as known."""
    setting = project.kb.settings.get(_name_of(flag))
    if setting is None:
        return True
    named = frozenset[str]().union(*setting.condition.clauses)
    stack = project.world(path, frozenset(name for name in named if name in project.kb.packages))
    return project.questions.holds(stack, setting.condition)


def _home_of_flag(project: Project, flag: str) -> str | None:
    """The variable whose flags begin like this one."""
    for name, setting in project.knowledge.variables.items():
        if any(flag.startswith(start) for start in setting.flags):
            return name
    return None


def _accepted(setting: Setting, name: str) -> str:
    value = setting.accepts[0] if setting.accepts else "0"
    return f"{name}={value}"


REFUSED_VALUE = ScanRule(
    code="refused-value",
    family="settings",
    severity="error",
    title="A variable with a value that its library does not accept",
    why="""A value that a library does not know is ignored or raises an error late. The records
    list what each variable accepts, and what the switch of the program accepts.""",
    silent="""The value is not written in the file, or the variable accepts anything.""",
    bad='import os\n\nos.environ["TF_DETERMINISTIC_OPS"] = "yes"\n',
    good='import os\n\nos.environ["TF_DETERMINISTIC_OPS"] = "1"\n',
    check=_check_refused,
)


def _check_list_overwritten(project: Project) -> Iterator[Objection]:
    for path, write, setting in project.known_writes():
        if setting.list_ is None or write.copies:
            continue
        if write.how in ("assigned", "update", "putenv"):
            yield Objection(
                path=path,
                place=write.place,
                message=f"{write.name} holds several flags. This line drops those already set.",
                way_out=f"append to the old value of {write.name}",
                because=because_of(project, setting.name, "list"),
            )


LIST_OVERWRITTEN = ScanRule(
    code="list-overwritten",
    family="settings",
    severity="error",
    title="A list variable that is replaced instead of extended",
    why="""XLA_FLAGS and its like hold several flags. An assignment throws away what the user,
    the image or another library put there.""",
    silent="""The new value is made from the old one.""",
    bad='import os\n\nos.environ["XLA_FLAGS"] = "--xla_gpu_deterministic_ops=true"\n',
    good="""import os

flags = os.environ.get("XLA_FLAGS", "")
os.environ["XLA_FLAGS"] = os.environ.get("XLA_FLAGS", "") + " --xla_gpu_deterministic_ops=true"
""",
    check=_check_list_overwritten,
)

RULES = (
    LATE_VARIABLE,
    MISSPELT_VARIABLE,
    PLACEBO_VARIABLE,
    REFUSED_VALUE,
    LIST_OVERWRITTEN,
)
