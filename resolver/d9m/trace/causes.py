"""The heart of a comparison: which records begin a difference, and which inherit one.

The first difference in time is often harmless: a timer, a scratch tensor. So what differs is
followed from storage to storage, from the record that began it to gradients, parameters, losses and
outputs. The stream's letters say what a changed input means where no recorded op explains it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from d9m.trace.align import Alike, Fork, Matched
from d9m.trace.cause_candidates import (
    FROM_OUTSIDE,
    Arrival,
    CauseCandidate,
    CauseCandidates,
    place,
)
from d9m.trace.collectives import CollectiveTracker
from d9m.trace.draws import Generators
from d9m.trace.findings import CauseKind
from d9m.trace.loading import Loading
from d9m.trace.memory import (
    NO_CONTENT,
    Bits,
    TaintMap,
    bits,
    both,
    both_contents,
    differing,
)
from d9m.trace.reading import RecordStream
from d9m.trace.state_diff import StateDiff
from d9m.trace.stream_records import (
    JITTED,
    BatchContent,
    BatchIndices,
    CalledCollective,
    CalledOp,
    Gradients,
    GraphInputs,
    GraphOutputs,
    Losses,
    ModuleGradients,
    ModuleOutputs,
    ReadValue,
    Site,
    StepEnd,
    Sums,
    named_arguments,
)

_BY_LETTER: dict[str, CauseKind] = {
    "x": "outside-write",
    ".": "outside-write",
    "+": "outside-write",
    "u": "uninitialised",
    "v": "uninitialised",
    "n": "outside-value",
    "": "outside-value",
}
"""Letter of an input that differs, and that nothing recorded explains -> what it means."""


class DiffWalker:
    """Follows one process through both recordings, a pair of records at a time."""

    def __init__(self, stream: RecordStream, exact: bool, other: RecordStream) -> None:
        self.suspects = CauseCandidates()
        taints = self._taints = TaintMap()
        self.generators = Generators(self.suspects)
        self._other = other
        self.learned = StateDiff(self.suspects, taints, stream.header.level == "op")
        self.collectives = CollectiveTracker(taints)
        self._loading = Loading(self.suspects, taints)
        self._stream = stream
        self._exact = exact
        """Whether inputs were hashed each time that they were read."""
        self._from_start = not stream.header.steps[0]
        self._opaque: list[bool] = []
        """Of each compiled graph that is running: whether it got something without a digest."""
        self._graphs: list[set[int]] = []
        """Causes of what went into each compiled graph that is running."""
        self._read: set[int] = set()
        """Causes of what the last op read."""
        self.records = self.equal = self.inherited = self.absorbed = self.forks = 0

    @property
    def quiet(self) -> bool:
        """Whether equal ops can change nothing that is known."""
        return not self._taints and not self._graphs

    def see(self, seen: Matched | Alike | Fork) -> None:
        """The next of both streams."""
        if isinstance(seen, Matched):
            self.records += 1
            self.equal += self._pair(seen)
        elif isinstance(seen, Alike):
            self.records += seen.count
            self.equal += seen.count
        else:
            self.forks += 1
            self._fork(seen)

    def _pair(self, at: Matched) -> bool:
        """Whether both are equal, numbers of storages left aside."""
        a, b = at.a.record, at.b.record
        if isinstance(a, CalledOp) and isinstance(b, CalledOp):
            return self._op(at, a, b)
        match a, b:
            case ReadValue(), ReadValue():
                if a.text != b.text:
                    self.suspects.leak(self._read)
                return a.text == b.text
            case GraphInputs(), GraphInputs():
                blame, _ = self._came_in(at, differing(a.digests, b.digests), None)
                self._graphs.append(blame)
                self._opaque.append(NO_CONTENT in a.digests)
            case GraphOutputs(), GraphOutputs():
                self._graph_ends(at, a, b)
            case CalledCollective(), CalledCollective():
                blame, _ = self._came_in(at, differing(a.inputs, b.inputs), None)
                self.collectives.called(a, blame)
            case BatchIndices(), BatchIndices():
                self._loading.picked(at, a, b)
            case BatchContent(), BatchContent():
                self._loading.came(at, a, b)
            case StepEnd(), StepEnd():
                self.generators.compare(at, a, b)
                self._taints.step_ends()
            case _:
                return self._state(at)
        return a == b

    def _state(self, at: Matched) -> bool:
        a, b = at.a.record, at.b.record
        match a, b:
            case Losses(), Losses():
                self.learned.state(at, "loss", a.digests, b.digests, None)
            case ModuleOutputs(), ModuleOutputs():
                name = self._stream.modules.get(a.module, str(a.module))
                what = None if "." in name else "outputs"
                self.learned.state(at, what, a.digests, b.digests, name)
            case ModuleGradients(), ModuleGradients():
                name = self._stream.modules.get(a.module, str(a.module))
                self.learned.state(at, "gradients", a.digests, b.digests, name)
            case Sums(), Sums():
                what = "gradients" if isinstance(a, Gradients) else "parameters"
                self.learned.sum(at, what, a, b, self._stream.parameters)
            case _:
                pass
        return a == b

    def _fork(self, fork: Fork) -> None:
        first = fork.a or fork.b
        if self.suspects.fork is None and first is not None:
            kind, site = self._forked(fork)
            self.suspects.fork = len(self.suspects)
            suspect = CauseCandidate(
                kind,
                first.step,
                fork.a.number if fork.a else self._stream.number,
                site=site,
                count=1,
                steps=[first.step],
            )
            self.suspects.found.append(suspect)

    def _forked(self, fork: Fork) -> tuple[CauseKind, Site | None]:
        """Tensors of other shapes are in another place of the program, unless only their order
        differs.
        """
        a, b = (placed.record if placed else None for placed in (fork.a, fork.b))
        does = {"A": (a, self._stream), "B": (b, self._other)}.get(fork.more or "")
        if does is not None and isinstance(does[0], CalledOp):
            return "structure", does[1].sites[does[0].site]
        if not isinstance(a, CalledOp) or not isinstance(b, CalledOp):
            return "structure", None
        site, its_site = self._stream.sites[a.site], self._other.sites[b.site]
        mine, its = both_contents(a.inputs, b.inputs)
        alike = (site.op, site.phase) == (its_site.op, its_site.phase)
        if alike and len(mine) > 1 and sorted(mine) == sorted(its):
            return "order", site
        return "structure", None

    def _op(self, at: Matched, a: CalledOp, b: CalledOp) -> bool:
        site = self._stream.sites[a.site]
        inputs = list(differing(a.inputs, b.inputs))
        blame, inherited = self._ordered(at, a, b, site), set[int]()
        if not blame:
            blame, inherited = self._came_in(at, inputs, site, a.outputs)
        drawn = self.generators.drawn(at, a, b, site)
        blame |= drawn
        self._read = blame
        if a.arguments != b.arguments and not self._graphs and self._is_own(a, b, blame):
            blame = blame | {self._argument(at, a, b, site)}
        outputs = both(a.outputs, b.outputs)
        changed = any(mine.content != its.content for mine, its in outputs)
        if self._graphs:
            self._graphs[-1] |= drawn
        elif changed and not blame:
            blame = {self._began(at, a, site)}
        self._taints.written(outputs, blame)
        if inputs and not changed:
            self.absorbed += 1
        elif inherited:
            self.inherited += 1
            for number in inherited:
                self.suspects[number].inherit(a.site, at.a.step)
        return not inputs and not changed and not blame

    def _ordered(self, at: Matched, a: CalledOp, b: CalledOp, site: Site) -> set[int]:
        """The cause, if the op got the same tensors in another order, and nothing known explains
        that.
        """
        mine, its = both_contents(a.inputs, b.inputs)
        if mine == its or sorted(mine) != sorted(its) or self._graphs or self._loading.now:
            return set()
        if any(self._taints.of(bits(text).storage) for text in a.inputs):
            return set()
        return {self._add(at, "order", site, arguments=a.arguments)}

    def _is_own(self, a: CalledOp, b: CalledOp, blame: set[int]) -> bool:
        """Whether arguments that differ are a cause beside `blame`: a number can follow from a
        value that the program took out of a tensor.
        """
        if not blame:
            return True
        mine, its = named_arguments(a.arguments), named_arguments(b.arguments)
        changed = [name for name in {**mine, **its} if mine.get(name) != its.get(name)]
        numbers = any(_is_number(mine.get(name)) for name in changed)
        return not numbers or not any(self.suspects[number].leaked for number in blame)

    def _graph_ends(self, at: Matched, a: GraphOutputs, b: GraphOutputs) -> None:
        """Note a graph that got equal inputs and gave different outputs: the cause is inside."""
        blame = self._graphs.pop() if self._graphs else set[int]()
        opaque = self._opaque.pop() if self._opaque else False
        if not blame and any(True for _ in differing(a.digests, b.digests)):
            certain = self._exact and not opaque
            number = self._add(at, "compiled", None, name=str(a.name), certain=certain)
            self.suspects[number].opaque |= opaque
            blame = {number}
        self._taints.written(both(a.digests, b.digests), blame)

    def _came_in(
        self,
        at: Matched,
        others: Iterable[tuple[int, Bits, Bits]],
        site: Site | None,
        outputs: Sequence[str] = (),
    ) -> tuple[set[int], set[int]]:
        """Causes of what differs among the inputs, and which of them a storage carried here."""
        blame: set[int] = set()
        inherited: set[int] = set()
        for where, mine, its in others:
            known = self._taints.of(mine.storage)
            letter = mine.letter if its.letter in ("", ".") else its.letter
            if known and letter != "x":
                inherited |= known
            else:
                arrival = self._arrival(letter, mine, outputs)
                found = self._new(at, letter, mine, site, where, arrival)
                self._taints.put(mine.storage, known | found)
                blame |= found
        return blame | inherited, inherited

    def _arrival(self, letter: str, mine: Bits, outputs: Sequence[str]) -> Arrival | None:
        if letter == "n":
            return self.collectives.lands(outputs)
        return self.collectives.brought(mine.storage) if letter == "r" else None

    def _new(
        self,
        at: Matched,
        letter: str,
        mine: Bits,
        site: Site | None,
        where: int,
        arrival: Arrival | None,
    ) -> set[int]:
        """Causes of an input that differs, and that no recorded op made differ. Inside a compiled
        graph there are none: the graph decides at its end.
        """
        if self._graphs:
            return set()
        if site is not None and site.phase == JITTED and len(self.suspects):
            return set(range(len(self.suspects)))  # no record tells what lies between two calls
        if arrival is not None:
            sent = self.collectives.sent.get((arrival.group, arrival.number))
            name = arrival.op
            return (
                set(sent)
                if sent
                else {self._add(at, "collective", None, name=name, arrival=arrival)}
            )
        if self._loading.now:  # other samples were picked: other parts of the same tensors
            return set(self._loading.now)
        kind = _BY_LETTER.get(letter, "outside-write")
        if self._stream.header.modules and kind != "uninitialised":
            return self._from_elsewhere(at, site)
        selected = kind == "outside-write" and letter != "x"
        if (kind == "outside-value" or selected) and self._loading.now is not None:
            kind = "data-content"
        certain = self._exact and (self._from_start or kind != "outside-value")
        shape = site.shapes[where] if site and where < len(site.shapes) else None
        return {self._add(at, kind, site, argument=shape, certain=certain, storage=mine.storage)}

    def _from_elsewhere(self, at: Matched, site: Site | None) -> set[int]:
        """Causes of what an op brought that was not recorded, since its module was not wanted: any
        of those that are known; else a cause before them all.
        """
        if len(self.suspects):
            return set(range(len(self.suspects)))
        name = site.module if site else None
        return {
            self.suspects.add(
                at, CauseCandidate("state", at.a.step, at.a.number, name=name), (name,)
            )
        }

    def _began(self, at: Matched, a: CalledOp, site: Site) -> int:
        """Equal inputs and other outputs: an op, or what a jitted function does inside."""
        jitted = site.phase == JITTED
        kind, name = ("compiled", site.op) if jitted else ("op", None)
        certain = self._exact and NO_CONTENT not in a.inputs
        more = {"certain": certain, "draws": a.generator is not None, "arguments": a.arguments}
        return self._add(at, kind, site, name=name, **more)

    def _argument(self, at: Matched, a: CalledOp, b: CalledOp, site: Site) -> int:
        mine, its = named_arguments(a.arguments), named_arguments(b.arguments)
        names = [name for name in {**mine, **its} if mine.get(name) != its.get(name)]
        name = names[0] if names else ""
        return self._add(
            at,
            "argument",
            site,
            arguments=a.arguments,
            argument=name,
            a=mine.get(name),
            b=its.get(name),
        )

    def _add(
        self, at: Matched, kind: CauseKind, site: Site | None, name: str | None = None, **more: Any
    ) -> int:
        suspect = CauseCandidate(kind, at.a.step, at.a.number, site=site, name=name, **more)
        if kind in FROM_OUTSIDE and kind != "argument":  # a value that was read may explain that
            suspect.may_follow = self._taints.alive()
        return self.suspects.add(at, suspect, place(site) if site else (name,))


def _is_number(text: str | None) -> bool:
    try:
        float(text or "")
    except ValueError:
        return False
    return True
