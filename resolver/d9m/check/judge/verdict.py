"""The verdict on one probe, from its arms and from what the prober proved about its own sight."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

import msgspec

from d9m.check.judge.chance import CHANCE
from d9m.check.judge.observe import ArmResult, varies_by_default
from d9m.check.messages import Deviation

Name = Literal[
    "no-difference-seen",
    "nondeterministic",
    "fixed-by-advice",
    "not-fixed",
    "raises",
    "value-mismatch",
    "uninitialised-read",
    "config-dependent",
    "inconclusive",
]

TOLERANCE = {"float64": 1e-6, "float32": 2e-3, "float16": 3e-2, "bfloat16": 1e-1}
"""Largest error over the largest true value. A wrong kernel is wrong by far more; TF32 and long
sums stay below.
"""
NARROW = ("float16", "bfloat16")
WORSE = 4.0
"""How much larger an error in half precision may be with the advice than without."""
SAME_TRUTH = 1e-6
"""How far the double-precision results of two arms may differ."""
GUARDS = ("as-is", "default-again", "advised-no-fill", "one-thread")
"""Arms that can turn a good verdict into another one: without them there is none."""
FEWEST = 8
"""Repeats below which silence says nothing at all."""
MEMORY = (
    "out of memory",
    "can't allocate memory",
    "memoryerror",
    "bad_alloc",
    "resource_exhausted",
    "outofmemory",
)


class ProbeVerdict(msgspec.Struct, frozen=True):
    name: Name
    reason: str = ""
    observed: bool = True
    """Whether what was seen can be held against a record, whatever it is not enough for."""


class Proofs(msgspec.Struct, frozen=True):
    """Proofs that a probe works, from the default and the advised arm."""

    controls: tuple[int, ...] = ()
    """Distinct results where nothing could vary."""
    planted: tuple[bool, ...] = ()
    moved: tuple[bool, ...] = ()
    references: Mapping[str, Deviation] = {}
    """By arm."""
    silence: float = 0.0
    """How likely the advised arm would be silent by chance."""

    @property
    def stable(self) -> bool | None:
        return max(self.controls) == 1 if self.controls else None

    @property
    def sighted(self) -> bool | None:
        """Whether another order of the same terms changed the bits; None: order is not what the
        probe is about.
        """
        return any(self.moved) if self.moved else None

    def error(self, arm: str) -> float | None:
        return self.references[arm].error if arm in self.references else None


def judge(
    arms: Mapping[str, ArmResult], proofs: Proofs, dtype: str, tolerance: float | None
) -> ProbeVerdict:
    """Return the verdict. A difference needs no statistics; its absence is no proof."""
    default, advised = arms.get("default"), arms.get("advised")
    if default is None:
        return _blind("not run")
    if default.failed or default.raised:
        return _blind(default.failed or _refusal(default.raised or ""))
    if proofs.stable is False:
        return _blind("the control run is nondeterministic: the probe itself is at fault")
    if not all(proofs.planted):
        return _blind("a planted change of 1 ulp was not seen: the probe itself is at fault")
    varies = varies_by_default(arms)
    if advised is None or advised.failed:
        reason = f"with the advised settings: {advised.failed if advised else 'not run'}"
        return ProbeVerdict("nondeterministic", reason) if varies else _blind(reason)
    if advised.raised and out_of_memory(advised.raised):
        reason = "out of memory with the advised settings"
        return ProbeVerdict("nondeterministic", reason) if varies else _blind(reason)
    if advised.raised:
        return ProbeVerdict("raises", advised.raised)
    wrong = _wrong(proofs, _allowed(proofs, dtype, tolerance))
    if wrong:
        return ProbeVerdict("value-mismatch", wrong)
    if advised.varies:
        return ProbeVerdict("not-fixed", "" if varies else "only with the advised settings")
    return _quiet_when_advised(arms, proofs, varies)


def _blind(reason: str) -> ProbeVerdict:
    return ProbeVerdict("inconclusive", reason, observed=False)


def _quiet_when_advised(
    arms: Mapping[str, ArmResult], proofs: Proofs, varies: bool
) -> ProbeVerdict:
    unfilled, asis, single = arms.get("advised-no-fill"), arms.get("as-is"), arms.get("one-thread")
    if unfilled is not None and unfilled.varies:
        return ProbeVerdict(
            "uninitialised-read",
            "reads uninitialised memory; filling new memory hides that",
        )
    for name in GUARDS:
        stopped = (arms[name].failed or arms[name].raised) if name in arms else None
        if stopped:
            return ProbeVerdict("inconclusive", f"{name}: {stopped}")
    if varies and proofs.silence > CHANCE:
        return ProbeVerdict(
            "inconclusive",
            "too few calls or processes differ to say that the advice fixes it",
        )
    if varies:
        return ProbeVerdict("fixed-by-advice")
    if asis is not None and asis.varies:
        return ProbeVerdict("nondeterministic", "only in your environment")
    if proofs.sighted is False:
        return _blind("blind: another order of the inputs gives the same result")
    if min(arms[name].repeats for name in ("default", "advised")) < FEWEST:
        return _blind("too few repeats")
    if single is not None and single.digest is not None and single.digest != arms["default"].digest:
        return ProbeVerdict("config-dependent", "different results with one thread")
    return ProbeVerdict("no-difference-seen")


def _allowed(proofs: Proofs, dtype: str, tolerance: float | None) -> float:
    """Largest error that is not a fault: half precision is as wrong by default, where thousands of
    terms are added.
    """
    usual = max(tolerance or 0.0, TOLERANCE.get(dtype, TOLERANCE["float32"]))
    return max(usual, WORSE * (proofs.error("default") or 0.0)) if dtype in NARROW else usual


def _wrong(proofs: Proofs, tolerance: float) -> str:
    """Return what is wrong with the values under the advised settings; empty: nothing."""
    advised, default = proofs.references.get("advised"), proofs.references.get("default")
    if advised is None:
        return ""
    if advised.error is None:
        also = " (as by default)" if default is not None and default.error is None else ""
        return f"NaN or infinity where double precision gives a number, or the reverse{also}"
    if advised.error > tolerance:
        also = (
            " (as by default)" if default is not None and (default.error or 0.0) > tolerance else ""
        )
        return f"off by {advised.error:.1g} of the largest value{also}"
    if default is None or default.error is None:
        return ""
    if abs(default.norm - advised.norm) > SAME_TRUTH * max(default.norm, advised.norm):
        return "the settings change the double-precision result"
    return ""


def out_of_memory(text: str) -> bool:
    return any(word in text.lower() for word in MEMORY)


def _refusal(text: str) -> str:
    return "out of memory" if out_of_memory(text) else f"cannot run here: {text[:160]}"
