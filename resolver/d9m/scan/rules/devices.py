"""Where a program computes, as its code shows, whatever device the lists of packages state."""

from __future__ import annotations

from d9m.scan.facts import FileFacts
from d9m.scan.project.programs import Program
from d9m.scan.project.project import Project
from d9m.scan.surroundings.surrounding import ScanEnvironment

ASSUMED = ScanEnvironment("").device
"""The device of a project that states none."""
_WORDS = (ASSUMED, "device", "gpu", "gpus")


def may_use_gpu(project: Project, program: Program, home: str) -> bool:
    """Whether something shows that a program can put its model on a GPU: a word for it in its own
    file or in one that trains, or a library other than its framework that trains, and chooses.
    """
    marks = project.vocabulary.trains
    choosing = {code.package for code in project.kb.code.values() if code.trains} - {home}
    for path, facts in program.files.items():
        trains = any(call.name in marks and program.may_run(path, call) for call in facts.calls)
        if path != program.path and not trains:
            continue
        if any(word in facts.mentioned for word in _WORDS):
            return True
        if project.packages(facts) & choosing:
            return True
    return False


def is_stated_otherwise(project: Project, program: Program) -> bool:
    """Whether the files state another device than the code of a program names: a list of packages
    for a machine without a GPU, and code for one with it.
    """
    if project.around(program.path).device == ASSUMED:
        return False
    return any(_names_gpu(facts) for facts in program.files.values())


def _names_gpu(facts: FileFacts) -> bool:
    return ASSUMED in facts.mentioned
