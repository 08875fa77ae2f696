"""Two reports of machines that should be alike: which results differ between them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Literal

import msgspec

from d9m import exit_codes, files
from d9m.about import SCHEMA_VERSION
from d9m.check.against import OWN
from d9m.check.judge.observe import ArmResult
from d9m.check.result import OddResult, ProbeResult, Report
from d9m.errors import DataError, ExitCode, quote
from d9m.exit_codes import CommandResult

ARMS = ("default", "advised")

Alike = Literal["same", "differs", "not comparable"]

_VARIES = "nondeterministic"
_RAISED = "raised"


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
    unlike: list[str]
    """Those of them that bits depend on: where there is one, nothing can be compared."""
    incomplete: list[str]
    """Why a report does not hold all that was asked for."""
    pairs: list[Pair]
    result: Alike
    """Of both reports as a whole; same: every probe was compared, and none differs."""

    def count(self, result: Alike) -> int:
        return sum(pair.result == result for pair in self.pairs)

    def uncompared(self) -> set[tuple[str, str]]:
        """Return id and type of the probes that were not compared, or not with all settings."""
        return _uncompared(self.pairs)


def _uncompared(pairs: Sequence[Pair]) -> set[tuple[str, str]]:
    """One arm is enough where the other raised in both reports, or varies without settings."""
    compared = {(pair.id, pair.dtype) for pair in pairs if pair.result != "not comparable"}
    found: set[tuple[str, str]] = set()
    for pair in pairs:
        key = (pair.id, pair.dtype)
        is_expected = pair.why == _RAISED or (pair.arm == "default" and pair.why == _VARIES)
        if pair.result == "not comparable" and not (is_expected and key in compared):
            found.add(key)
    return found


def read(file: str) -> Report:
    """Raises DataError for a file that is not a report of `d9m check --format json`."""
    try:
        content = files.content(file)
        tip = "write it again: d9m check --format json -o FILE"
        files.require_version(file, content, "schema_version", SCHEMA_VERSION, tip)
        report = msgspec.json.decode(content, type=Report)
    except OSError as error:
        raise DataError(f"{quote(file)} cannot be read: {error.strerror or error}") from None
    except files.UNREADABLE as error:
        raise DataError(f"{quote(file)} is not a report of d9m check: {error}") from None
    for why in _impossible(report):
        raise DataError(f"{quote(file)} holds what no check can measure: {why}")
    return report


def _impossible(report: Report) -> Iterator[str]:
    if report.summary.could_not_run < 0:
        yield f"could_not_run is {report.summary.could_not_run}"
    seen: set[tuple[str, str]] = set()
    for probe in report.probes:
        if (probe.id, probe.dtype) in seen:
            yield f"{quote(probe.id)} {quote(probe.dtype)} occurs twice"
        seen.add((probe.id, probe.dtype))
        for name, arm in probe.arms.items():
            for why in _impossible_arm(arm):
                yield f"{quote(probe.id)}, arm {quote(name)}: {why}"


def _impossible_arm(arm: ArmResult) -> Iterator[str]:
    least = 0 if arm.raised or arm.failed else 1
    for name in ("repeats", "processes", "distinct"):
        if getattr(arm, name) < least:
            yield f"{name} is {getattr(arm, name)}"
    if arm.distinct > arm.repeats:
        yield f"{arm.distinct} distinct results in {arm.repeats} repeats"
    if not 0 <= arm.differing <= max(arm.repeats - 1, 0):
        yield f"{arm.differing} of {arm.repeats} repeats differ from the most common result"
    if arm.digest is not None and not arm.digest.strip():
        yield "the digest is empty"


def compare(first: Report, second: Report, files: tuple[str, str]) -> ReportComparison:
    left, right = _machine(first), _machine(second)
    names = [name for name in {**left, **right} if left.get(name) != right.get(name)]
    differences = {name: (str(left.get(name, "-")), str(right.get(name, "-"))) for name in names}
    unlike = _unlike(first, second)
    pairs = list(_pairs(first, second))
    if unlike:
        why = "the machines are not alike"
        pairs = [
            msgspec.structs.replace(pair, result="not comparable", why=pair.why or why)
            for pair in pairs
        ]
    incomplete = [why for each in zip(files, (first, second)) for why in _incomplete(*each)]
    is_incomplete = bool(incomplete or _uncompared(pairs))
    result = _result({pair.result for pair in pairs}, is_incomplete)
    return ReportComparison(SCHEMA_VERSION, files, differences, unlike, incomplete, pairs, result)


def _result(found: set[Alike], is_incomplete: bool) -> Alike:
    if "differs" in found:
        return "differs"
    return "same" if "same" in found and not is_incomplete else "not comparable"


def _incomplete(file: str, report: Report) -> Iterator[str]:
    if report.interrupted:
        yield f"The check of {quote(file)} was interrupted"
    if report.summary.could_not_run:
        yield f"Could not run in {quote(file)}: {report.summary.could_not_run}"


def _pairs(first: Report, second: Report) -> Iterator[Pair]:
    ones = {(probe.id, probe.dtype): probe for probe in first.probes}
    others = {(probe.id, probe.dtype): probe for probe in second.probes}
    for key in {**ones, **others}:
        one, other = ones.get(key), others.get(key)
        arms = [each.arms for each in (one, other) if each]
        names = [name for name in ARMS if any(name in each for each in arms)]
        for name in names:
            if one and other and name in one.arms and name in other.arms:
                yield _pair(one, other, name)
            else:
                yield Pair(*key, name, "not comparable", "in one report only")
        if not names:
            yield Pair(*key, ARMS[0], "not comparable", "no result in either report")


def _unlike(first: Report, second: Report) -> list[str]:
    """Return what differs of all that bits depend on."""
    shared = _frameworks(first) & _frameworks(second)
    left, right = _model(first, shared), _model(second, shared)
    return [name for name in {**left, **right} if left.get(name) != right.get(name)]


def _frameworks(report: Report) -> set[str]:
    return {probe.id.partition("/")[0] for probe in report.probes}


def _model(report: Report, frameworks: Iterable[str]) -> dict[str, Any]:
    found: dict[str, Any] = {"device": report.device}
    if report.device == "cpu":
        found["cpu"] = report.host.cpu
    else:
        found["gpus"] = {gpu.name for gpu in report.host.gpus}
    for name in sorted(frameworks):
        found[name] = report.host.packages.get(name)
        for key, value in report.frameworks.get(name, {}).items():
            if key not in OWN:
                found[f"{name} {key}"] = value
    return found


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
    """Return what the frameworks say of themselves: ``torch cuda`` -> ``12.4``."""
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
    if left != right:
        return Pair(one.id, one.dtype, arm, "differs")
    if any(found.varies or found.differing for found in both):
        return Pair(one.id, one.dtype, arm, "not comparable", _VARIES)
    if "inconclusive" in (one.verdict, other.verdict):
        return Pair(one.id, one.dtype, arm, "not comparable", "inconclusive")
    return Pair(one.id, one.dtype, arm, "same")


def _why_not(both: Sequence[ArmResult]) -> str:
    if all(arm.raised for arm in both):
        return _RAISED
    if any(arm.raised for arm in both):
        return "raised in one report only"
    return "not run to its end" if any(arm.failed for arm in both) else _VARIES


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
    """Return what has to be the same for two devices to be twins; GPUs may sit in different
    machines.
    """
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
    did_compare = comparison.count("differs") or comparison.count("same") or comparison.unlike
    return exit_codes.exit_code(
        CommandResult(
            did_nothing=not did_compare,
            has_findings=comparison.result == "differs",
            is_incomplete=comparison.result == "not comparable",
        )
    )
