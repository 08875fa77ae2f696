"""This machine's advised results against the bits that a machine like it gave before."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timezone
from typing import Any

import msgspec

from d9m import files
from d9m.about import SCHEMA_VERSION
from d9m.check.plan.catalogue import Selected
from d9m.check.result import AgainstResult, ProbeResult, Report
from d9m.environment.environment import Environment
from d9m.errors import AbsentError, DataError, quote
from d9m.model.runs import DigestFile, DigestRecord

OWN = ("memory",)
"""Facts of a device that may differ between two of one model."""


class DigestReference(msgspec.Struct, frozen=True):
    """The digests to compare with, and their file."""

    file: str
    digests: DigestFile


def bits(report: Report, today: datetime | None = None) -> DigestFile:
    """The advised results of a run that were the same bits in every repeat."""
    when = today or datetime.now(timezone.utc)
    return DigestFile(
        schema_version=SCHEMA_VERSION,
        tool=f"d9m {report.d9m.version}",
        date=when.date().isoformat(),
        device=report.device,
        cpu=report.host.cpu,
        packages=report.host.packages,
        frameworks=report.frameworks,
        results=[found for probe in report.probes if (found := _digest(probe)) is not None],
    )


def _digest(probe: ProbeResult) -> DigestRecord | None:
    arm = probe.arms.get("advised")
    if arm is None or arm.digest is None or not arm.quiet or arm.failed:
        return None
    return DigestRecord(
        probe=probe.id, dtype=probe.dtype, case=probe.case, digest=arm.digest, repeats=arm.repeats
    )


_TIP = "write them: d9m check --digests FILE"


def read(file: str) -> DigestReference:
    """Return what `d9m check --digests` wrote, or a whole report of `--format json`. Raises
    DataError.
    """
    try:
        content = files.content(file)
        files.require_version(file, content, "schema_version", SCHEMA_VERSION, _TIP)
        keys = msgspec.json.decode(content)
        if isinstance(keys, dict) and "probes" in keys:
            found = bits(msgspec.json.decode(content, type=Report))
        else:
            found = msgspec.json.decode(content, type=DigestFile)
    except OSError as error:
        raise DataError(f"{quote(file)} cannot be read: {error.strerror or error}") from None
    except files.UNREADABLE as error:
        raise DataError(
            f"{quote(file)} holds no digests of d9m check: {error}",
            tip=_TIP,
        ) from None
    if not found.results:
        raise DataError(f"{quote(file)} holds no digest")
    for result in found.results:
        if _framework(result) not in found.frameworks:
            raise DataError(
                f"{quote(file)} holds a digest of {quote(result.probe)}, but does not say on which "
                "release and device it was made"
            )
    return DigestReference(file, found)


def require_releases(reference: DigestReference, environment: Environment) -> None:
    """Raises AbsentError, before anything is run, where another release is installed."""
    for name in reference.digests.frameworks:
        there = reference.digests.packages.get(name)
        package = environment.packages.get(name)
        own = package.version if package is not None else None
        if there != own:
            raise AbsentError(
                f"{quote(reference.file)} is about {name} {there}; here is {own or 'none'}",
                tip="digests are compared only between equal releases on equal devices",
            )


def narrowed(selected: Sequence[Selected], reference: DigestReference) -> list[Selected]:
    """Return those with a digest, at the size that it belongs to."""
    cases = {(result.probe, result.dtype): result.case for result in reference.digests.results}
    kept: list[Selected] = []
    for one in selected:
        case = cases.get((one.probe.id, one.dtype))
        if case in one.probe.ladder:
            probe = msgspec.structs.replace(one.probe, ladder=[case])
            kept.append(Selected(probe, one.dtype))
    return kept


def asked(
    reference: DigestReference, frameworks: Sequence[str], named: Sequence[Selected] | None
) -> DigestReference:
    """Return the reference without the results that the question leaves out; `named`: the probes
    that it names.
    """
    keys = None if named is None else {(one.probe.id, one.dtype) for one in named}
    kept: list[DigestRecord] = []
    for result in reference.digests.results:
        if _framework(result) in frameworks and (
            keys is None or (result.probe, result.dtype) in keys
        ):
            kept.append(result)
    digests = msgspec.structs.replace(reference.digests, results=kept)
    return msgspec.structs.replace(reference, digests=digests)


def hold(report: Report, reference: DigestReference) -> AgainstResult:
    """Return which results have the bits of the reference; none is compared on another device."""
    there = reference.digests
    other = dict(_other_machine(report, there))
    own = {(probe.id, probe.dtype): _digest(probe) for probe in report.probes} if not other else {}
    same: list[str] = []
    differing: list[str] = []
    missing: list[str] = []
    for result in there.results:
        found = own.get((result.probe, result.dtype))
        if found is None or found.case != result.case:
            missing.append(_key(result))
        else:
            (same if found.digest == result.digest else differing).append(_key(result))
    return AgainstResult(reference.file, _device(there), other, same, differing, missing)


def _key(result: DigestRecord) -> str:
    return f"{result.probe} {result.dtype}"


def _framework(result: DigestRecord) -> str:
    return result.probe.partition("/")[0]


def _device(reference: DigestFile) -> str:
    names = [str(facts["device"]) for facts in reference.frameworks.values() if "device" in facts]
    return names[0] if names else reference.cpu


def _other_machine(report: Report, reference: DigestFile) -> Iterator[tuple[str, tuple[str, str]]]:
    """Yield what differs of all that bits depend on: here, and in the reference."""
    yield from _unequal("device", report.device, reference.device)
    if reference.device == "cpu":
        yield from _unequal("cpu", report.host.cpu, reference.cpu)
    for name, facts in reference.frameworks.items():
        own: Mapping[str, Any] = report.frameworks.get(name, {})
        for key in dict.fromkeys((*facts, *own)):
            if key not in OWN:
                yield from _unequal(f"{name} {key}", own.get(key), facts.get(key))


def _unequal(name: str, own: Any, there: Any) -> Iterator[tuple[str, tuple[str, str]]]:
    if own != there:
        yield name, (str(own), str(there))
