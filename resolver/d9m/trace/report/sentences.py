"""One sentence for each kind of cause, and the facts about it."""

from __future__ import annotations

from collections.abc import Sequence

from d9m.render.phrases import join, plural
from d9m.trace import outcomes
from d9m.trace.findings import (
    FROM_PYTHON,
    Cause,
    CauseKind,
    Findings,
    ForkPlace,
    RecordedRun,
    SettingDifference,
)
from d9m.trace.settings_differ import is_rate
from d9m.trace.stream_records import JITTED
from d9m.trace.varying_calls import looks_like

REACHED = {
    "data": "the batches",
    "loss": "the loss",
    "gradients": "the gradients",
    "parameters": "the parameters",
    "outputs": "the outputs",
}

STEP_ENDS = {
    "backward": "backward()",
    "forward": "a forward pass",
    "explicit": "d9m.trace.step()",
}
"""Event that ends a step by each rule but the optimizer's."""

PHASES = {
    "fwd": "forward pass",
    "bwd": "backward pass",
    "recompute": "recomputation",
    "opt": "optimizer",
    JITTED: "jitted function",
}


_SENTENCES: dict[CauseKind, str] = {
    "op": "{op} returned different results for equal inputs.",
    "generator": (
        "{op} uses the same seed in both runs, but one run had drawn more random numbers before."
    ),
    "data-order": "The order of the samples differs.",
    "data-content": "The same samples have different content.",
    "uninitialised": "{op} reads uninitialised memory{made}.",
    "outside-write": (
        "{op} reads different values that no recorded op wrote: something outside the recording "
        "changed the tensor, or selected another part of it."
    ),
    "outside-value": "{op} reads a tensor from outside the framework whose values differ.",
    "order": "{op} gets the same tensors in another order.",
    "argument": "An argument of {op} differs: {argument} is {a} and {b}.",
    "compiled": "Compiled {argument} returned different results for equal inputs.",
    "collective": (
        "{op} returned different results, though every rank sent the same data in both runs."
    ),
    "seed": "{op} draws from differently seeded generators: {a} and {b}.",
}
"""Kind of a cause -> its sentence. `sentence` knows the special cases."""


def sentence(found: Findings, cause: Cause) -> str:
    """Return what happened, by the kind of the cause."""
    text = _SENTENCES.get(cause.kind, "")
    match cause.kind:
        case "settings":
            return f"The settings differ between the runs: {settings(found)}."
        case "structure":
            return _structure(found, cause)
        case "error":
            return _error(found, cause)
        case "state":
            return _state(found, cause)
        case "seed" if cause.origin is not None and cause.origin.kinds == ["torch"]:
            text = "{op} draws random numbers, and nothing had seeded the generator."
        case "seed" if cause.a == cause.b:
            text = "{op} draws random numbers, and no seed is set."
        case "generator" if cause.op is None:
            text = "The RNG state of {argument} differs at the end of step {step}."
        case "argument" if cause.op is None:
            text = "The {argument} differs: {a} and {b}."
        case "outside-value" if cause.op == FROM_PYTHON:
            text = "Python code puts different values into a tensor."
        case "outside-value" if cause.phase == JITTED:
            text = "{op} gets different values in {argument}."
        case _:
            pass
    made = f" (allocated at {cause.made.file}:{cause.made.line})" if cause.made else ""
    values = {"op": plain(cause.op), "argument": cause.argument, "a": cause.a, "b": cause.b}
    kinds = cause.origin.kinds if cause.origin else [looks_like(cause.a, cause.b)]
    said = [_LIKE[kind] for kind in kinds if kind in _LIKE]
    if said:
        text = f"{text[:-1]}, {join(said)}."
    return text.format(step=cause.step, made=made, **values)


_LIKE = {
    "clock": "a value from the clock",
    "pid": "process ids",
    "addresses": "values that depend on addresses",
    "entropy": "from the system's entropy",
    "hash": "from hash() or the order of a set of strings",
    "random": "from Python's unseeded random generator",
    "numpy.random": "from NumPy's unseeded random generator",
}
"""Origin of values -> how a sentence says so."""


def plain(op: str | None) -> str:
    """Return the name of an op without its namespace."""
    return (op or "").rpartition("::")[2]


def both_values(setting: SettingDifference) -> str:
    """Return ``torch 2.12.0 and 2.13.0``."""
    return f"{setting.name} {setting.a or 'not set'} and {setting.b or 'not set'}"


def settings(found: Findings) -> str:
    said: list[str] = []
    for setting in found.settings:
        if is_rate(setting.name):
            continue
        since = f" since step {setting.step}" if setting.step else ""
        said.append(f"{both_values(setting)}{since}")
    return join(said) if len(said) <= 3 else f"{', '.join(said[:3])} and {len(said) - 3} more"


def _structure(found: Findings, cause: Cause) -> str:
    fork = _fork(found, cause)
    ends = ending_run(found, cause)
    if ends is None:
        if fork is None or fork.a is None or fork.b is None:
            return "The runs do different things."
        if fork.more is not None:
            side, other = (fork.a, "B") if fork.more == "A" else (fork.b, "A")
            does = "draws random numbers with" if side.draws else "goes on with"
            return f"Run {fork.more} {does} {side.text}, run {other} does not."
        next_ones = f"run A goes on with {fork.a.text}, run B goes on with {fork.b.text}"
        return f"The runs do different things: {next_ones}."
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


def ending_run(found: Findings, cause: Cause) -> str | None:
    """Return which run ends where the other goes on, if that is the cause."""
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


def _state(found: Findings, cause: Cause) -> str:
    what = cause.module or REACHED.get(cause.argument or "", "something").removeprefix("the ")
    if found.runs[0].level == "op":
        return f"No recorded op explains why {what} differ."
    if cause.parameter is not None:
        what = "the gradient of" if cause.argument == "gradients" else "the parameter"
        return f"The first difference is in {what} {cause.parameter}."
    if cause.module is not None:
        return f"The first difference is in what {what} returns or gets back."
    return f"The first difference is in {REACHED.get(cause.argument or '', 'a state')}."


def place(cause: Cause) -> str:
    """Return the module and the line of a cause."""
    parts = [cause.module or ""]
    if cause.source is not None:
        led = [f"{line.file}:{line.line} in {line.function}" for line in cause.callers]
        source = f"{cause.source.file}:{cause.source.line} in {cause.source.function}"
        parts.append(", called from ".join([source, *led]))
    return " · ".join(part for part in parts if part)


def call(cause: Cause) -> str:
    """Return the op with its arguments, and when it ran."""
    given = {} if cause.kind in ("seed", "generator") else cause.arguments
    arguments = ", ".join(f"{name}={value}" for name, value in given.items())
    overload = f".{cause.overload}" if cause.overload else ""
    phase = PHASES.get(cause.phase or "", "")
    when = f" · {phase}" if phase else ""
    node = f" ({cause.node})" if cause.node else ""
    return f"{cause.op}{overload}({arguments}){when}{node}"


def candidates(found: Sequence[Cause]) -> str:
    """Return the heading of ops that were not seen to differ."""
    if len(found) == 1:
        return "One op of that step is nondeterministic, as our records say:"
    return f"{len(found)} ops of that step are nondeterministic, as our records say:"


def inside(found: Sequence[Cause]) -> str:
    """Return the heading of what differs in compiled graphs, run op by op."""
    if any(cause.kind != "op" for cause in found):
        return "With compiled graphs run op by op, this differs:"
    if len(found) == 1:
        return "With compiled graphs run op by op, one op is nondeterministic:"
    return f"With compiled graphs run op by op, {len(found)} ops are nondeterministic:"


def later_ops(count: int) -> str:
    """Return ``3 later ops differ``."""
    return "1 later op differs" if count == 1 else f"{count} later ops differ"


def reaches(cause: Cause) -> str:
    """Return ``the gradients and the parameters in step 0; 3 later ops differ``."""
    by_step: dict[int, list[str]] = {}
    for what, step in cause.reaches.steps().items():
        by_step.setdefault(step, []).append(REACHED[what])
    said = [f"{join(names)} in step {step}" for step, names in sorted(by_step.items())]
    return "; ".join([*said, *([later_ops(cause.inherited)] if cause.inherited else [])])


def follows(cause: Cause) -> str:
    """Return which other causes it may be a consequence of."""
    if not cause.may_follow:
        return ""
    return f"a consequence of {join([str(number + 1) for number in cause.may_follow], 'or')}"


def where(cause: Cause) -> str:
    """Return the processes of a cause."""
    if not cause.also:
        return cause.process
    return f"{len(cause.also) + 1} processes, alike"


def more_to_see(found: Findings) -> str | None:
    """Return how to record what this comparison could not show."""
    state = next((cause for cause in found.causes if cause.kind == "state"), None)
    if state is None or found.runs[0].level == "op":
        return None
    steps = between(found, state.step)
    level = "--level op " if steps is None else ""
    return f"d9m trace {level}--steps {steps or f'{state.step}:{state.step}'} -o RUN -- COMMAND"


def between(found: Findings, step: int) -> str | None:
    """Return ``101:200``, of which only the last step was recorded; None: each step was."""
    steps = found.steps
    if steps is None or steps.every == 1 or step <= steps.first:
        return None
    return f"{step - steps.every + 1}:{step}"


def count(steps: int) -> str:
    return plural(steps, "step")


def failure(run: RecordedRun) -> str:
    """Return the error that ended a run, with its line; else what its exit code means."""
    return outcomes.failure(run.error, run.exit_code)
