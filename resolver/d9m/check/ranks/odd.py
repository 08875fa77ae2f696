"""Results that one rank gets and its twins do not."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from d9m.check.result import OddResult, Report

ARMS = ("default", "advised")


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


def _facts(report: Report) -> dict[str, Any]:
    """Return what the frameworks say of themselves: ``torch cuda`` -> ``12.4``."""
    found: dict[str, Any] = {}
    for name, own in report.frameworks.items():
        for key, value in own.items():
            found[f"{name} {key}"] = value
    return found


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
