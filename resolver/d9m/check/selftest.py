"""The self-test: on every CPU, one op is nondeterministic, one setting fixes it, and one op is
deterministic.
"""

from __future__ import annotations

import msgspec

from d9m.about import SCHEMA_VERSION
from d9m.check.examine import CheckRequest, examine
from d9m.check.plan.effort import Effort
from d9m.check.plan.selection import ProbeRequest
from d9m.check.trust import VARIES, SelftestFact, facts
from d9m.check.workers.launch import Launcher
from d9m.check.workers.look import look
from d9m.check.workers.run import Watch
from d9m.kb.store import KnowledgeBase
from d9m.model.advice import Tool


class Selftest(msgspec.Struct, frozen=True):
    """The answer of `d9m check --selftest`."""

    schema_version: int
    d9m: Tool
    facts: list[SelftestFact]


EFFORT = Effort(repeats=32, processes=1, again=1, budget=5.0, climb=False)


def selftest(kb: KnowledgeBase, launcher: Launcher, watch: Watch) -> Selftest:
    """Raises AbsentError where PyTorch is not there to run it with."""
    question = CheckRequest(launcher, "cpu", ["torch"], ProbeRequest([VARIES]), EFFORT)
    found = examine(kb, question, look(kb, launcher), watch)
    return Selftest(SCHEMA_VERSION, found.d9m, facts(next(iter(found.probes), None)))
