"""Files: can they be read, and does what they set outlive them?"""

from __future__ import annotations

from collections.abc import Iterator

from d9m.scan.facts import EnvironmentWrite
from d9m.scan.finding import Because, Spot
from d9m.scan.project.project import Project
from d9m.scan.rules.program_seeds import listed
from d9m.scan.rules.rule import Objection, ScanRule
from d9m.scan.rules.settings import because_of


def _check_lost(project: Project) -> Iterator[Objection]:
    known = project.knowledge.variables
    for path, block in _blocks(project):
        if kept := [write for write in block if write.name in known]:
            yield _lost(project, path, kept)


def _blocks(project: Project) -> Iterator[tuple[str, list[EnvironmentWrite]]]:
    """Variables that are lost, those together that stand one below the other."""
    before, block = "", list[EnvironmentWrite]()
    for path, write in project.writes():
        if write.how not in ("lost", "unexported"):
            continue
        if block and not (path == before and _follows(block[-1], write)):
            yield before, block
            block = []
        before = path
        block.append(write)
    if block:
        yield before, block


def _follows(one: EnvironmentWrite, other: EnvironmentWrite) -> bool:
    last = one.place.end_line or one.place.line
    return one.how == other.how and one.place.line <= other.place.line <= last + 1


def _lost(project: Project, path: str, block: list[EnvironmentWrite]) -> Objection:
    """Variables that are set one below the other and lost alike."""
    names = listed([write.name for write in block])
    settings = [f"{write.name}={write.value or '...'}" for write in block]
    are, sees = ("are", "them") if len(block) > 1 else ("is", "it")
    if block[0].how == "unexported":
        what = f"{are} not exported: no program that the shell starts sees {sees}."
        way_out = f"export {' '.join(settings)}"
    elif project.files[path].kind == "docker":
        what = f"{are} gone when this build step ends."
        way_out = f"ENV {' '.join(settings)}"
    else:
        what = f"{are} set in a shell of its own, which ends with this line."
        way_out = "; ".join(
            f'os.environ["{write.name}"] = "{write.value or "..."}"' for write in block
        )
    because: list[Because] = []
    for write in block:
        because += because_of(project, write.name, "lost")
    return Objection(
        path=path,
        place=block[0].place,
        message=f"{names} {what}",
        way_out=way_out,
        because=tuple(because),
    )


LOST_EXPORT = ScanRule(
    code="lost-export",
    family="files",
    severity="error",
    title="A variable that is gone before anything reads it",
    why="""An export in a RUN of a Dockerfile, in os.system() or in a notebook's ! line lives as
    long as that shell. No program sees a variable that a shell script does not export.""",
    silent="""A later line exports the variable, or the script itself uses it. Variables that are
    lost in lines one below the other are one finding.""",
    bad='import os\n\nos.system("export CUBLAS_WORKSPACE_CONFIG=:4096:8")\n',
    good='import os\n\nos.environ["CUBLAS_WORKSPACE_CONFIG"] = ":4096:8"\n',
    check=_check_lost,
)


def _check_unreadable(project: Project) -> Iterator[Objection]:
    for path, facts in project.files.items():
        if facts.unreadable:
            yield Objection(
                path=path,
                place=Spot(facts.unreadable_line),
                message=f"This file was not scanned: {facts.unreadable}.",
                way_out="fix it, or exclude it",
            )


UNREADABLE = ScanRule(
    code="unreadable",
    family="files",
    severity="missing",
    title="A file that cannot be read",
    why="""The scan cannot read templates, Python 2, files in an encoding that they do not name,
    or syntax that is newer than the Python that runs the scan. It says nothing about their
    contents.""",
    bad="print 'hello'\n",
    good="print('hello')\n",
    check=_check_unreadable,
)

RULES = (LOST_EXPORT, UNREADABLE)
