"""The check from Python: what ``d9m.check(...)`` does."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from d9m.check.examine import CheckRequest, examine
from d9m.check.plan.effort import FULL, NORMAL, QUICK
from d9m.check.plan.selection import ProbeRequest
from d9m.check.result import Report
from d9m.check.workers import launch
from d9m.check.workers.look import look
from d9m.check.workers.run import Watch
from d9m.errors import UsageError
from d9m.kb.locate import open_knowledge_base
from d9m.kb.store import KnowledgeBase


def check(
    *,
    ops: Sequence[str] | None = None,
    frameworks: Sequence[str] = (),
    device: str | None = None,
    quick: bool = False,
    full: bool = False,
    python: str = sys.executable,
    watch: Watch = lambda text: None,
    kb: KnowledgeBase | None = None,
) -> Report:
    """Probe the frameworks that `python` has, in separate processes; the fields are those of
    the JSON.

    `ops` and `frameworks` narrow it, `quick` and `full` say how long it may take, and `watch`
    is called with a line for each thing that happens. Raises `d9m.AbsentError` where
    nothing can be probed::

        report = d9m.check(ops=["index_add"], quick=True, device="cpu")
        assert report.summary.nondeterministic == 0
    """
    if quick and full:
        raise UsageError("quick and full exclude each other")
    kb = kb or open_knowledge_base()
    launcher = launch.interpreter(python)
    effort = QUICK if quick else FULL if full else NORMAL
    request = ProbeRequest(None if ops is None else list(ops), quick, full)
    return examine(
        kb, CheckRequest(launcher, device, frameworks, request, effort), look(kb, launcher), watch
    )
