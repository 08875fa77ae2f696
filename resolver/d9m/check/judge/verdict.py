"""The verdict on one probe, from its arms and from what the prober proved of itself."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

import msgspec

from d9m.check.judge.observe import ArmResult

Name = Literal[
    "no-difference-seen", "nondeterministic", "fixed-by-advice", "not-fixed", "raises", "value-mismatch",
    "uninitialised-read", "config-dependent", "inconclusive",
]  # fmt: skip

TOLERANCE = {"float64": 1e-6, "float32": 2e-3, "float16": 3e-2, "bfloat16": 1e-1}
"""Largest error over the largest true value. A wrong kernel is wrong by far more; TF32 and long sums stay below."""
NARROW = ("float16", "bfloat16")
WORSE = 4.0
"""How much larger an error in half precision may be with the advice than without."""
SAME_TRUTH = 1e-6
"""How far the double-precision results of two arms may lie apart."""
FEWEST = 8
"""Repeats below which silence says nothing at all."""
MEMORY = ("out of memory", "can't allocate memory", "memoryerror", "bad_alloc", "resource_exhausted")


class Verdict(msgspec.Struct, frozen=True):
    name: Name
    reason: str = ""


class Proofs(msgspec.Struct, frozen=True):
    """What a probe showed of itself, in the default and the advised arm."""

    controls: tuple[int, ...] = ()
    """Distinct results where nothing could vary."""
    planted: tuple[bool, ...] = ()
    moved: tuple[bool, ...] = ()
    references: Mapping[str, Mapping[str, float]] = {}
    """Arm -> error and norm of the true value."""

    @property
    def stable(self) -> bool | None:
        return max(self.controls) == 1 if self.controls else None

    @property
    def sighted(self) -> bool | None:
        """Whether another order of the same terms changed the bits; None: order is not what the probe is about."""
        return any(self.moved) if self.moved else None

    def error(self, arm: str) -> float | None:
        return self.references[arm]["error"] if arm in self.references else None


def judge(arms: Mapping[str, ArmResult], proofs: Proofs, dtype: str, tolerance: float | None) -> Verdict:
    """Every verdict of the contract. A difference needs no statistics; silence never says deterministic."""
    default, advised = arms.get("default"), arms.get("advised")
    if default is None:
        return Verdict("inconclusive", "not run")
    if default.failed or default.raised:
        return Verdict("inconclusive", default.failed or _refusal(default.raised or ""))
    if proofs.stable is False:
        return Verdict("inconclusive", "control failed: it varies even where nothing can meet")
    if not all(proofs.planted):
        return Verdict("inconclusive", "control failed: a planted change of 1 ulp was not seen")
    varies = any(arms[name].varies for name in ("default", "default-again") if name in arms)
    if advised is None or advised.failed:
        reason = f"advised: {advised.failed if advised else 'not run'}"
        return Verdict("nondeterministic" if varies else "inconclusive", reason)
    if advised.raised:
        if out_of_memory(advised.raised):
            return Verdict("nondeterministic" if varies else "inconclusive", "advised: out of memory")
        return Verdict("raises", advised.raised)
    wrong = _wrong(proofs, _allowed(proofs, dtype, tolerance))
    if wrong:
        return Verdict("value-mismatch", wrong)
    if advised.varies:
        return Verdict("not-fixed", "" if varies else "varies only with the advised settings")
    return _quiet_when_advised(arms, proofs, varies)


def _quiet_when_advised(arms: Mapping[str, ArmResult], proofs: Proofs, varies: bool) -> Verdict:
    unfilled, asis, single = arms.get("advised-no-fill"), arms.get("as-is"), arms.get("one-thread")
    if unfilled is not None and unfilled.varies:
        return Verdict("uninitialised-read", "filling new memory hides it, the program still reads what nobody wrote")
    if varies:
        return Verdict("fixed-by-advice")
    if asis is not None and asis.varies:
        return Verdict("nondeterministic", "only in your environment")
    if proofs.sighted is False:
        return Verdict("inconclusive", "blind: another order of the inputs gives the same bits")
    if min(arms[name].repeats for name in ("default", "advised")) < FEWEST:
        return Verdict("inconclusive", "too few repeats")
    if single is not None and single.digest is not None and single.digest != arms["default"].digest:
        return Verdict("config-dependent", "other bits with one thread")
    return Verdict("no-difference-seen")


def _allowed(proofs: Proofs, dtype: str, tolerance: float | None) -> float:
    """Largest error that is no fault: half precision is as wrong by default, where thousands of terms are added."""
    usual = max(tolerance or 0.0, TOLERANCE.get(dtype, TOLERANCE["float32"]))
    return max(usual, WORSE * (proofs.error("default") or 0.0)) if dtype in NARROW else usual


def _wrong(proofs: Proofs, tolerance: float) -> str:
    """What is wrong with the values under the advised settings; empty: nothing."""
    true, error = proofs.references.get("advised"), proofs.error("advised")
    if true is None or error is None:
        return ""
    default = proofs.references.get("default")
    if error > tolerance:
        also = " (as by default)" if default is not None and default["error"] > tolerance else ""
        return f"off by {error:.1g} of the largest value{also}"
    if default is not None and abs(default["norm"] - true["norm"]) > SAME_TRUTH * max(default["norm"], true["norm"]):
        return "the settings change the double-precision result"
    return ""


def out_of_memory(text: str) -> bool:
    return any(each in text.lower() for each in MEMORY) or "outofmemory" in text.lower()


def _refusal(text: str) -> str:
    return "out of memory" if out_of_memory(text) else f"cannot run here: {text[:160]}"
