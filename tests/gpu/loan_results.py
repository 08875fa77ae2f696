"""From the reports of all steps to the files that kb/evidence keeps."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence
from pathlib import Path

import msgspec

from d9m.check import result as reports
from d9m.check.against import bits
from d9m.check.evidence import record
from d9m.check.result import ProbeResult, Report
from d9m.model.runs import DigestFile, DigestRecord


def write(file: Path, value: object) -> None:
    """Whole or not at all: a machine may be taken away at any moment."""
    file.parent.mkdir(parents=True, exist_ok=True)
    part = file.with_name(file.name + ".part")
    part.write_bytes(msgspec.json.format(msgspec.json.encode(value), indent=2) + b"\n")
    os.replace(part, file)


def publish(folder: Path, framework: str, found: Sequence[Report]) -> list[Path]:
    """Write the run and the digests of all steps so far; the names of their files."""
    union = united(found)
    name = f"{framework}-{_release(union, framework)}-{_device(union)}.json"
    run, digests = folder / "runs" / name, folder / "digests" / name
    write(run, record(union))
    write(digests, agreed(found))
    return [run, digests]


def resumed(before: Report | None, report: Report) -> Report:
    """What is known of a step that was done again: all of it, where it was cut short again."""
    if before is None or not report.interrupted:
        return report
    return united([before, report])


def united(found: Sequence[Report]) -> Report:
    """One report on every probe: of several results the one with most calls."""
    best: dict[tuple[str, str], ProbeResult] = {}
    for report in found:
        for probe in report.probes:
            key = (probe.id, probe.dtype)
            if key not in best or _weight(probe) > _weight(best[key]):
                best[key] = probe
    probes = list(best.values())
    return msgspec.structs.replace(
        found[-1],
        probes=probes,
        summary=reports.summary(probes),
        interrupted=any(report.interrupted for report in found),
        seconds=sum(report.seconds for report in found),
    )


def _weight(probe: ProbeResult) -> tuple[bool, int, int]:
    """A verdict first; then a probe with many arms, then one with many calls."""
    ran = [arm for arm in probe.arms.values() if arm.repeats]
    return probe.verdict != "inconclusive", len(ran), sum(arm.repeats for arm in ran)


def agreed(found: Sequence[Report]) -> DigestFile:
    """The digests of all steps, without those on which two steps differ."""
    files = [bits(report) for report in found]
    seen: dict[tuple[str, str, str], list[DigestRecord]] = {}
    for file in files:
        for result in file.results:
            key = (result.probe, result.dtype, repr(sorted(result.case.items())))
            seen.setdefault(key, []).append(result)
    kept = [same[-1] for same in seen.values() if len({one.digest for one in same}) == 1]
    return msgspec.structs.replace(files[-1], results=_one_size(kept))


def _one_size(kept: Iterable[DigestRecord]) -> list[DigestRecord]:
    """The first size of each probe: a file has one result for a probe and type."""
    first: dict[tuple[str, str], DigestRecord] = {}
    for result in kept:
        first.setdefault((result.probe, result.dtype), result)
    return list(first.values())


def unstable(found: Sequence[Report]) -> list[str]:
    """Probes whose advised results differ between two steps, each of which repeated itself."""
    digests: dict[tuple[str, str, str], set[str]] = {}
    for report in found:
        for result in bits(report).results:
            key = (result.probe, result.dtype, repr(sorted(result.case.items())))
            digests.setdefault(key, set()).add(result.digest)
    return sorted(f"{key[0]} {key[1]}" for key, several in digests.items() if len(several) > 1)


def _release(report: Report, framework: str) -> str:
    return report.host.packages.get(framework, "unknown").partition("+")[0]


def _device(report: Report) -> str:
    if report.device == "cpu":
        return "cpu"
    names = [gpu.name for gpu in report.host.gpus]
    names += [str(facts["device"]) for facts in report.frameworks.values() if "device" in facts]
    name = (names or [report.device])[0].removeprefix("NVIDIA ")
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")
