"""Ops that a program calls, and what the records say of each in its release."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from d9m.model.advice import OpAnswer
from d9m.scan.facts import WrittenCall
from d9m.scan.project.effects import written
from d9m.scan.project.programs import Program
from d9m.scan.project.project import Project
from d9m.scan.reading.kinds import INTEGERS


def question(call: WrittenCall) -> str:
    """A call as an item of ``--ops``."""
    name = f"x{call.name}" if call.name.startswith(".") else call.name
    text = written(call, name)
    if call.kind == INTEGERS:
        text += ":dtype=integer"
    return text + (":forward" if call.without_gradients else "")


def op_answers(
    project: Project, program: Program, home: str, facts: tuple[tuple[str, str], ...]
) -> Iterator[tuple[str, WrittenCall, OpAnswer]]:
    """Yield the ops that the files of a program call, each with its file and what the records say
    of it. `home`: the framework whose methods ``x.cumsum()`` means. `facts`: of the program.
    """
    for path, file in program.files.items():
        for call in file.calls:
            package = project.vocabulary.package(call.name) if call.name[0] != "." else home
            if not package or call.guarded:
                continue
            if call.name[0] != "." and not project.vocabulary.is_op(call.name):
                continue
            stack = project.questions.world(
                project.around(path), {package, home} if home else (package,)
            )
            stack = msgspec.structs.replace(stack, facts=facts)
            answer = project.questions.op(stack, question(call))
            if answer is not None:
                yield path, call, answer
