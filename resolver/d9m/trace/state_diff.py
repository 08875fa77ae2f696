"""The state that a difference reaches: losses, gradients, parameters, and what modules return."""

from __future__ import annotations

from collections.abc import Sequence

from d9m.trace.align import Matched
from d9m.trace.cause_candidates import CauseCandidate, CauseCandidates
from d9m.trace.memory import TaintMap, differing
from d9m.trace.stream_records import Sums


class StateDiff:
    """The state of one process, in both runs.

    Where ops were recorded, a difference is traced back through the storages that hold it. Where
    they were not, the first state that differs is a cause, and all others follow.
    """

    def __init__(self, suspects: CauseCandidates, taints: TaintMap, follows: bool) -> None:
        self._suspects = suspects
        self._taints = taints
        self._follows = follows
        self.recorded: set[str] = set()
        """State that a difference could reach: losses, gradients, ..."""

    def sum(self, at: Matched, what: str, a: Sums, b: Sums, names: Sequence[str]) -> None:
        """One digest of all, and each one's where they were recorded; the names of these."""
        self.recorded.add(what)
        if a.whole != b.whole:
            places = [place for place, _mine, _its in differing(a.digests, b.digests)]
            name = names[places[0]] if places and places[0] < len(names) else None
            self._differs(at, what, a.digests, b.digests, None, name or None)

    def state(
        self, at: Matched, what: str | None, a: Sequence[str], b: Sequence[str], module: str | None
    ) -> None:
        """`what` it is; None: nothing that is learned, only a place on the way."""
        if what is not None:
            self.recorded.add(what)
        if any(True for _ in differing(a, b)):
            self._differs(at, what, a, b, module)

    def _differs(
        self,
        at: Matched,
        what: str | None,
        a: Sequence[str],
        b: Sequence[str],
        module: str | None,
        parameter: str | None = None,
    ) -> None:
        storages = [mine.storage for _place, mine, _its in differing(a, b)]
        blame = {cause for storage in storages for cause in self._taints.of(storage)}
        if not blame and not self._follows:
            blame = self._suspects.numbers(("data-order", "data-content", "structure", "state"))
        if not blame and self._suspects.fork is not None:
            blame = {self._suspects.fork}
        if not blame:
            suspect = CauseCandidate(
                "state",
                at.a.step,
                at.a.number,
                name=module,
                argument=what,
                parameter=parameter,
                certain=False,
            )
            blame = {self._suspects.add(at, suspect, ("state",))}
            for storage in storages:
                self._taints.put(storage, blame)
        if what is not None:
            self._suspects.reach(what, at.a.step, blame)
