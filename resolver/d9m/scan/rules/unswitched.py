"""Ops of programs without a switch, and ops that a release does not have."""

from __future__ import annotations

from collections.abc import Iterator

from d9m.scan.finding import Because, RelatedSpot
from d9m.scan.project.project import Project
from d9m.scan.rules.ops import answers, shown
from d9m.scan.rules.program_seeds import seeded
from d9m.scan.rules.programs import needs_switch
from d9m.scan.rules.rule import Objection, ScanRule


def _check_needs_switch(project: Project) -> Iterator[Objection]:
    seen: set[tuple[str, int, int]] = set()
    for program in project.programs:
        if not project.trains(program) or not seeded(project, program):
            continue
        switch = None if project.wants_determinism(program) else project.switch_for(program)
        if switch is None:
            continue
        for path, call, answer in answers(project, program):
            place = (path, call.place.line, call.place.column)
            if place in seen or answer.outcome != "solved":
                continue
            found = next((one for one in answer.sources if needs_switch(project, one, "")), None)
            if found is None:
                continue
            seen.add(place)
            yield Objection(
                path=path,
                place=call.place,
                message=f"{shown(call)} can differ between runs unless the switch is on.",
                way_out=switch,
                because=(Because(f"sources/{found.id}", "default"),),
                related=(RelatedSpot(program.path, 1, "the program"),),
            )


OP_NEEDS_SWITCH = ScanRule(
    code="op-needs-switch",
    family="ops",
    severity="missing",
    title="An op that the missing switch would make repeatable",
    why="""This op adds in no fixed order unless the deterministic switch of the framework is on.
    The program sets seeds and no switch (no-switch names the program; this rule points at each
    call).""",
    silent="""The program turns the switch on, seeds nothing, or the op varies only under a
    condition that the text does not show.""",
    bad="""import torch

torch.manual_seed(1)
x = torch.zeros(3, requires_grad=True)
torch.index_add(x, 0, i, s).sum().backward()
""",
    good="""import torch

torch.manual_seed(1)
torch.use_deterministic_algorithms(True)
x = torch.zeros(3, requires_grad=True)
torch.index_add(x, 0, i, s).sum().backward()
""",
    check=_check_needs_switch,
)


def _check_unknown(project: Project) -> Iterator[Objection]:
    for path, facts in project.python.items():
        for call in facts.calls:
            package = project.vocabulary.package(call.name)
            if package is None or call.guarded or not project.vocabulary.is_op(call.name):
                continue
            said = project.around(path).packages.get(package)
            if said is None or said.how not in ("given", "pinned"):
                continue
            stack = project.questions.world(project.around(path), (package,))
            answer = project.questions.op(stack, call.name)
            if answer is None or answer.outcome != "unknown" or not answer.note:
                continue
            yield Objection(
                path=path,
                place=call.place,
                message=f"{shown(call)} {answer.note} ({said.said_in}).",
                way_out=f"check which {package} runs this",
                confidence="likely",
            )


OP_UNKNOWN = ScanRule(
    code="op-unknown",
    family="ops",
    severity="error",
    title="An op that the stated release does not have",
    why="""The records know this op in other releases than the one that the project states. Either
    the program runs with another release than it says, and what the scan says of it is about the
    wrong one, or the call fails.""",
    silent="""No exact release is stated, or the call stands under hasattr, try or a test of the
    version.""",
    bad=(
        "from torch.nn.attention.flex_attention import flex_attention\n\n"
        "out = flex_attention(q, k, v)\n"
    ),
    good=(
        "from torch.nn.functional import scaled_dot_product_attention\n\n"
        "out = scaled_dot_product_attention(q, k, v)\n"
    ),
    check=_check_unknown,
)

RULES = (OP_NEEDS_SWITCH, OP_UNKNOWN)
