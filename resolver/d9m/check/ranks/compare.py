"""Two reports of machines that should be alike: which results differ between them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Literal

import msgspec

from d9m import exit_codes, files
from d9m.about import SCHEMA_VERSION
from d9m.check.judge.observe import ArmResult
from d9m.check.result import OddResult, ProbeResult, Report
from d9m.errors import DataError, ExitCode, quote
from d9m.exit_codes import CommandResult

ARMS = ("default", "advised")

Alike = Literal["same", "differs", "not comparable"]


class Pair(msgspec.Struct, frozen=True):
    """One probe on both machines."""

    id: str
    dtype: str
    arm: str
    result: Alike
    why: str = ""


class ReportComparison(msgspec.Struct, frozen=True):
    schema_version: int
    files: tuple[str, str]
    differences: dict[str, tuple[str, str]]
    """What is not the same about the machines themselves."""
    pairs: list[Pair]

    def count(self, result: Alike) -> int:
        return sum(pair.result == result for pair in self.pairs)

    def uncompared(self) -> set[tuple[str, str]]:
        """Return id and type of the probes of which no arm could be compared."""
        probes = {(pair.id, pair.dtype) for pair in self.pairs}
        compared = [pair for pair in self.pairs if pair.result != "not comparable"]
        return probes - {(pair.id, pair.dtype) for pair in compared}


def read(file: str) -> Report:
    """Raises DataError for a file that is not a report of `d9m check --format json`."""
    try:
        content = files.content(file)
        tip = "write it again: d9m check --format json -o FILE"
        files.require_version(file, content, "schema_version", SCHEMA_VERSION, tip)
        return msgspec.json.decode(content, type=Report)
    except OSError as error:
        raise DataError(f"{quote(file)} cannot be read: {error.strerror or error}") from None
    except files.UNREADABLE as error:
        raise DataError(f"{quote(file)} is not a report of d9m check: {error}") from None


def compare(first: Report, second: Report, files: tuple[str, str]) -> ReportComparison:
    ones = {(probe.id, probe.dtype): probe for probe in first.probes}
    others = {(probe.id, probe.dtype): probe for probe in second.probes}
    pairs: list[Pair] = []
    for key in {**ones, **others}:
        one, other = ones.get(key), others.get(key)
        for arm in ARMS:
            if one and other and arm in one.arms and arm in other.arms:
                pairs.append(_pair(one, other, arm))
            elif (one and arm in one.arms) or (other and arm in other.arms):
                pairs.append(Pair(*key, arm, "not comparable", "in one report only"))
    left, right = _machine(first), _machine(second)
    names = [name for name in {**left, **right} if left.get(name) != right.get(name)]
    differences = {name: (str(left.get(name, "-")), str(right.get(name, "-"))) for name in names}
    return ReportComparison(SCHEMA_VERSION, files, differences, pairs)


def _machine(report: Report) -> dict[str, Any]:
    gpus = ", ".join(f"{gpu.name} driver {gpu.driver}" for gpu in report.host.gpus)
    return {
        "cpu": report.host.cpu,
        "gpus": gpus,
        "device": report.device,
        **report.host.packages,
        **_facts(report),
    }


def _facts(report: Report) -> dict[str, Any]:
    """What the frameworks say of themselves: ``torch cuda`` -> ``12.4``."""
    found: dict[str, Any] = {}
    for name, own in report.frameworks.items():
        for key, value in own.items():
            found[f"{name} {key}"] = value
    return found


def _pair(one: ProbeResult, other: ProbeResult, arm: str) -> Pair:
    if one.case != other.case or one.device != other.device:
        return Pair(one.id, one.dtype, arm, "not comparable", "other sizes or another device")
    both = one.arms[arm], other.arms[arm]
    left, right = (found.digest for found in both)
    if any(found.failed or found.raised for found in both) or left is None or right is None:
        return Pair(one.id, one.dtype, arm, "not comparable", _why_not(both))
    return Pair(one.id, one.dtype, arm, "same" if left == right else "differs")


def _why_not(both: Sequence[ArmResult]) -> str:
    if any(arm.raised for arm in both):
        return "raised"
    return "not run to its end" if any(arm.failed for arm in both) else "varies by itself"


def odd(reports: Sequence[Report]) -> list[OddResult]:
    """Results that a rank does not share with ranks on like devices. The reports are those of ranks
    0, 1, ...
    """
    groups: dict[str, list[int]] = {}
    for number, report in enumerate(reports):
        groups.setdefault(repr(sorted(_device(report).items())), []).append(number)
    found: list[OddResult] = []
    for twins in groups.values():
        if len(twins) > 1:
            found += _odd(reports, twins)
    return found


def _device(report: Report) -> dict[str, Any]:
    """What has to be the same for two devices to be twins; GPUs may sit in different machines."""
    facts = {name: repr(value) for name, value in _facts(report).items()}
    return {
        "device": report.device,
        **facts,
        **({"cpu": report.host.cpu} if report.device == "cpu" else {}),
    }


def _odd(reports: Sequence[Report], ranks: Sequence[int]) -> Iterator[OddResult]:
    results: dict[tuple[str, str, str], dict[int, str | None]] = {}
    for rank in ranks:
        for probe in reports[rank].probes:
            for name in ARMS:
                arm = probe.arms.get(name)
                if arm is not None and not arm.raised and not arm.failed:
                    results.setdefault((probe.id, probe.dtype, name), {})[rank] = arm.digest
    for place, digests in results.items():
        groups: dict[str | None, list[int]] = {}
        for rank, digest in digests.items():
            groups.setdefault(digest, []).append(rank)
        if len(groups) > 1:
            usual = max(groups.values(), key=len)
            is_majority = 2 * len(usual) > len(digests)
            alone = [rank for rank in digests if not is_majority or rank not in usual]
            yield OddResult(*place, alone, len(digests))


def exit_code(comparison: ReportComparison) -> ExitCode:
    """Return how a comparison ends: a machine that differs from its twin is a finding."""
    differs = comparison.count("differs")
    return exit_codes.exit_code(
        CommandResult(
            did_nothing=not differs and not comparison.count("same"),
            has_findings=differs > 0,
            is_incomplete=bool(comparison.uncompared()),
        )
    )
