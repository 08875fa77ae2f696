"""Find the variables that a job gives to a program."""

from __future__ import annotations

import msgspec

from d9m.scan.facts import WITHOUT_EFFECT, EnvironmentWrite, FileFacts, Launch
from d9m.scan.finding import Spot
from d9m.scan.project.made import Made
from d9m.scan.project.project import Project

NOT_PASSED_ON = "but the command does not pass it on"


def _writes(project: Project, job: FileFacts) -> list[EnvironmentWrite]:
    """Return the variables of a job and of the scripts that it sources, in order of its lines."""
    found = [*job.variables]
    for line, _name, facts in project.sourced(job):
        for write in facts.variables if facts is not None else ():
            found.append(msgspec.structs.replace(write, place=Spot(line)))
    return sorted(found, key=lambda write: write.place.line)


def given(project: Project, job: FileFacts, launch: Launch, name: str) -> Made | None:
    """Return the value that a command gets from its file or its own assignments; None for none."""
    line = launch.place.line
    lost = launch.drops is not None and name.startswith(launch.drops)
    if name in launch.variables:
        doubt = NOT_PASSED_ON if lost and launch.drops else ""
        return Made(launch.variables[name], job.path, line, doubt)
    in_order = job.kind not in ("docker", "yaml")
    lines = {each.place.line for each in job.launches}
    found: list[Made] = []
    for write in _writes(project, job):
        if write.name != name or write.how in WITHOUT_EFFECT:
            continue
        of_command = write.how in ("command", "job") and job.kind in ("shell", "other")
        if (in_order and write.place.line > line) or (of_command and write.place.line in lines):
            continue
        if write.how == "unset":
            found.clear()
            continue
        doubt = "only under a condition or in a subshell" if write.arms else ""
        doubt = NOT_PASSED_ON if lost else doubt
        found.append(Made(write.value, job.path, write.place.line, doubt))
    if job.kind == "yaml" and (len(job.launches) > 1 or len(found) > 1):
        found = [msgspec.structs.replace(each, doubt="in a part of the file") for each in found]
    return found[-1] if found else None
