"""Runs with and without seeds: does the answer say which of them reaches an op, and what raises?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from d9m.authoring.audit.operators import HARMLESS, find_item, sources_of_name
from d9m.authoring.audit.shipped import AuditDifference, Known, Shipped
from d9m.environment.environment import Environment, Setup, describe
from d9m.model.records import Outcome
from d9m.resolve.resolver import resolve

_SWITCH = "EOD"


def differences(known: Known, shipped: Shipped) -> Iterator[AuditDifference]:
    """`seed-without-source`: results differ without a seed, and the answer is silent.
    `seed-disagrees`: what the answer says of the global seed, of a seed of the op, or of an error,
    is not what happened.
    """
    for runs in shipped.seeds:
        environment = describe(known.kb, Setup(((runs.package, runs.version),), device="cpu"))
        names = {**{name: name for name in runs.ops}, **runs.aliases}
        for name, run in names.items():
            drawn = any(any(sources_of_name(known, runs.package, each)) for each in (name, run))
            for code, subject, why in _differing(known, environment, name, runs.ops[run], drawn):
                yield AuditDifference(code, subject, "", f"{runs.package} {runs.version}: {why}")


def _differing(
    known: Known, environment: Environment, name: str, found: Mapping[str, str], drawn: bool
) -> Iterator[tuple[str, str, str]]:
    said = _answer(known, environment, f"{name}:forward")
    if said is None:
        return
    outcome, switched = said
    if found["plain"] == "differs" and outcome in HARMLESS and not drawn:
        yield "seed-without-source", name, "two processes differ without a seed"
    seeded = found.get("switch" if switched else "all", "")
    if outcome == "solved" and seeded != "equal":
        yield "seed-disagrees", f"{name}:global", f"with the settings of the answer: {seeded}"
    if outcome == "unsolved" and found["all"] == "equal":
        yield "seed-disagrees", f"{name}:global", f"equal with global seeds, and it says {outcome}"
    if (outcome == "raises") != (found.get("switch") == "raises"):
        yield "seed-disagrees", f"{name}:switch", f"{found.get('switch')}, and it says {outcome}"
    own = _answer(known, environment, f"{name}[op_seed=true]:forward")
    if own is not None and found.get("own") == "equal" and own[0] in ("unsolved", "raises"):
        yield "seed-disagrees", f"{name}:own", f"equal with its own seed, and it says {own[0]}"


def _answer(known: Known, environment: Environment, query: str) -> tuple[Outcome, bool] | None:
    """Outcome of an op, and whether the answer turns the switch on; None for an unknown name."""
    item = find_item(known, environment, query)
    if item is None:
        return None
    (answer,) = resolve(known.kb, environment, [item]).ops[:1]
    return answer.outcome, any(_SWITCH in each for each in answer.solutions)
