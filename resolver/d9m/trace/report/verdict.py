"""The verdict of a comparison, and the reasons why it is not complete, as sentences."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from d9m.errors import ExitCode
from d9m.render.page import Style
from d9m.render.phrases import join
from d9m.trace.findings import Findings, Gap, exit_code
from d9m.trace.report import fixes
from d9m.trace.report.sentences import REACHED, between, count, ending_run, failure, sentence


def sentences(found: Findings) -> str:
    """Return the answer in a few lines; it never contradicts the exit code."""
    reasons = " ".join(gaps_in_verdict(found))
    if found.causes:
        first = found.first.step if found.first is not None else 0
        steps_between = (between(found, first) or "").replace(":", " and ")
        since = f"a step between {steps_between}" if steps_between else f"step {first}"
        said = f"The runs differ from {since} on, for {len(found.causes)} reasons."
        if all(cause.kind == "error" for cause in found.causes) and all(
            run.failed for run in found.runs
        ):
            said = " ".join(sentence(found, cause) for cause in found.causes)
        elif len(found.causes) == 1:
            said = f"The runs differ from {since} on. {sentence(found, found.causes[0])}"
        return " ".join(filter(None, [said, ranks(found), reasons]))
    extent = f"{steps(found)} of {processes(found)}"
    if found.fixes:
        reasons = f"{fixes.summary(found)} {reasons}".rstrip()
        if found.complete:
            return f"{reasons} Nothing that is learned differs: {extent}."
    if not found.complete:
        return f"{reasons} What was compared is bitwise identical: {extent}."
    if optimizer_seen(found):
        return f"Nothing that is learned differs: {extent} are bitwise identical."
    if not found.learned:
        return f"All that was recorded is bitwise identical: {extent}."
    seen = join([REACHED[what] for what in found.learned])
    verb = "is" if len(found.learned) == 1 and found.learned != ["outputs"] else "are"
    return f"{seen[0].upper()}{seen[1:]} {verb} bitwise identical in {extent}."


def ranks(found: Findings) -> str:
    """Return how many of several processes differ, and which began."""
    total = max(len(run.processes) for run in found.runs)
    if total == 1 or not found.differs or found.first is None:
        return ""
    cause = found.causes[found.first.cause]
    alike = 1 + len(cause.also)
    began = f"{cause.process} first" if alike == 1 else f"{alike} of them first"
    began = "alike" if alike == len(found.differs) > 1 else began
    return f"{len(found.differs)} of {total} processes differ, {began}."


_ALWAYS_NAMED = ("error", "recorder", "unseen", "unrecorded", "interrupted")
"""Gaps that the verdict names whatever else was found."""


def gaps_in_verdict(found: Findings) -> list[str]:
    """Return why not all was compared; beside a difference, only what is as bad."""
    return gaps(found, lambda gap: not found.causes or gap.why in _ALWAYS_NAMED)


def gaps_in_notes(found: Findings) -> list[str]:
    """Return why not all was compared, where the verdict leaves it out."""
    return gaps(found, lambda gap: bool(found.causes) and gap.why not in _ALWAYS_NAMED)


def gaps(found: Findings, is_wanted: Callable[[Gap], bool]) -> list[str]:
    """Return a sentence for each reason why not all was compared, one for both runs."""
    is_named = any(cause.kind == "error" or ending_run(found, cause) for cause in found.causes)
    wanted = [gap for gap in found.incomplete if is_wanted(gap)]
    errors = [gap for gap in wanted if gap.why == "error" and not is_named]
    said = _errors(found, errors)
    by_reason: dict[tuple[str, str], list[str]] = {}
    for gap in wanted:
        if gap.why != "error":
            by_reason.setdefault(_reason(found, gap), []).append(gap.run or "")
    for (before, after), runs in by_reason.items():
        said.append(f"{before}{join(sorted(f'run {run}' for run in runs if run))}{after}")
    return [f"{text[0].upper()}{text[1:]}" for text in said]


def _errors(found: Findings, errors: Sequence[Gap]) -> list[str]:
    labels = {gap.run for gap in errors}
    a, b = found.runs
    if {"A", "B"} <= labels and (failure(a), a.steps) == (failure(b), b.steps):
        said = [f"Both runs ended with an error after {count(a.steps)}: {failure(a)}."]
        return [*said, *_errors(found, [gap for gap in errors if gap.run not in ("A", "B")])]
    said: list[str] = []
    for gap in errors:
        run = {"A": a, "B": b}.get(gap.run or "")
        after = f" after {count(run.steps)}: {failure(run)}" if run else f": {gap.what}"
        said.append(f"Run {gap.run} ended with an error{after}.")
    return said


def _reason(found: Findings, gap: Gap) -> tuple[str, str]:
    """Return what comes before the names of the runs, and what comes after them."""
    match gap.why:
        case "killed":
            return "", f" {_cut_off(found, gap)}: it was compared up to there."
        case "stopped":
            return "", " was ended by d9m: it was compared up to there."
        case "size":
            return "", " stopped recording at the size limit (--max-size)."
        case "recorder":
            return "The recorder failed in ", f" ({gap.what})." if gap.what else "."
        case "unseen":
            return "The content of some tensors could not be read in ", "."
        case "unrecorded":
            return gap.what or "", ""
        case "process":
            return "Only ", f" has {gap.what}."
        case "steps":
            by_default = f"after {gap.what} steps, the default: --steps all compares all of them"
            return f"Each run was ended {by_default}.", ""
        case "budget":
            return "The time or the runs of this hunt are used up (--time, --runs).", ""
        case _:
            return "The hunt was interrupted.", ""


def _cut_off(found: Findings, gap: Gap) -> str:
    """Return how a run ended in which a process wrote no end."""
    run = {"A": found.runs[0], "B": found.runs[1]}.get(gap.run or "")
    if run is None or run.exit_code is None:
        return "was killed or is still running"
    return (
        f"ended with exit code {run.exit_code}, but {gap.what} wrote no end (os._exit, exec, "
        "SIGKILL)"
    )


def optimizer_seen(found: Findings) -> bool:
    """Whether an optimizer of the framework stepped, with the gradients that it used."""
    return "gradients" in found.learned or "parameters" in found.learned


def style(found: Findings) -> Style:
    code = exit_code(found)
    if code == ExitCode.ANSWERED:
        return "good"
    return "doubt" if code == ExitCode.UNKNOWN else "bad"


def steps(found: Findings) -> str:
    """Return how many were compared; which ones, where only these were asked for."""
    compared = found.steps
    if compared is not None and compared.limited:
        if compared.first == compared.last:
            return f"step {compared.first}"
        which = "steps" if compared.every == 1 else f"one step in {compared.every} of"
        return f"{which} {compared.first} to {compared.last}"
    return count(min(run.steps for run in found.runs))


def processes(found: Findings) -> str:
    number = max(len(run.processes) for run in found.runs)
    return "1 process" if number == 1 else f"{number} processes"
