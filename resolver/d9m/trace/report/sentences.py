"""What was found, as sentences that a colleague could read aloud."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from d9m.errors import ExitCode
from d9m.render.page import Style
from d9m.render.phrases import join
from d9m.trace import outcomes
from d9m.trace.findings import (
    FROM_PYTHON,
    Cause,
    Findings,
    ForkPlace,
    ForkSide,
    Gap,
    Reach,
    RecordedRun,
    exit_code,
)
from d9m.trace.stream_records import JITTED

_REACHED = {
    "data": "the batches",
    "loss": "the loss",
    "gradients": "the gradients",
    "parameters": "the parameters",
    "outputs": "the outputs",
}

PHASES = {
    "fwd": "forward pass",
    "bwd": "backward pass",
    "recompute": "recomputation",
    "opt": "optimizer",
    JITTED: "jitted function",
}


def verdict(found: Findings) -> str:
    """The answer in a few lines; it never contradicts the exit code."""
    reasons = " ".join(gaps_in_verdict(found))
    if found.causes:
        since = found.first.step if found.first is not None else 0
        said = f"The runs differ since step {since}, for {len(found.causes)} reasons."
        if all(cause.kind == "error" for cause in found.causes) and all(
            run.failed for run in found.runs
        ):
            said = " ".join(sentence(found, cause) for cause in found.causes)
        elif len(found.causes) == 1:
            said = f"The runs differ since step {since}. {sentence(found, found.causes[0])}"
        return f"{said} {reasons}".rstrip()
    extent = f"{steps(found)} of {processes(found)}"
    if not found.complete:
        return f"{reasons} What was compared is equal bit for bit: {extent}."
    if optimizer_seen(found):
        return f"Nothing that is learned differs: {extent} are equal bit for bit."
    if not found.learned:
        return f"All that was recorded is equal bit for bit: {extent}."
    seen = join([_REACHED[what] for what in found.learned])
    verb = "is" if len(found.learned) == 1 and found.learned != ["outputs"] else "are"
    return f"{seen[0].upper()}{seen[1:]} {verb} equal bit for bit in {extent}."


_ALWAYS_SAID = ("error", "recorder", "unseen", "unrecorded", "interrupted")
"""Gaps that the verdict names whatever else was found."""


def gaps_in_verdict(found: Findings) -> list[str]:
    """Why not all was compared; beside a difference, only what is as bad."""
    return gaps(found, lambda gap: not found.causes or gap.why in _ALWAYS_SAID)


def gaps_in_notes(found: Findings) -> list[str]:
    """Why not all was compared, where the verdict leaves it out."""
    return gaps(found, lambda gap: bool(found.causes) and gap.why not in _ALWAYS_SAID)


def gaps(found: Findings, is_wanted: Callable[[Gap], bool]) -> list[str]:
    """A sentence for each reason why not all was compared; alike ones of both runs are one."""
    told = any(cause.kind == "error" or _ends(found, cause) for cause in found.causes)
    wanted = [gap for gap in found.incomplete if is_wanted(gap)]
    errors = [gap for gap in wanted if gap.why == "error" and not told]
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
    """What comes before the names of the runs, and what comes after them."""
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
            return "What some tensors hold could not be read in ", "."
        case "unrecorded":
            return gap.what or "", ""
        case "process":
            return "Only ", f" has {gap.what}."
        case "steps":
            by_default = f"after {gap.what} steps, the default: --steps all compares all of them"
            return f"Each run was ended {by_default}.", ""
        case _:
            return "The hunt was interrupted.", ""


def _cut_off(found: Findings, gap: Gap) -> str:
    """How a run ended of which a process wrote no end."""
    run = {"A": found.runs[0], "B": found.runs[1]}.get(gap.run or "")
    if run is None or run.exit_code is None:
        return "was killed, or still runs"
    return (
        f"ended with exit code {run.exit_code}, but {gap.what} wrote no end (os._exit, exec, "
        "SIGKILL)"
    )


def failure(run: RecordedRun) -> str:
    """The error that ended a run, with its line; else what its exit code means."""
    return outcomes.failure(run.error, run.exit_code)


def count(steps: int) -> str:
    return "1 step" if steps == 1 else f"{steps} steps"


def optimizer_seen(found: Findings) -> bool:
    """Whether an optimizer of the framework stepped, with the gradients that it used."""
    return "gradients" in found.learned or "parameters" in found.learned


def style(found: Findings) -> Style:
    code = exit_code(found)
    if code == ExitCode.ANSWERED:
        return "good"
    return "doubt" if code == ExitCode.UNKNOWN else "bad"


def steps(found: Findings) -> str:
    """How many were compared; which ones, where only these were asked for."""
    compared = found.steps
    if compared is not None and compared.limited:
        if compared.first == compared.last:
            return f"step {compared.first}"
        return f"steps {compared.first} to {compared.last}"
    return count(min(run.steps for run in found.runs))


def processes(found: Findings) -> str:
    number = max(len(run.processes) for run in found.runs)
    return "1 process" if number == 1 else f"{number} processes"


def sentence(found: Findings, cause: Cause) -> str:
    """What happened, by the kind of the cause."""
    op = plain(cause.op)
    match cause.kind:
        case "op":
            return f"{op} gave other bits for equal inputs."
        case "settings":
            return f"The two runs have other settings: {settings(found)}."
        case "seed" if cause.a == cause.b:
            return f"{op} draws random numbers, and no seed is set."
        case "seed":
            return f"{op} draws from differently seeded generators: {cause.a} and {cause.b}."
        case "generator" if cause.op is None:
            where = f"at the end of step {cause.step}"
            return f"The random generator of {cause.argument} is in another state {where}."
        case "generator":
            return f"{op} draws from the same seed, but one run had drawn more often before."
        case "data-order":
            return "The samples came in another order."
        case "data-content":
            return "The same samples had other content."
        case "uninitialised":
            made = f" (made at {cause.made.file}:{cause.made.line})" if cause.made else ""
            return f"{op} reads memory that nothing has written{made}."
        case "outside-write":
            return (
                f"{op} reads other values that no recorded op wrote: something outside the trace "
                "changed the tensor, or picked another part of it."
            )
        case "outside-value" if cause.op == FROM_PYTHON:
            return "Python puts other values into a tensor."
        case "outside-value" if cause.phase == JITTED:
            return f"{op} is given other values in {cause.argument}."
        case "outside-value":
            return f"{op} reads a tensor that came from outside the framework with other values."
        case "argument":
            return f"An argument of {op} differs: {cause.argument} is {cause.a} and {cause.b}."
        case "compiled":
            return f"Compiled {cause.argument} gave other bits for equal inputs."
        case "collective":
            return f"{op} gave other bits, though every rank sent the same in both runs."
        case "structure":
            return _structure(found, cause)
        case "error":
            return _error(found, cause)
        case "state":
            return _state(found, cause)


def plain(op: str | None) -> str:
    """The name without its namespace."""
    return (op or "").rpartition("::")[2]


def settings(found: Findings) -> str:
    said: list[str] = []
    for setting in found.settings:
        since = f" since step {setting.step}" if setting.step else ""
        said.append(f"{setting.name} {setting.a or 'not set'} and {setting.b or 'not set'}{since}")
    return join(said) if len(said) <= 3 else f"{', '.join(said[:3])} and {len(said) - 3} more"


def _structure(found: Findings, cause: Cause) -> str:
    fork = _fork(found, cause)
    ends = _ends(found, cause)
    if ends is None:
        return f"The two runs do different things{f': {part(fork)}' if fork else ''}."
    run = found.runs[0 if ends == "A" else 1]
    other = fork and (fork.a or fork.b)
    goes_on = f"run {'B' if ends == 'A' else 'A'} goes on{f' with {other.text}' if other else ''}"
    if run.failed:
        return (
            f"Run {ends} ended with an error after {count(run.steps)}, {goes_on}: {failure(run)}."
        )
    return f"Run {ends} ends after {count(run.steps)}, {goes_on}."


def _fork(found: Findings, cause: Cause) -> ForkPlace | None:
    return next((fork for fork in found.forks if fork.process == cause.process), None)


def _ends(found: Findings, cause: Cause) -> str | None:
    """Which run ends where the other goes on, if that is what the cause is."""
    if cause.kind != "structure":
        return None
    fork = _fork(found, cause)
    if fork is not None:
        return "A" if fork.a is None else "B" if fork.b is None else None
    empty = [name for name, run in zip("AB", found.runs) if not run.processes]
    return empty[0] if empty else None


def _error(found: Findings, cause: Cause) -> str:
    a, b = found.runs
    if cause.argument is not None:
        return (
            f"Both runs ended with an error after {count(cause.step)}, and the error names "
            f"{cause.argument}, which d9m had set: with it, the program does not run. {failure(a)}."
        )
    if a.failed and b.failed:
        return f"The runs ended with different errors: {failure(a)}; {failure(b)}."
    name, run, other = ("A", a, "B") if a.failed else ("B", b, "A")
    return (
        f"Run {name} ended with an error after {count(run.steps)}, run {other} did not: "
        f"{failure(run)}."
    )


def part(fork: ForkPlace) -> str:
    """What each of them does where they stop doing the same."""
    return f"run A {_goes_on(fork.a)}, run B {_goes_on(fork.b)}"


def _goes_on(side: ForkSide | None) -> str:
    return "ends" if side is None else f"goes on with {side.text}"


def _state(found: Findings, cause: Cause) -> str:
    what = cause.module or _REACHED.get(cause.argument or "", "something").removeprefix("the ")
    if found.runs[0].level == "op":
        return f"No recorded op explains why {what} differ."
    if cause.parameter is not None:
        what = "the gradient of" if cause.argument == "gradients" else "the parameter"
        return f"The first difference is in {what} {cause.parameter}."
    if cause.module is not None:
        return f"The first difference is in what {what} returns or gets back."
    return f"The first difference is in {_REACHED.get(cause.argument or '', 'a state')}."


def place(cause: Cause) -> str:
    """Module and line."""
    parts = [cause.module or ""]
    if cause.source is not None:
        parts.append(f"{cause.source.file}:{cause.source.line} in {cause.source.function}")
    return " · ".join(part for part in parts if part)


def call(cause: Cause) -> str:
    """The op with its arguments, and when it ran."""
    arguments = ", ".join(f"{name}={value}" for name, value in cause.arguments.items())
    overload = f".{cause.overload}" if cause.overload else ""
    phase = PHASES.get(cause.phase or "", "")
    when = f" · {phase}" if phase else ""
    node = f" ({cause.node})" if cause.node else ""
    return f"{cause.op}{overload}({arguments}){when}{node}"


def candidates(found: Sequence[Cause]) -> str:
    """What can be said of ops that were not seen to differ."""
    if len(found) == 1:
        return "One op of that step can differ by itself, as our records say:"
    return f"{len(found)} ops of that step can differ by themselves, as our records say:"


def inside(found: Sequence[Cause]) -> str:
    """What can be said of compiled graphs, run op by op."""
    if any(cause.kind != "op" for cause in found):
        return "Where compiled graphs run op by op, this is seen:"
    if len(found) == 1:
        return "Where compiled graphs run op by op, one op differs by itself:"
    return f"Where compiled graphs run op by op, {len(found)} ops differ by themselves:"


def later_ops(count: int) -> str:
    """``3 later ops differ``."""
    return "1 later op differs" if count == 1 else f"{count} later ops differ"


def reaches(reach: Reach) -> str:
    """``the gradients and the parameters in step 0``."""
    by_step: dict[int, list[str]] = {}
    for what, step in reach.steps().items():
        by_step.setdefault(step, []).append(_REACHED[what])
    return "; ".join(f"{join(names)} in step {step}" for step, names in sorted(by_step.items()))


def follows(cause: Cause) -> str:
    """Which other causes can have brought it about."""
    if not cause.may_follow:
        return ""
    return f"it may follow from {join([str(number + 1) for number in cause.may_follow], 'or')}"


def where(cause: Cause) -> str:
    """The processes."""
    if not cause.also:
        return cause.process
    return f"{len(cause.also) + 1} processes, alike"


def more_to_see(found: Findings) -> str | None:
    """How to record what this comparison could not show."""
    state = next((cause for cause in found.causes if cause.kind == "state"), None)
    if state is None or found.runs[0].level == "op":
        return None
    return f"d9m trace --level op --steps {state.step}:{state.step} -o RUN -- COMMAND"
