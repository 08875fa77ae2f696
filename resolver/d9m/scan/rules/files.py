"""Files: can they be read, and does what they set outlive them?"""

from __future__ import annotations

from collections.abc import Iterator

from d9m.scan.finding import Spot
from d9m.scan.project import Project
from d9m.scan.rules.rule import Objection, ScanRule
from d9m.scan.rules.settings import because_of


def _check_lost(project: Project) -> Iterator[Objection]:
    for path, write in project.writes():
        if write.how not in ("lost", "unexported") or write.name not in project.knowledge.variables:
            continue
        value = write.value or "..."
        kind = project.files[path].kind
        if write.how == "unexported":
            what = "is not exported: no program that the shell starts sees it."
            way_out = f"export {write.name}={value}"
        elif kind == "docker":
            what = "is gone when this build step ends."
            way_out = f"ENV {write.name}={value}"
        else:
            what = "is set in a shell of its own, which ends with this line."
            way_out = f'os.environ["{write.name}"] = "{value}"'
        yield Objection(
            path=path,
            place=write.place,
            message=f"{write.name} {what}",
            way_out=way_out,
            because=because_of(project, write.name, "lost"),
        )


LOST_EXPORT = ScanRule(
    code="lost-export",
    family="files",
    severity="error",
    title="A variable that is gone before anything reads it",
    why="""An export in a RUN of a Dockerfile, in os.system() or in a notebook's ! line lives as
    long as that shell. No program sees a variable that a shell script does not export.""",
    silent="""A later line exports the variable, or the script itself uses it.""",
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
    severity="hint",
    title="A file that cannot be read",
    why="""The scan cannot read templates, Python 2, files in an encoding that they do not name,
    or syntax that is newer than the Python that runs the scan. It says nothing about their
    contents.""",
    bad="print 'hello'\n",
    good="print('hello')\n",
    check=_check_unreadable,
)

RULES = (LOST_EXPORT, UNREADABLE)
