"""Does the prober see what is there? Facts of every CPU: one op that varies, its cure, and one that cannot vary."""

from __future__ import annotations

import msgspec

from d9m.check.examine import Question, examine
from d9m.check.launch import Launcher
from d9m.check.look import look
from d9m.check.report import Report
from d9m.check.run import Effort, Watch
from d9m.failures import AbsentError
from d9m.kb.tables import KnowledgeBase

VARIES = "torch/index-put-accumulate"
"""float32 sums of several threads: always varies with eight threads, on two cores as well."""

EFFORT = Effort(repeats=32, processes=1, again=1, budget=5.0, climb=False)


class Fact(msgspec.Struct, frozen=True):
    text: str
    holds: bool
    seen: str


def selftest(kb: KnowledgeBase, launcher: Launcher, watch: Watch) -> list[Fact]:
    """Raises AbsentError where PyTorch is not there to run it with."""
    question = Question(launcher, "cpu", ["torch"], [VARIES], EFFORT, quick=False, full=False)
    return facts(examine(kb, question, look(kb, launcher), watch))


def facts(report: Report) -> list[Fact]:
    """Raises AbsentError where the op could not be run: then nothing is proved either way."""
    probe = report.probes[0] if report.probes else None
    if probe is None or not {"default", "advised"} <= probe.arms.keys():
        raise AbsentError("the self-test could not run")
    if probe.arms["default"].failed or probe.arms["default"].raised:
        raise AbsentError(f"the self-test could not run: {probe.reason}")
    default, advised, proofs = probe.arms["default"], probe.arms["advised"], probe.proofs
    return [
        Fact(
            "index_put(accumulate=True) varies by default", default.varies, _count(default.differing, default.repeats)
        ),
        Fact("the advised settings fix it", advised.quiet, _count(advised.differing, advised.repeats)),
        Fact(
            "with unique indices it never varies", proofs.control is True, "one result" if proofs.control else "varied"
        ),
        Fact("another order of the inputs changes the bits", proofs.order is True, _yes(proofs.order)),
        Fact("a planted change of 1 ulp is seen", proofs.planted is True, _yes(proofs.planted)),
    ]


def _count(differing: int, repeats: int) -> str:
    return f"{differing} of {max(0, repeats - 1)} repeats differ from the first"


def _yes(found: bool | None) -> str:
    return "yes" if found else "no"
