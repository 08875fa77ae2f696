"""What was found, as sentences that a colleague could read aloud."""

from __future__ import annotations

from collections.abc import Sequence

from d9m.errors import ExitCode
from d9m.render.page import Style
from d9m.render.phrases import join
from d9m.trace.findings import (
    FROM_PYTHON,
    Cause,
    Findings,
    ForkPlace,
    ForkSide,
    Reach,
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
    """The answer in a line or two; it never contradicts the exit code."""
    if found.causes:
        since = found.first.step if found.first is not None else 0
        count = len(found.causes)
        if count == 1:
            return f"The runs differ since step {since}. {sentence(found, found.causes[0])}"
        return f"The runs differ since step {since}, for {count} reasons."
    extent = f"{steps(found)} of {processes(found)}"
    if not found.complete:
        return f"What could be compared is equal, but that is not all of both runs: {extent}."
    if optimizer_seen(found):
        return f"Nothing that is learned differs: {extent} are equal bit for bit."
    if not found.learned:
        return f"All that was recorded is equal bit for bit: {extent}."
    seen = join([_REACHED[what] for what in found.learned])
    verb = "is" if len(found.learned) == 1 and found.learned != ["outputs"] else "are"
    return f"{seen[0].upper()}{seen[1:]} {verb} equal bit for bit in {extent}."


def optimizer_seen(found: Findings) -> bool:
    """Whether an optimizer of the framework stepped, with the gradients that it used."""
    return "gradients" in found.learned or "parameters" in found.learned


def style(found: Findings) -> Style:
    code = exit_code(found)
    if code == ExitCode.ANSWERED:
        return "good"
    return "doubt" if code == ExitCode.UNKNOWN else "bad"


def steps(found: Findings) -> str:
    count = min(run.steps for run in found.runs)
    return "1 step" if count == 1 else f"{count} steps"


def processes(found: Findings) -> str:
    count = len(found.runs[0].processes)
    return "1 process" if count == 1 else f"{count} processes"


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
            return f"The two runs do different things{_fork(found, cause)}."
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


def _fork(found: Findings, cause: Cause) -> str:
    fork = next((fork for fork in found.forks if fork.process == cause.process), None)
    if fork is None:
        return ""
    return f": {part(fork)}"


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
