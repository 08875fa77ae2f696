"""The advice for a cause: from a recorded op to a question about it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

import msgspec

from d9m.api import advise
from d9m.environment.environment import Setup
from d9m.errors import D9mError
from d9m.kb.store import KnowledgeBase
from d9m.model.advice import OpAnswer
from d9m.model.settings import Step
from d9m.resolve import values
from d9m.trace.findings import Cause, CauseAdvice, CauseKind, Findings
from d9m.trace.stream_records import JITTED, PRIMITIVE
from d9m.trace.varying_calls import is_by_chance, looks_like

RECORDS: Mapping[CauseKind, tuple[str, ...]] = {
    "uninitialised": ("pytorch/uninitialised-memory",),
    "compiled": ("torch-compile",),
}
"""Kind of cause other than an op -> the records that say what to do."""

JAX_RECORDS: Mapping[CauseKind, tuple[str, ...]] = {
    "seed": ("jax-keys",),
    "outside-value": ("jax-input-order", "jax-keys"),
}
"""The same, where it shows in what JAX calls."""

JAX_ON_GPU = ("jax/scatter-add", "jax/matmul-autotune")
"""Sources of nondeterminism in a jitted function there."""

_OF_TORCH = ("torch-compile", "pytorch/uninitialised-memory")
"""Those of RECORDS that are about PyTorch alone."""

_PLAIN = re.compile(r"(True|False|-?\d+(\.\d+)?|'?[A-Za-z]\w*'?)\Z")
"""A value of an argument that a question can repeat."""

_BEFORE = ("_foreach_", "_fused_", "native_", "_")
"""Prefix that ATen puts before the name of an op of the public API."""


def with_advice(kb: KnowledgeBase, found: Findings) -> Findings:
    """The findings, each cause with what is known of it."""
    frameworks = tuple(
        (name, version) for name, version in found.packages.items() if name in kb.meta.prefixes
    )
    device = (found.device or "cpu").partition(":")[0]
    setup = Setup(frameworks, device=device)
    return msgspec.structs.replace(
        found,
        causes=[_resumed(found, _answered(kb, setup, cause)) for cause in found.causes],
        inside=[_answered(kb, setup, cause) for cause in found.inside],
        candidates=_able(kb, setup, found.candidates),
        harmless=[_answered(kb, setup, cause) for cause in found.harmless],
    )


def _resumed(found: Findings, cause: Cause) -> Cause:
    """A cause with what to read of checkpoints, if one run went on with one."""
    if cause.kind != "generator" or found.resumed_after is None:
        return cause
    return msgspec.structs.replace(cause, records=["checkpoint-and-resume"])


def _able(kb: KnowledgeBase, setup: Setup, candidates: Sequence[Cause]) -> list[Cause]:
    """Return those that a record calls nondeterministic here."""
    answered = [_answered(kb, setup, cause) for cause in candidates]
    return [
        cause
        for cause in answered
        if cause.advice is not None and cause.advice.default == "nondeterministic"
    ]


def _answered(kb: KnowledgeBase, setup: Setup, cause: Cause) -> Cause:
    records = [name for name in _records(cause) if name in kb.ingredients or name in kb.sources]
    if all(name != "torch" for name, _version in setup.packages):
        records = [name for name in records if name not in _OF_TORCH]
    advice = None
    if cause.kind in ("op", "collective") and cause.op is not None and not cause.draws:
        advice = _advice(kb, setup, cause)
    return msgspec.structs.replace(cause, advice=advice, records=records)


def _records(cause: Cause) -> tuple[str, ...]:
    if cause.phase == JITTED or (cause.op or "").startswith("jax."):
        if cause.kind == "compiled":
            return () if cause.device == "cpu" else JAX_ON_GPU
        return JAX_RECORDS.get(cause.kind, ())
    if cause.kind == "seed" and looks_like(cause.a, cause.b) is None:
        is_separate = "generator" in (cause.op or "")  # the overload that takes a generator
        return ("seeds",) if is_by_chance(cause.a) and not is_separate else ()
    return RECORDS.get(cause.kind, ())


def _advice(kb: KnowledgeBase, setup: Setup, cause: Cause) -> CauseAdvice | None:
    """The first answer that knows of a difference; else the first one at all; None: no question is
    understood.
    """
    answers: list[CauseAdvice] = []
    for query in queries(cause):
        try:
            advice = advise(kb, setup, [query])
        except D9mError:
            continue
        op = advice.ops[0]
        answers.append(
            CauseAdvice(
                query=query,
                outcome=op.outcome,
                default=op.default,
                solutions=op.solutions,
                sources=_differing(op),
                settings=advice.settings,
                already=_already(kb, advice.steps, op.solutions, cause.shared),
            )
        )
        if answers[-1].sources:
            return answers[-1]
    return answers[0] if answers else None


def _already(
    kb: KnowledgeBase, steps: Sequence[Step], solutions: Sequence[str], shared: Mapping[str, str]
) -> list[str]:
    """The settings of these solutions, if the recordings show that both runs had made them."""
    wanted = [step for step in steps if set(step.solutions) & set(solutions)]
    for step in wanted:
        recorded = step.kind in ("env", "append", "python") and step.name in shared
        if not recorded or not values.suits(kb, step, shared[step.name]):
            return []
    return [step.name for step in wanted]


def _differing(op: OpAnswer) -> list[str]:
    """Return the sources that call the op nondeterministic."""
    return [
        source.id
        for source in op.sources
        if source.default == "nondeterministic"
        or source.outcome in ("solved", "unsolved", "raises", "depends")
    ]


def queries(cause: Cause) -> Iterator[str]:
    """Yield how the op can be called in a question, the most exact first.

    >>> cause = Cause(kind="op", process="", step=0, record=0, op="aten::put_", phase="fwd",
    ...               arguments={"accumulate": "True"})
    >>> list(queries(cause))
    ['aten::put_:accumulate=True', 'aten::put_:forward', 'put']
    >>> cause = Cause(kind="op", process="", step=0, record=0, op="jax::scatter-add", phase="bwd")
    >>> list(queries(cause))
    ['jax.lax.scatter_add', 'jax.extend.core.primitives.scatter_add_p', 'scatter-add']
    """
    if cause.node:
        yield cause.node
    name = cause.op or ""
    if not name:
        return
    said = "".join(
        f":{argument}={value}" for argument, value in cause.arguments.items() if _PLAIN.match(value)
    )
    if name.startswith(PRIMITIVE):
        primitive = name.removeprefix(PRIMITIVE)
        spelled = primitive.replace("-", "_")
        for called in (f"jax.lax.{spelled}", f"jax.extend.core.primitives.{spelled}_p", primitive):
            if said:
                yield called + said
            yield called
        return
    if said:
        yield name + said
    yield name + (":forward" if cause.phase in ("fwd", "recompute") else "")
    plain = name.rpartition("::")[2].removesuffix("_")
    prefix = next((prefix for prefix in _BEFORE if plain.startswith(prefix)), "")
    plain = plain.removeprefix(prefix)
    if plain.endswith("_backward"):
        yield plain.removesuffix("_backward") + ":backward"
    elif cause.phase == "bwd":
        yield plain + ":backward"
    else:
        yield plain
