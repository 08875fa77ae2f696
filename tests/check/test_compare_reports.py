"""Two reports side by side: what was not compared is never called the same."""

from __future__ import annotations

import msgspec
import pytest
from test_ranks import report

from d9m.check.ranks.compare import compare, exit_code
from d9m.check.report import prober
from d9m.check.result import Report

FILES = ("a.json", "b.json")


def fixed(found: Report) -> Report:
    """Return a report whose results vary without settings, and do not with them."""
    probes = list(found.probes)
    for place, probe in enumerate(probes):
        quiet = probe.arms["default"]
        arms = {"default": msgspec.structs.replace(quiet, digest=None), "advised": quiet}
        probes[place] = msgspec.structs.replace(probe, arms=arms)
    return msgspec.structs.replace(found, probes=probes)


PAIRS = [
    (report("a", "b"), report("a", "b"), 0, "The two machines give the same bits."),
    (report("a", "b"), report("a", "c"), 1, "The two machines give different bits."),
    (
        report("a", "b"),
        report("a"),
        3,
        "The two machines give the same bits. 1 probe could not be compared.",
    ),
    (report("a", "b"), report("b"), 1, "The two machines give different bits."),
    (report("a"), report(), 4, "Nothing in these reports can be compared."),
    (report(), report(), 4, "Nothing in these reports can be compared."),
    (fixed(report("a")), fixed(report("a")), 0, "The two machines give the same bits."),
    (fixed(report("a")), fixed(report("b")), 1, "The two machines give different bits."),
    (report(None), report(None), 4, "Nothing in these reports can be compared."),
]


@pytest.mark.parametrize(("one", "other", "code", "verdict"), PAIRS)
def test_half_a_report_is_not_the_same(one: Report, other: Report, code: int, verdict: str) -> None:
    for first, second in ((one, other), (other, one)):
        found = compare(first, second, FILES)
        assert exit_code(found) == code
        assert prober.comparison(found).plain().startswith(verdict)
