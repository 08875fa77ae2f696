"""How the job files of a project start a program: with which launcher, ranks and variables."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec

from d9m.scan.facts import WITHOUT_EFFECT, Launch
from d9m.scan.project.job_variables import given
from d9m.scan.project.made import Made
from d9m.scan.project.programs import Program
from d9m.scan.project.project import Project

NOT_EVERYWHERE = "not in every job that starts it"


class ProgramStart(msgspec.Struct, frozen=True):
    """A command of a job file that starts the program."""

    path: str
    launch: Launch


def started_by(program: Program) -> tuple[ProgramStart, ...]:
    """Return the commands that start a program, but for those of CI servers."""
    found: list[ProgramStart] = []
    for path, launch in program.launches:
        if not path.startswith("."):
            found.append(ProgramStart(path, launch))
    return tuple(found)


def ranks_of(started: Sequence[ProgramStart]) -> str:
    """Return the most ranks that a command starts: ``8``; ``?`` where the text does not say it,
    empty where no command has any.
    """
    given = [each.launch.ranks for each in started if each.launch.ranks]
    numbers = [int(ranks) for ranks in given if ranks.isdigit()]
    if numbers and max(numbers) > 1:
        return str(max(numbers))
    return "?" if "?" in given else str(max(numbers)) if numbers else ""


def set_by_jobs(project: Project, started: Sequence[ProgramStart], name: str) -> Iterator[Made]:
    """Yield where job files set a variable for the program."""
    found: list[Made] = []
    for each in started:
        made = given(project, project.files[each.path], each.launch, name)
        if made is not None:
            found.append(made)
    for made in found:
        if len(found) == len(started):
            yield made
        else:
            yield msgspec.structs.replace(made, doubt=NOT_EVERYWHERE)
    jobs = [project.files[each.path] for each in started]
    used = {job.path for job in jobs}
    used.update(facts.path for job in jobs for _line, _name, facts in project.sourced(job) if facts)
    for path, facts in project.files.items():
        if path in used or facts.kind in ("python", "notebook", "about") or path.startswith("."):
            continue
        for write in facts.variables:
            if write.name == name and write.how not in (*WITHOUT_EFFECT, "unset"):
                doubt = "no job here shows that the program runs with it"
                yield Made(write.value, path, write.place.line, doubt)
