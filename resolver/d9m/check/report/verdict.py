"""The verdict of a check, as sentences."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from d9m.check.result import ProbeResult, Report, exit_code, finding, varies_in
from d9m.check.settings import Status
from d9m.errors import ExitCode
from d9m.render.page import Style

_SETTINGS: dict[Status, tuple[str, str]] = {
    "missing": ("{} setting is missing.", "{} settings are missing."),
    "wrong": ("{} setting has a wrong value.", "{} settings have wrong values."),
    "forbidden": ("{} variable must not be set.", "{} variables must not be set."),
    "too-late": ("{} setting came too late.", "{} settings came too late."),
}


def sentences(report: Report) -> str:
    """The answer, the worst first; it never contradicts the exit code."""
    found = [*_broken(report), *_settings(report), *_ops(report)]
    if not found:
        found = [_good(report)]
    elif not _ran_well(report):
        found.append(_none_ran(report))
    return " ".join(found)


def style(report: Report) -> Style:
    code = exit_code(report)
    if code == ExitCode.ANSWERED:
        return "good"
    return "doubt" if code == ExitCode.UNKNOWN else "bad"


def _broken(report: Report) -> Iterator[str]:
    if report.interrupted:
        yield "The check was interrupted; this is what it found until then."


def _settings(report: Report) -> Iterator[str]:
    for status, (one, many) in _SETTINGS.items():
        yield from _counted(sum(check.status == status for check in report.settings), one, many)


def _ops(report: Report) -> Iterator[str]:
    def ops(kind: Callable[[ProbeResult], bool]) -> int:
        return len({probe.id for probe in report.probes if kind(probe)})

    def verdict(name: str) -> int:
        return ops(lambda probe: probe.verdict == name)

    alone = ops(
        lambda probe: finding(probe) and not varies_in(probe, "default", "default-again", "advised")
    )
    counts = (
        (verdict("value-mismatch"), "{} op gives wrong values.", "{} ops give wrong values."),
        (
            verdict("not-fixed"),
            "{} op is nondeterministic with the advised settings.",
            "{} ops are nondeterministic with the advised settings.",
        ),
        (
            alone if verdict("nondeterministic") else 0,
            "{} op is nondeterministic only in your environment.",
            "{} ops are nondeterministic only in your environment.",
        ),
        (
            verdict("raises"),
            "{} op raises an error with the advised settings.",
            "{} ops raise an error with the advised settings.",
        ),
        (
            verdict("uninitialised-read"),
            "{} op reads uninitialised memory.",
            "{} ops read uninitialised memory.",
        ),
        (
            verdict("config-dependent"),
            "{} op depends on the number of threads.",
            "{} ops depend on the number of threads.",
        ),
        (
            len({tuple(odd.ranks) for odd in report.odd}),
            "{} device differs from devices of its kind.",
            "{} groups of devices differ from devices of their kind.",
        ),
        (
            ops(lambda probe: probe.kb == "contradicts"),
            "{} result contradicts our records.",
            "{} results contradict our records.",
        ),
    )
    for count, one, many in counts:
        yield from _counted(count, one, many)
    if report.against is not None:
        yield from _counted(
            len(report.against.differing),
            "{} result differs from the reference.",
            "{} results differ from the reference.",
        )
        if not report.against.same and not report.against.differing:
            yield "No result could be compared with the reference."
        elif report.against.missing:
            yield from _counted(
                len(report.against.missing),
                "{} result of the reference was not compared.",
                "{} results of the reference were not compared.",
            )
    if _ran_well(report):
        yield from _counted(
            report.summary.could_not_run,
            "{} probe could not decide.",
            "{} probes could not decide.",
        )


def _counted(count: int, one: str, many: str) -> Iterator[str]:
    if count:
        yield (one if count == 1 else many).format(count)


def _ran_well(report: Report) -> bool:
    """Whether any probe says anything."""
    return report.settings_only or report.summary.probed > 0


def _good(report: Report) -> str:
    if report.settings_only and not report.settings:
        return "No setting is advised here; nothing was run."
    if report.settings_only:
        return "Every setting that is visible from outside is set; nothing was run."
    if not _ran_well(report):
        return _none_ran(report)
    varied = len({probe.id for probe in report.probes if probe.verdict == "fixed-by-advice"})
    if not varied:
        return "No nondeterminism seen: no result differed between runs."
    if varied == 1:
        return "The one nondeterministic op is deterministic with the advised settings."
    return f"All {varied} nondeterministic ops are deterministic with the advised settings."


def _none_ran(report: Report) -> str:
    for probe in report.probes:
        if any(arm.repeats for arm in probe.arms.values()):
            return "The probes that ran are not enough for a verdict."
    return "No probe could run here."
