"""How much of the difference of two recordings rounding explains: the first op that exceeds it.

One rule for every op. Let u be the unit roundoff of the output's dtype, u' = min(u, 2**-24), since
kernels for shorter dtypes accumulate in float32, and n the number of elements that are summed. Then
rounding explains a difference of

    8 (u + sqrt(n) u') S  +  8 (what the differences of the inputs become)

The first part is the bound of N. Higham and T. Mary, "A New Approach to Probabilistic Rounding
Error Analysis", SIAM J. Sci. Comput. 41 (2019), A2815-A2835: whatever the order of a sum, its error
grows with sqrt(n) u. Of a spread that is known by its root mean square, at most 1/64 of the
elements are further off than 8 times that (Chebyshev).

S is the size of what is computed with, so that cancellation is no fault. It is the largest of the
root mean square of the output, of a sum's terms, and of the gradient that a backward op gets. Of a
product of matrices A and B with m elements, S = |A| |B| / sqrt(n m), n = sqrt(size(A) size(B) / m),
and differences of the inputs grow as in |dA| |B| + |A| |dB| (N. Higham, Accuracy and Stability of
Numerical Algorithms, 2nd ed., section 3.5). Of other ops n is the largest dimension of an input or
the number of its elements for each of the output's; differences of the inputs count by their
relative and by their absolute size (the condition of exp), and by those of the same element.

The difference of an input is the largest that its samples, norm and mean show. That of an output is
seen in its samples, of which one in 32 may exceed: a comparison may turn out differently after
rounding, and then an element is another one altogether. Integers that differ because of that
explain all that is computed with them.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import TypeAlias

from d9m import exit_codes
from d9m.errors import ExitCode
from d9m.trace.align import Fork, Matched, align
from d9m.trace.causes_found import at_site
from d9m.trace.findings import Cause, CauseKind, Findings, ModuleDifference, Tolerance
from d9m.trace.memory import Bits, bits
from d9m.trace.process import name
from d9m.trace.reading import RecordStream
from d9m.trace.stream_records import (
    BatchContent,
    CalledOp,
    GraphInputs,
    GraphOutputs,
    ReadValue,
    Site,
    StepEnd,
    StreamRecord,
    Sums,
    TensorSample,
)

FACTOR = 8.0
ACCUMULATED = 2.0**-24
UNITS = {
    "float64": 2.0**-53, "complex128": 2.0**-53, "float32": 2.0**-24, "complex64": 2.0**-24,
    "float16": 2.0**-11, "bfloat16": 2.0**-8, "float8_e4m3fn": 2.0**-4, "float8_e5m2": 2.0**-3,
}  # fmt: skip
"""Unit roundoff by dtype; other dtypes do not round."""
PRODUCTS = ("mm", "mv", "matmul", "dot", "linear", "conv", "attention", "einsum", "rnn", "lstm")
SUMS = ("add", "sub", "sum", "mean", "loss", "lerp", "var", "std")
"""Parts of the names of ops that multiply matrices, and of those that add."""
OTHER = math.inf
"""Relative difference of tensors that are not the same part of the program."""
OUTLIERS = 32
"""One sample in so many may exceed."""

LEARNED = BatchContent, GraphOutputs, Sums

UNSAMPLED = "the recordings hold no samples: record both with d9m trace --samples -o RUN -- COMMAND"
ONLY_TORCH = "samples are recorded of PyTorch programs only"


KeptCalls: TypeAlias = tuple[int, str, tuple[str | None, str | None]]
"""Line of run A, op, and the folders with whole tensors of both runs; None: it has no such call."""


class Pair:
    """A tensor in both runs, as it was sampled, and how far the two are known to be apart."""

    def __init__(self, a: TensorSample, b: TensorSample, differs: bool) -> None:
        self.a, self.b, self.differs = a, b, differs
        self.odd = a.odd != b.odd
        self.dtype, _bracket, sizes = a.about[:-1].partition("[")
        self.comparable = (self.dtype, a.count) == (b.about.partition("[")[0], b.count)
        self.unit = UNITS.get(self.dtype, 0.0)
        self.longest = max(map(int, sizes.split(", "))) if sizes else 1
        self.count = max(1, a.count)
        self.norm = max(a.norm, b.norm)
        self.rms = self.norm / math.sqrt(self.count)
        self.values = [((x or 0.0), (y or 0.0)) for x, y in zip(a.values, b.values)]
        self.sampled = _rms(x - y for x, y in self.values)
        self.norms = abs(a.norm - b.norm) / math.sqrt(self.count)
        means = abs(a.mean - b.mean) * math.sqrt(self.count)
        furthest = max((abs(x - y) for x, y in self.values), default=0.0) / FACTOR
        known = max(self.sampled, furthest, self.norms, means, self.unit * self.rms)
        self.distance = known if differs else 0.0
        self.relative = self.distance / self.rms if self.rms else float(differs)

    def exceeds(self, scale: float, rounding: float, carried: float, peers: Sequence[Pair]) -> bool:
        """Whether too many samples are further apart than rounding them, or a tensor of this scale,
        explains, with what was carried from all of the inputs and from the same elements.
        """
        outliers = 0
        for place, (one, other) in enumerate(self.values):
            size = max(abs(one), abs(other))
            element = FACTOR * size * sum(peer.of_element(place) for peer in peers)
            outliers += abs(one - other) > rounding * max(size, scale) + carried + element
        return outliers > len(self.values) // OUTLIERS

    def of_element(self, place: int) -> float:
        one, other = self.values[place]
        return abs(one - other) / (max(abs(one), abs(other)) or 1.0)


def limit(site: Site, given: Sequence[Pair], made: Pair) -> tuple[float, float, float]:
    """Return the scale of an op's output, its relative rounding, and what its inputs carry."""
    op, size, scale, length = site.op.partition("::")[2], made.count, made.rms, 1.0
    if len(given) > 1 and any(part in op for part in PRODUCTS):
        *added, one, other = sorted(given, key=lambda pair: pair.count)
        length = max(length, math.sqrt(one.count * other.count / size))
        product = one.norm * other.norm / math.sqrt(size)
        scale = max(scale, product / math.sqrt(length), *(pair.rms for pair in added))
        carried = (one.relative + other.relative) * product + sum(pair.distance for pair in added)
    else:
        is_backward = site.phase == "bwd"
        adds = is_backward or any(part in op for part in SUMS)
        for pair in given[:1] if is_backward else given:
            if adds or pair.count > size:
                scale = max(scale, pair.norm / math.sqrt(size), pair.rms)
        carried = 0.0
        for pair in given:
            length = max(length, pair.longest, pair.count / size)
            grown = math.sqrt(max(1.0, pair.count / size))
            carried += scale * (pair.relative * grown + pair.distance)
    return scale, rounding(made.unit, length), FACTOR * carried


def rounding(unit: float, length: float) -> float:
    return FACTOR * (unit + math.sqrt(length) * min(unit, ACCUMULATED))


def _rms(differences: Iterable[float]) -> float:
    squares = [difference * difference for difference in differences]
    return math.sqrt(sum(squares) / len(squares)) if squares else 0.0


class _Unmatched:
    """Calls of each run without a counterpart in the other, since a step began."""

    def __init__(self) -> None:
        self.sites: tuple[list[Site], list[Site]] = [], []
        self.length = 1
        """Elements of the largest tensor: more are not summed."""
        self.relative = 0.0
        """The largest difference of a tensor that was read."""

    def only(self, part: int) -> list[dict[str, Site]]:
        """Return the dtypes (0) or the shapes (2) that only one of the runs has, and where. Dtypes
        that do not round do not count.
        """
        found: list[dict[str, Site]] = [{}, {}]
        for side, sites in zip(found, self.sites):
            for site in sites:
                for shape in site.shapes:
                    text = shape.partition("]")[0].partition("[")[part]
                    if part or text in UNITS:
                        side.setdefault(text, site)
        shared = found[0].keys() & found[1].keys()
        return [{text: side[text] for text in side if text not in shared} for side in found]


class RoundingWalker:
    """Follows one process through both recordings up to the first difference that is no rounding,
    and measures what comes after it.
    """

    def __init__(self, a: RecordStream, b: RecordStream, causes: Iterable[Cause]) -> None:
        self._streams = a, b
        self._causes = {cause.record: cause for cause in causes if cause.process == name(a)}
        self.first: tuple[Cause, float, float] | None = None
        """The first excess, its size, and the size that rounding explains."""
        self.differs = False
        self.unjudged: str | None = None
        """Why something could not be compared."""
        self.modules: dict[str, tuple[float, float]] = {}
        self.kept: list[KeptCalls] = []
        self._followed: tuple[dict[int | None, float], dict[int | None, float]] = {}, {}
        """Storages whose difference is known -> its relative size."""
        self._unmatched: _Unmatched | None = None
        self._read_differs = False
        """Whether the program read a number that differs: what it makes of it is no fault."""

    def walk(self, steps: tuple[int, int] | None) -> None:
        """Compare all records; `steps` are the first ones of each run."""
        for seen in align(*self._streams, lambda: True, steps):
            if isinstance(seen, Fork):
                self._fork(seen)
            elif isinstance(seen, Matched):
                self._matched(seen, seen.a.record, seen.b.record)

    def _matched(self, at: Matched, a: StreamRecord, b: StreamRecord) -> None:
        if isinstance(a, CalledOp) and isinstance(b, CalledOp):
            self._op(at, a, b)
        elif isinstance(a, ReadValue):
            self._read_differs |= a != b
        elif isinstance(a, StepEnd):
            self._unmatched = None
        elif isinstance(a, GraphInputs) and isinstance(b, GraphInputs):
            self._unmatched = self._unmatched or _Unmatched()
            self._reads(self._unmatched, 0, a.digests)
            self._reads(self._unmatched, 1, b.digests)
        elif isinstance(a, LEARNED) and isinstance(b, LEARNED):
            self._arrive(at, a.digests, b.digests, None)

    def _fork(self, fork: Fork) -> None:
        self.differs = True
        if fork.records == ((), ()):
            self.unjudged = self.unjudged or "one run goes on after the end of the other"
        found = self._unmatched = self._unmatched or _Unmatched()
        for side, records in enumerate(fork.records):
            for placed in records:
                call = placed.record
                if isinstance(call, CalledOp):
                    found.sites[side].append(self._streams[side].sites[call.site])
                    folders: list[str | None] = [None, None]
                    folders[side] = self._streams[side].kept.get(placed.number)
                    self._keep(fork.a.number if fork.a else 0, found.sites[side][-1], *folders)
                    self._reads(found, side, [*call.inputs, *call.outputs])
                    for text in call.outputs:
                        self._followed[side].pop(bits(text).storage, None)

    def _keep(self, line: int, site: Site, mine: str | None, its: str | None) -> None:
        if mine or its:
            self.kept.append((line, site.op, (mine, its)))

    def _reads(self, found: _Unmatched, side: int, texts: Sequence[str]) -> None:
        for each in map(bits, texts):
            sample = self._streams[side].samples.get(each.content)
            found.length = max(found.length, sample.count if sample else 1)
            known = self._followed[side].get(each.storage, 0.0)
            found.relative = max(found.relative, 0.0 if known == OTHER else known)

    def _pair(self, mine: Bits, its: Bits) -> Pair | None:
        """None where no sample was recorded."""
        a, b = (each.samples.get(one.content) for each, one in zip(self._streams, (mine, its)))
        return Pair(a, b, mine.content != its.content) if a and b else None

    def _op(self, at: Matched, a: CalledOp, b: CalledOp) -> None:
        site = self._streams[0].sites[a.site]
        mine, its = self._streams[0].kept, self._streams[1].kept
        self._keep(at.a.number, site, mine.get(at.a.number), its.get(at.b.number))
        self._arrive(at, a.inputs, b.inputs, site)
        is_other = any(self._followed[0].get(bits(text).storage) == OTHER for text in a.inputs)
        if a.arguments != b.arguments and site.phase != "opt":
            is_other = is_other or self._is_split()  # the loss of a part of the batch is scaled
        read = [self._pair(bits(one), bits(other)) for one, other in zip(a.inputs, b.inputs)]
        for place, (mine, its) in enumerate(zip(map(bits, a.outputs), map(bits, b.outputs))):
            if mine.content != its.content:
                pair = self._pair(mine, its)
                self._follow(mine, its, None if is_other else pair)
                if pair is None or not pair.comparable:
                    self._leave_out(site)
                elif not is_other:
                    given = _given(site, read, place, len(a.outputs))
                    self._judge(at, site, [each for each in given if each], pair)

    def _judge(self, at: Matched, site: Site, given: Sequence[Pair], pair: Pair) -> None:
        rounds = [each for each in given if each.unit]
        scale, most, carried = limit(site, rounds, pair)
        if site.module and scale and site.phase != "opt":
            norms, samples = self.modules.get(site.module, (0.0, 0.0))
            sizes = max(norms, pair.norms / scale), max(samples, pair.sampled / scale)
            self.modules[site.module] = sizes
        cause = self._causes.get(at.a.number)
        inexact = cause is not None and cause.kind == "argument" and _is_inexact(cause)
        if pair.odd and not any(each.odd for each in given):
            cause = self._cause(at, "op", *map(_odd, (pair.a, pair.b)))
        elif not inexact:
            if any(each.differs and not (each.unit and pair.unit) for each in given):
                return  # after rounding, a comparison turned out differently
            peers = [each for each in rounds if each.count == pair.count and each.differs]
            if not pair.exceeds(scale, most, carried, peers):
                return
        cause = cause or self._cause(at, "op")
        self._found(cause, site, pair, scale, 0.0 if inexact else most * scale + carried)

    def _arrive(self, at: Matched, a: Sequence[str], b: Sequence[str], site: Site | None) -> None:
        """Judge tensors that differ, and that no op of both runs wrote. Those of one record are
        measured by the largest: a gradient that is zero but for rounding is no fault.
        """
        came: list[tuple[Bits, Bits, Pair | None]] = []
        for mine, its in zip(map(bits, a), map(bits, b)):
            if mine.content != its.content and not self._is_followed(mine, its, site):
                came.append((mine, its, self._pair(mine, its)))
        scale = max((pair.rms for _mine, _its, pair in came if pair), default=0.0)
        for mine, its, pair in came:
            if pair is None or not pair.comparable:
                self._leave_out(site)
            elif site is not None and mine.letter != "n" and self._is_split():
                pair = None
            else:
                self._judge_arrival(at, site, pair, scale, mine.letter == "n")
            self._follow(mine, its, pair)

    def _judge_arrival(
        self, at: Matched, site: Site | None, pair: Pair, scale: float, is_new: bool
    ) -> None:
        other = self._unmatched
        most, carried = rounding(pair.unit, other.length if other else 0.0), 0.0
        cause = self._cause(at, "outside-value")
        if other is not None and not is_new:
            carried = FACTOR * scale * other.relative
            said = map(_odd, (pair.a, pair.b)) if pair.odd else ()
            cause = self._cause(at, "structure", *said)
            site = next(iter([*other.sites[0], *other.sites[1]]), site)
            for run, dtypes in zip("AB", other.only(0)):
                for dtype in dtypes.keys() - {pair.dtype}:
                    cause, site = self._cause(at, "structure", run, None, dtype), dtypes[dtype]
        if pair.odd or pair.exceeds(scale, most, carried, ()):
            if cause.kind == "structure" and not pair.odd and self._is_split():
                self._leave_out(site)
            elif cause.kind == "structure" or not self._read_differs:
                self._found(cause, site, pair, scale, most * scale + carried)

    def _is_split(self) -> bool:
        """Whether each run has shapes that the other has not, as with a batch in parts: what they
        compute in between is not to be compared.
        """
        other = self._unmatched
        return other is not None and all(other.only(2)) and not any(other.only(0))

    def _is_followed(self, mine: Bits, its: Bits, site: Site | None) -> bool:
        if "r" in (mine.letter, its.letter):  # another rank wrote it, and is judged itself
            return True
        known = [one.get(each.storage) for one, each in zip(self._followed, (mine, its))]
        if None in known or (site is None and OTHER in known):
            return False
        return "x" not in (mine.letter, its.letter)

    def _follow(self, mine: Bits, its: Bits, pair: Pair | None) -> None:
        """Note two tensors that differ; None: they are not the same part of the program."""
        self.differs = True
        for side, one in zip(self._followed, (mine, its)):
            if one.storage is not None:
                side[one.storage] = pair.relative if pair else OTHER

    def _leave_out(self, site: Site | None) -> None:
        where = f" from {site.op}{f' in {site.module}' if site.module else ''} on" if site else ""
        self.unjudged = self.unjudged or f"the runs compute with different shapes or dtypes{where}"

    def _cause(self, at: Matched, kind: CauseKind, *said: str | None) -> Cause:
        a, b, argument = (*said, None, None, None)[:3]
        process, step, record = name(self._streams[0]), at.a.step, at.a.number
        return Cause(
            kind=kind, process=process, step=step, record=record, a=a, b=b, argument=argument
        )

    def _found(
        self, cause: Cause, site: Site | None, pair: Pair, scale: float, explained: float
    ) -> None:
        located = at_site(cause, site) if site else cause
        scale = scale or 1.0
        self.first = self.first or (located, pair.sampled / scale, explained / scale)


def _odd(sample: TensorSample) -> str:
    return f"{sum(sample.odd)} of {sample.count}"


def _given(site: Site, read: Sequence[Pair | None], place: int, outputs: int) -> list[Pair | None]:
    """Return the inputs of an output: of an op on lists, those at its place."""
    if "_fused_" in site.op:
        wanted = site.shapes[place % len(site.shapes)]
        return [each for each, shape in zip(read, site.shapes) if shape == wanted]
    if "_foreach_" in site.op and len(read) >= outputs:
        end = len(read) - len(read) % outputs
        return [*read[place:end:outputs], *read[end:]]
    return list(read)


def _is_inexact(cause: Cause) -> bool:
    """Whether an argument is a number with a fraction that differs by more than rounding."""
    try:
        one, other = (float(text or "") for text in (cause.a, cause.b))
    except ValueError:
        return False
    whole = one.is_integer() and other.is_integer()
    return not whole and abs(one - other) > FACTOR * ACCUMULATED * max(abs(one), abs(other))


def tolerance(
    found: Findings,
    pairs: Sequence[tuple[RecordStream, RecordStream]],
    steps: tuple[int, int] | None,
) -> tuple[Tolerance, list[KeptCalls]]:
    """Return whether rounding explains what differs between two runs that were compared, and the
    calls of which both saved whole tensors.
    """
    headers = [stream.header for pair in pairs for stream in pair]
    known = {"python"}.union(*({**each.packages, **each.versions} for each in headers))
    packages = [setting for setting in found.settings if setting.name in known]
    why = None if headers and all(header.samples for header in headers) else UNSAMPLED
    if headers and not any("torch" in header.packages for header in headers):
        why = ONLY_TORCH
    if why is not None:
        return Tolerance("unknown", why, packages), []
    walkers = [RoundingWalker(a, b, [*found.causes, *found.harmless]) for a, b in pairs]
    for walker in walkers:
        walker.walk(steps)
    why = next((walker.unjudged for walker in walkers if walker.unjudged), None)
    modules = [
        ModuleDifference(module, *sizes)
        for walker in walkers
        for module, sizes in walker.modules.items()
    ]
    above = [(walker.first, walker.kept) for walker in walkers if walker.first]
    if above:
        (cause, size, explained), kept = min(above, key=lambda each: each[0][0].step)
        return Tolerance("above", why, packages, cause, size, explained, modules), kept
    same = not any(walker.differs for walker in walkers)
    verdict = "unknown" if why or not found.complete else "equal" if same else "rounding"
    return Tolerance(verdict, why, packages, modules=modules), []


def exit_code(found: Tolerance) -> ExitCode:
    return exit_codes.exit_code(
        exit_codes.CommandResult(
            has_findings=found.verdict == "above", is_incomplete=found.verdict == "unknown"
        )
    )
