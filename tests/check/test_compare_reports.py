"""Two reports side by side: what was not compared is never called the same."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest
from test_ranks import report

from d9m.check.ranks.compare import Alike, compare, exit_code, read
from d9m.check.report import prober
from d9m.check.result import Report
from d9m.errors import DataError
from d9m.model.runs import Gpu

FILES = ("a.json", "b.json")


def fixed(found: Report) -> Report:
    """Return a report whose results vary without settings, and do not with them."""
    probes = list(found.probes)
    for place, probe in enumerate(probes):
        quiet = probe.arms["default"]
        arms = {"default": msgspec.structs.replace(quiet, digest=None), "advised": quiet}
        probes[place] = msgspec.structs.replace(probe, arms=arms)
    return msgspec.structs.replace(found, probes=probes)


SAME = "The two machines give the same results, bit for bit."
PAIRS = [
    (report("a", "b"), report("a", "b"), 0, SAME),
    (report("a", "b"), report("a", "c"), 1, "Results differ between the two machines."),
    (
        report("a", "b"),
        report("a"),
        3,
        "What could be compared is the same, bit for bit. 1 probe could not be compared.",
    ),
    (report("a", "b"), report("b"), 1, "Results differ between the two machines."),
    (report("a"), report(), 4, "Nothing in these reports can be compared."),
    (report(), report(), 4, "Nothing in these reports can be compared."),
    (
        fixed(report("a")),
        fixed(report("a")),
        0,
        SAME,
    ),
    (fixed(report("a")), fixed(report("b")), 1, "Results differ between the two machines."),
    (report(None), report(None), 4, "Nothing in these reports can be compared."),
]


@pytest.mark.parametrize(("one", "other", "code", "verdict"), PAIRS)
def test_half_a_report_is_not_the_same(one: Report, other: Report, code: int, verdict: str) -> None:
    for first, second in ((one, other), (other, one)):
        found = compare(first, second, FILES)
        assert exit_code(found) == code
        assert prober.comparison(found).plain().startswith(verdict)


replace = msgspec.structs.replace


def changed(found: Report, *, arm: dict[str, Any] | None = None, **fields: Any) -> Report:
    """Return the report with another first probe."""
    probe = found.probes[0]
    if arm is not None:
        fields["arms"] = {"default": replace(probe.arms["default"], **arm)}
    return replace(found, probes=[replace(probe, **fields), *found.probes[1:]])


def assert_result(one: Report, other: Report, result: Alike, code: int, says: str) -> None:
    """The result, the exit code and the headline agree, whichever report is the first."""
    for first, second in ((one, other), (other, one)):
        found = compare(first, second, FILES)
        text = " ".join(prober.comparison(found).plain().split())
        assert (found.result, exit_code(found)) == (result, code)
        assert says in text
        assert (SAME in text) == (result == "same")


TWO = report("a", "b")


@pytest.mark.parametrize(
    ("cut", "says"),
    [
        (replace(TWO, interrupted=True), "was interrupted"),
        (replace(TWO, summary=replace(TWO.summary, could_not_run=2)), "Could not run in"),
    ],
)
def test_an_incomplete_report_is_never_the_same(cut: Report, says: str) -> None:
    assert_result(cut, TWO, "not comparable", 3, says)
    assert_result(cut, cut, "not comparable", 3, says)
    assert_result(cut, report("a", "c"), "differs", 1, says)


@pytest.mark.parametrize(
    "lost",
    [
        changed(TWO, arms={}),
        changed(TWO, arms={"as-is": TWO.probes[0].arms["default"]}),
        changed(TWO, verdict="inconclusive"),
        changed(TWO, arm={"differing": 1}),
        changed(TWO, arm={"distinct": 2}),
        changed(TWO, arm={"distinct": 2, "digest": None}),
        changed(
            TWO,
            arms={
                "default": TWO.probes[0].arms["default"],
                "advised": replace(TWO.probes[0].arms["default"], distinct=2, digest=None),
            },
        ),
    ],
)
def test_a_probe_without_one_result_is_not_comparable(lost: Report) -> None:
    assert_result(lost, lost, "not comparable", 3, "1 probe could not be compared.")
    assert_result(lost, TWO, "not comparable", 3, "1 probe could not be compared.")


def raising(found: Report) -> Report:
    """Return the report with settings that the first op answers with an error."""
    default = found.probes[0].arms["default"]
    advised = replace(default, repeats=0, processes=0, distinct=0, digest=None, raised="Error: no")
    return changed(found, verdict="raises", arms={"default": default, "advised": advised})


def test_an_op_that_raises_on_both_machines_is_compared_without_settings() -> None:
    assert_result(raising(TWO), raising(TWO), "same", 0, SAME)
    arms = raising(TWO).probes[0].arms
    quiet = changed(TWO, arms={"default": arms["default"], "advised": arms["default"]})
    assert_result(raising(TWO), quiet, "not comparable", 3, "1 probe could not be compared.")
    neither = changed(TWO, arms={**arms, "default": replace(arms["default"], digest=None)})
    assert_result(neither, neither, "not comparable", 3, "1 probe could not be compared.")


@pytest.mark.parametrize("fields", [{"verdict": "inconclusive"}, {"arm": {"differing": 1}}])
def test_a_difference_of_a_doubtful_probe_is_a_finding(fields: dict[str, Any]) -> None:
    assert_result(changed(TWO, **fields), report("c", "b"), "differs", 1, "Results differ")


def with_gpu(name: str, driver: str = "1") -> Report:
    gpu = Gpu(name=name, driver=driver, compute_capability="9.0", sm_count=1, memory=1, mig=False)
    return replace(TWO, host=replace(TWO.host, gpus=[gpu]))


def with_torch(version: str) -> Report:
    return replace(TWO, host=replace(TWO.host, packages={"torch": version}))


def on_cpu(cpu: str) -> Report:
    return replace(TWO, device="cpu", host=replace(TWO.host, cpu=cpu))


@pytest.mark.parametrize(
    ("one", "other", "name"),
    [
        (TWO, replace(TWO, device="cpu"), "device"),
        (on_cpu("a"), on_cpu("b"), "cpu"),
        (with_gpu("H100"), with_gpu("A100"), "gpus"),
        (with_torch("2.3"), with_torch("2.4"), "torch"),
        (with_torch("2.3"), TWO, "torch"),
        (TWO, report("a", "c", device="another GPU"), "torch device"),
        (TWO, replace(TWO, frameworks={}), "torch device"),
    ],
)
def test_machines_that_are_not_alike_are_not_comparable(
    one: Report, other: Report, name: str
) -> None:
    assert_result(one, other, "not comparable", 3, f"The two machines are not alike ({name}")
    assert not compare(one, other, FILES).count("same")


def test_machines_with_another_driver_or_package_are_alike() -> None:
    assert_result(with_gpu("H100"), with_gpu("H100", driver="2"), "same", 0, SAME)
    other = replace(TWO, host=replace(TWO.host, packages={"numpy": "2.0"}))
    assert_result(TWO, other, "same", 0, SAME)


@pytest.mark.parametrize(
    ("arm", "says"),
    [
        ({"repeats": 0}, "repeats is 0"),
        ({"repeats": -3}, "repeats is -3"),
        ({"processes": 0}, "processes is 0"),
        ({"processes": -1, "failed": "killed"}, "processes is -1"),
        ({"distinct": 0}, "distinct is 0"),
        ({"distinct": 10}, "10 distinct results in 9 repeats"),
        ({"differing": 9}, "9 of 9 repeats differ"),
        ({"differing": -1}, "-1 of 9 repeats differ"),
        ({"digest": ""}, "the digest is empty"),
    ],
)
def test_a_report_with_impossible_values_is_refused(
    arm: dict[str, Any], says: str, tmp_path: Path
) -> None:
    file = tmp_path / "report.json"
    file.write_bytes(msgspec.json.encode(changed(TWO, arm=arm)))
    with pytest.raises(DataError, match=says) as said:
        read(str(file))
    assert "\n" not in said.value.text()


def test_a_report_with_a_probe_twice_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "report.json"
    file.write_bytes(msgspec.json.encode(replace(TWO, probes=[*TWO.probes, TWO.probes[0]])))
    with pytest.raises(DataError, match="occurs twice"):
        read(str(file))


def test_an_arm_that_did_not_run_can_be_read(tmp_path: Path) -> None:
    arm = {"repeats": 0, "processes": 0, "distinct": 0, "digest": None, "failed": "not run"}
    file = tmp_path / "report.json"
    file.write_bytes(msgspec.json.encode(changed(TWO, arm=arm)))
    assert read(str(file)).probes[0].arms["default"].failed == "not run"
