"""The seed of Python's hashes: is it there before Python starts, and does anything need it?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec

from d9m.model.records import Setting
from d9m.scan.facts import BY_PROCESS, EnvironmentWrite, FileFacts, Launch, Order
from d9m.scan.finding import RelatedSpot
from d9m.scan.project.programs import Program
from d9m.scan.project.project import Project
from d9m.scan.rules.order import surely_hashed
from d9m.scan.rules.rule import Objection, ScanRule
from d9m.scan.rules.settings import because_of

PYTHON = "python"
"""The package that reads its variables before any line of the program runs."""
_BY_CHANCE = "random"
"""The value that asks Python for a new hash seed in every run."""


class _Needed(msgspec.Struct, frozen=True):
    """Code of a program that needs the same hashes in every run."""

    path: str
    order: Order


def _check_late_hash_seed(project: Project) -> Iterator[Objection]:
    for path, write, setting in project.known_writes():
        if not comes_too_late(project, path, write, setting):
            continue
        programs = [program for program in project.programs if path in program.files]
        if programs and all(_is_exported(project, one.path, write.name) for one in programs):
            continue
        launch = next(_launches_of(project, path), None)
        where = (
            f" in {launch[0].path}:{launch[1].place.line}" if launch else " before Python starts"
        )
        value = write.value if write.value and write.value.isdigit() else "0"
        needed = _needed(project, path, write, programs)
        related: tuple[RelatedSpot, ...] = ()
        if needed is not None:
            line = needed.order.place.line
            related = (RelatedSpot(needed.path, line, "hashes of strings decide here"),)
        yield Objection(
            path=path,
            place=write.place,
            severity="warning" if needed is not None else None,
            message=(
                f"{write.name} is read when Python starts. Set here, it reaches only processes "
                "that this one starts."
            ),
            way_out=f"export {write.name}={value}{where}",
            because=because_of(project, setting.name, setting.read),
            related=related,
        )


def comes_too_late(project: Project, path: str, write: EnvironmentWrite, setting: Setting) -> bool:
    """Whether a program writes a variable that Python has read, and starts nothing that reads it
    again; others are read when their library is loaded.
    """
    if setting.read != "process-start" or write.how not in BY_PROCESS:
        return False
    if project.kb.home(project.kb.setting_ids[setting.name]) != PYTHON:
        return False
    return not _starts_process(project, project.files[path], write)


def _needed(
    project: Project, path: str, write: EnvironmentWrite, programs: Sequence[Program]
) -> _Needed | None:
    """Where a program that runs the line builds on hashes of strings."""
    running = [one for one in programs if project.reach.runs(one, path, write.place.line)]
    for other, order in surely_hashed(project) if running else ():
        for program in running:
            if other in program.files and program.may_run(other, order):
                return _Needed(other, order)
    return None


def _starts_process(project: Project, facts: FileFacts, write: EnvironmentWrite) -> bool:
    """Whether a process that is started later in the file sees the variable."""
    starts = project.vocabulary.marks("starts_process")
    return any(call.name in starts and call.place.line >= write.place.line for call in facts.calls)


def _launches_of(project: Project, path: str) -> Iterator[tuple[FileFacts, Launch]]:
    """The commands of job files that run a file: from the root, or from the job's own folder."""
    for job, facts in project.files.items():
        folder = job.rpartition("/")[0]
        for launch in facts.launches:
            written = launch.path.removeprefix("./")
            if written and path in (written, f"{folder}/{written}"):
                yield facts, launch


def _is_exported(project: Project, path: str, name: str) -> bool:
    """Whether job files run a program, and each sets a variable before it does."""
    launches = list(_launches_of(project, path))
    return bool(launches) and all(_has_variable(job, launch, name) for job, launch in launches)


def _has_variable(job: FileFacts, launch: Launch, name: str) -> bool:
    """Whether a command of a job gets a variable: from the job above it, or of its own."""
    if name in launch.variables:
        return launch.variables[name] != _BY_CHANCE
    found = False
    for write in job.variables:
        if write.name == name and write.place.line <= launch.place.line:
            if write.how == "unset":
                found = False
            elif write.how in ("exported", "job", "image"):
                found = write.value != _BY_CHANCE
    return found


LATE_HASH_SEED = ScanRule(
    code="late-hash-seed",
    family="settings",
    severity="error",
    title="A program sets a variable that Python has already read",
    why="""Python reads PYTHONHASHSEED once, when it starts. A program that sets it later
    changes nothing for itself: sets and hashes of strings still differ in every run. Export it
    in the shell, the job script or the image. Most programs build nothing on hashes of strings,
    so this is a hint. It is a warning where a program that runs the line does: it numbers a set of
    strings, draws from one, or computes with the hash of a string.""",
    silent="""A new process is started later in the same file: it does see the variable. Or job
    files start the program, and each exports the variable before.""",
    bad="""import os

os.environ["PYTHONHASHSEED"] = "0"
index = {name: i for i, name in enumerate(set(names))}
""",
    good="import os\n\nseed = int(os.environ.get('PYTHONHASHSEED', '0'))\n",
    check=_check_late_hash_seed,
)

RULES = (LATE_HASH_SEED,)
