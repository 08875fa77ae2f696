# pyright: basic, reportArgumentType=false, reportAssignmentType=false
# ruff: noqa: RUF005, S102, S307, S606, SIM115
"""The worker: runs probes in a separate process and tells what it saw, one line each (see
`messages`).

One file, standard library only, Python 3.6: it is sent as text, together with the job, to whatever
interpreter has the framework (see `launch.program`). The framework is used only through the adapter
that the job brings along."""

import array
import faulthandler
import gc
import hashlib
import json
import math
import os
import signal
import statistics
import sys
import tempfile
import time
import warnings

PR_SET_PDEATHSIG = 1
CODES = {
    "float16": "h",
    "bfloat16": "h",
    "float32": "i",
    "complex64": "i",
    "float64": "q",
    "complex128": "q",
}
"""Float type -> an integer type of the same width, in which neighbours differ by one."""
INFINITE = {"float16": 0x7C00, "bfloat16": 0x7F80, "float32": 0x7F800000, "float64": 0x7FF << 52}
INFINITE.update({"complex64": INFINITE["float32"], "complex128": INFINITE["float64"]})
COMPARED = 3
"""Different results that are compared value by value in one process; further ones are only counted.
"""
SCRAMBLE_EVERY = 32
"""Calls before each of which memory is stirred; of later ones every eighth, for it takes longer
than most ops.
"""
CONTROLS = 8
ORDERS = 6
"""Shuffles that are tried until one changes the bits: a single number often rounds to the same."""
LEAST = 4
"""Repeats even where the time for a probe is used up."""
FEW = 12
"""Repeats that a probe gets within its own time, even where the process's time runs short."""
STARTED = "D9M_WORKER_STARTED"
"""Variable of a worker that has started itself again: it does so once, whatever others do to its
environment.
"""


class Inputs:
    """Values that are the same bits everywhere: a counter, mixed by splitmix64 in integer
    arithmetic.
    """

    def __init__(self, framework, spread):
        self.framework = framework
        self.spread = spread
        self.made = 0

    def _bits(self, count):
        """64 mixed bits for each of `count` counters; each call gives different ones."""
        self.made += 1
        mixed = self.framework.counters(count) + _signed(self.made * 0x9E3779B97F4A7C15 << 20)
        for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
            mixed = (mixed ^ ((mixed >> shift) & ((1 << (64 - shift)) - 1))) * _signed(factor)
        return mixed ^ ((mixed >> 31) & ((1 << 33) - 1))

    def _below(self, count, limit):
        return ((self._bits(count) >> 11) & ((1 << 52) - 1)) % limit

    def _floats(self, shape, spread):
        bits = self._bits(_product(shape))
        powers = self.framework.table([2.0**each for each in range(-spread, spread + 1)])
        size = powers[((bits >> 40) & 0xFFFF) % (2 * spread + 1)]
        real = self.framework.real
        value = (
            (1.0 + real((bits >> 8) & ((1 << 52) - 1)) / 2.0**52)
            * size
            * (1.0 - 2.0 * real((bits >> 3) & 1))
        )
        return value.reshape(shape)

    def wide(self, *shape):
        """Floats of many magnitudes, so that each order of a sum rounds differently."""
        return self._floats(shape, self.spread)

    def mild(self, *shape):
        """Floats near one, for what wide values would overflow or saturate."""
        return self._floats(shape, 1)

    def positive(self, *shape):
        return abs(self._floats(shape, 1))

    def zeros(self, *shape):
        return (self.framework.real(self.framework.counters(_product(shape))) * 0.0).reshape(shape)

    def hot(self, count, targets):
        """Indices of which sixteen do all the work."""
        return self._below(count, min(16, targets)) * (targets // min(16, targets))

    def dense(self, count, targets):
        """Indices that meet by chance, as birthdays do."""
        return self._below(count, targets)

    def unique(self, count, targets):
        """Indices that never meet: what uses them must not vary."""
        return self.framework.order(self._bits(targets))[:count]

    def ties(self, count, kinds):
        """Floats of which many are equal."""
        return self.framework.real(self._below(count, kinds))


def _product(shape):
    count = 1
    for size in shape:
        count *= size
    return count


def _signed(number):
    number &= (1 << 64) - 1
    return number - (1 << 64) if number >> 63 else number


class ProbeCase:
    """One probe on one rung of its ladder: inputs made, call compiled."""

    spent = 0.0
    """Seconds inside ops, over all cases of this process."""

    def __init__(self, framework, probe, rung, overrides=None, exact=False):
        self.framework = framework
        self.backward = probe["direction"] == "backward"
        self.gradient = probe["gradient"]
        place = framework.exactly if exact else framework.placed
        make = Inputs(framework, 4 if probe["dtype"] == "float16" else 12)
        make.made = probe["turn"]
        self.scope = dict(framework.names, **rung)
        self.scope["device"] = "cpu" if exact else framework.device
        for name in ("wide", "mild", "positive", "zeros", "hot", "dense", "unique", "ties"):
            self.scope[name] = getattr(make, name)
        self.place = lambda value: place(value, probe["dtype"])
        self.scope["place"] = self.place
        texts = dict(probe["inputs"], **(overrides or {}))
        self.values = {name: self.place(eval(text, self.scope)) for name, text in texts.items()}
        if probe["setup"]:
            exec(probe["setup"], self.scope)
        self.code = compile(probe["call"], probe["id"], "eval")
        if self.backward:
            shapes = framework.shapes(self.call(self.values))
            self.values["g"] = [self.place(make.mild(*shape)) for shape in shapes]

    def call(self, values):
        return eval(self.code, dict(self.scope, **values))

    def run(self, values=None):
        """The result: of the call, or of its gradients for an upstream gradient that is not a plain
        sum.
        """
        values = self.values if values is None else values
        if not self.backward:
            return self.framework.untracked(self.call, values)
        return self.framework.gradients(self.call, values, self.gradient, values["g"])

    def finished(self, values=None):
        """The result, once it is there, and the seconds that took."""
        began = time.perf_counter()
        found = self.run(values)
        self.framework.wait(found)
        took = time.perf_counter() - began
        ProbeCase.spent += took
        return found, took

    def moved(self, permute, reverse, turn):
        """The result with the same terms in another order, brought back to the old order of
        elements.
        """
        values = dict(self.values)
        spots = [(name, dim, self._shuffle(turn)) for name, dim in permute.items()]
        spots += [(name, dim, self._turned) for name, dims in reverse.items() for dim in dims]
        for name, dim, order in spots:
            if name == "g":
                values[name] = self._taken(values[name], dim, order)
            elif name != "out":
                values[name] = self._taken([values[name]], dim, order)[0]
        found = self.framework.parts(self.finished(values)[0])
        for name, dim, order in spots:
            if name == "out":
                found = self._taken(
                    found, dim, lambda count, order=order: self.framework.order(order(count))
                )
        return self.framework.raw(found)

    def _taken(self, several, dim, order):
        return [self.framework.take(each, order(int(each.shape[dim])), dim) for each in several]

    def _turned(self, count):
        return self.framework.counters(count) * -1 + (count - 1)

    def _shuffle(self, turn):
        """One order for all inputs that are shuffled together; they are equally long there."""
        make = Inputs(self.framework, 1)

        def order(count):
            make.made = 1000 + turn
            return make.unique(count, count)

        return order


def compare(first, other):
    """Elements that differ, all elements, the largest distance in units in the last place."""
    changed = total = 0
    furthest = None
    for (kind, one), (_kind, two) in zip(first, other):
        code = CODES.get(kind, "b")
        ones, twos = array.array(code, one), array.array(code, two)
        total += len(ones)
        if len(ones) != len(twos):
            changed += len(ones)
            continue
        places = [place for place, (left, right) in enumerate(zip(ones, twos)) if left != right]
        changed += len(places)
        for place in places if kind in CODES else ():
            left, right = ones[place], twos[place]
            if left & INFINITE[kind] != INFINITE[kind] and right & INFINITE[kind] != INFINITE[kind]:
                furthest = max(furthest or 0, abs(_ordinal(left, code) - _ordinal(right, code)))
    return changed, total, furthest


def _ordinal(bits, code):
    """Place of a float among all floats of its type."""
    return bits if bits >= 0 else -(bits & ((1 << (8 * array.array(code).itemsize - 1)) - 1))


def digest(leaves):
    found = hashlib.sha256()
    for kind, data in leaves:
        found.update(kind.encode())
        found.update(data)
    return found.hexdigest()[:24]


def repeated(case, wanted, budget, before, share=math.inf):
    """The same call again and again: what varied, by how much, how long one takes. `share`: seconds
    after which a few repeats are enough.
    """
    first, digests, times, seen = None, [], [], []
    began = None  # a framework may spend seconds on its very first call
    while len(digests) < wanted:
        spent = time.perf_counter() - began if began else 0.0
        enough = FEW if spent < budget else LEAST
        if len(digests) >= enough and spent >= min(budget, share):
            break
        leaves = None  # or the next result finds its own bytes again in freed memory
        before(len(digests))
        found, took = case.finished()
        began = began or time.perf_counter()
        times.append(took)
        leaves = case.framework.raw(found)
        del found
        if first is None:
            first = leaves
        if leaves == first:
            digests.append(digests[0] if digests else digest(leaves))
            continue
        digests.append(digest(leaves))
        if len(seen) < COMPARED:
            seen.append(compare(first, leaves))
    times = sorted(times[1:] or times)
    return {
        "digests": {each: digests.count(each) for each in dict.fromkeys(digests)},
        "changed": max([each[0] / max(1, each[1]) for each in seen], default=0.0),
        "max_ulp": max([each[2] for each in seen if each[2] is not None], default=None),
        "seconds": statistics.median(times),
        "quartiles": [times[len(times) // 4], times[3 * len(times) // 4]],
    }, first


def planted(first):
    """Whether a change of one unit in the last place is seen, and as one: the comparison proves
    itself.
    """
    for place, (kind, data) in enumerate(first):
        if kind in CODES and data:
            changed = bytes([data[0] ^ 1]) + data[1:]
            other = first[:place] + [(kind, changed)] + first[place + 1 :]
            seen = compare(first, other)
            return digest(first) != digest(other) and seen[0] == 1 and seen[2] in (1, None)
    return True


class Prober:
    """Runs the probes of one job."""

    def __init__(self, job):
        self.job = job
        self.probes = [dict(each["probe"], **each) for each in job["probes"]]
        self.share = math.inf
        self.scope, self.statements = {}, []
        self._make(early=True)
        gc.disable()  # a sixth of an import goes into looking for garbage that is not there
        exec(compile(job["adapter"], "adapter", "exec"), self.scope)
        gc.enable()
        self.framework = self.scope["Framework"](job["device"], job["threads"])
        self._make(early=False)

    def _make(self, early):
        """Make the settings that belong before the framework's import, or after."""
        for imports, text, before_import in self.job["statements"]:
            if before_import != early:
                continue
            try:
                for line in imports:
                    exec(line, self.scope)
            except ImportError:
                continue  # a seed of a library that is not here
            exec(text, self.scope)
            self.statements.append(compile(text, "setting", "exec"))

    def probe(self, probe):
        """Return what one probe showed: its ladder, up to the first rung that varies."""
        found = {}
        for rung in probe["rungs"]:
            found = self._rung(probe, rung)
            if len(found.get("digests", ())) > 1:
                break
        return found

    def _rung(self, probe, rung):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                found = self._observed(probe, rung)
            except Exception as error:
                found = {"raised": type(error).__name__ + ": " + " ".join(str(error).split())[:600]}
        found["rung"] = rung
        return found

    def _observed(self, probe, rung):
        if probe["requires"]:
            try:
                there = eval(probe["requires"], dict(self.framework.names))
            except Exception:
                there = False
            if not there:
                return {"absent": "this build lacks: " + probe["requires"]}
        case = ProbeCase(self.framework, probe, rung)

        def before(turn):
            if probe["reseed"]:
                for each in self.statements:
                    exec(each, self.scope)
            if turn < SCRAMBLE_EVERY or turn % 8 == 0:
                self.framework.stir(turn)

        found, first = repeated(case, self.job["repeats"], self.job["budget"], before, self.share)
        if self.job["proofs"]:
            found["planted"] = planted(first)
            found["moved"] = self._moved(case, probe, first)
            found["control"] = self._control(probe, rung, before)
            found["reference"] = self._reference(case, probe, rung)
        return found

    def _moved(self, case, probe, first):
        if not probe["permute"] and not probe["reverse"]:
            return None
        turns = range(ORDERS if probe["permute"] else 1)
        return any(case.moved(probe["permute"], probe["reverse"], turn) != first for turn in turns)

    def _control(self, probe, rung, before):
        if not probe["control"]:
            return None
        case = ProbeCase(self.framework, probe, rung, probe["control"])
        return len(repeated(case, CONTROLS, self.job["budget"], before)[0]["digests"])

    def _reference(self, case, probe, rung):
        if not probe["reference"]:
            return None
        try:
            exact = ProbeCase(self.framework, probe, rung, exact=True).finished()[0]
        except Exception:
            return None  # no double precision in this release
        found = self.framework.distance(case.finished()[0], exact)
        return found if math.isfinite(found["norm"]) else None


def limit_memory(spare):
    """Ask for no more than `spare` bytes beyond what is mapped now; a probe that wants more gets an
    error.
    """
    if spare and os.path.exists("/proc/self/statm"):
        import resource

        with open("/proc/self/statm") as file:
            mapped = int(file.read().split()[0]) * resource.getpagesize()
        hard = resource.getrlimit(resource.RLIMIT_AS)[1]
        limit = mapped + spare if hard == resource.RLIM_INFINITY else min(mapped + spare, hard)
        resource.setrlimit(resource.RLIMIT_AS, (limit, hard))


def survey(job, tell):
    """Tell what is installed and set here, and how much of the machine is free."""
    scope = {}
    exec(compile(job["text"], "survey", "exec"), scope)
    tell(dict(scope["survey"](job), event="survey"))


def fault(tell, error):
    tell(
        {"event": "fault", "why": type(error).__name__ + ": " + " ".join(str(error).split())[:600]}
    )


def work(job, tell):
    began = time.perf_counter()
    try:
        prober = Prober(job)
        facts = prober.framework.facts()
    except Exception as error:
        fault(tell, error)
        return
    tell({"event": "ready", "facts": facts, "seconds": time.perf_counter() - began})
    limit_memory(job["memory"])
    end = last_moment(job["seconds"], began)
    for place, probe in enumerate(prober.probes):
        prober.share = (end - time.perf_counter()) / (len(prober.probes) - place)
        tell({"event": "start", "key": probe["key"]})
        tell(
            {
                "event": "reading",
                "key": probe["key"],
                "reading": within(job["limit"], prober, probe),
            }
        )
    tell({"event": "end"})


def last_moment(seconds, began):
    """When a process should be done that may take so long. On a machine that is slow, the probes
    may take as long as the import did.
    """
    if seconds is None:
        return math.inf
    now = time.perf_counter()
    return max(began + seconds, now + (now - began))


def within(limit, prober, probe):
    """A probe's reading; the process ends itself where that takes too long."""
    faulthandler.dump_traceback_later(
        limit, exit=True
    )  # also where C code holds the interpreter's lock
    began, before = time.perf_counter(), ProbeCase.spent
    reading = prober.probe(probe)
    reading["took"], reading["in_ops"] = time.perf_counter() - began, ProbeCase.spent - before
    faulthandler.cancel_dump_traceback_later()
    return reading


def together(job, tell):
    """Every rank runs the same probes in the same order; the first tells what all of them saw."""
    try:
        meet(job, tell)
    except Exception as error:  # the others are gone, as a rule
        fault(tell, error)


def meet(job, tell):
    began = time.perf_counter()
    prober = Prober(job)
    exec(compile(job["group"], "group", "exec"), prober.scope)
    group = prober.scope["Group"](prober.framework, job)
    prober.framework.names.update(group.names)
    tell(
        {
            "event": "ready",
            "facts": prober.framework.facts(),
            "seconds": time.perf_counter() - began,
        }
    )
    group.say("report", job["text"])
    for probe in prober.probes:
        tell({"event": "start", "key": probe["key"]})
        group.say(probe["key"], json.dumps(within(job["limit"], prober, probe)))
    if group.rank == 0:
        readings = {}
        for probe in job["probes"]:
            readings[probe["key"]] = list(map(json.loads, group.heard(probe["key"])))
        tell({"event": "group", "reports": group.heard("report"), "readings": readings})
    group.leave()
    tell({"event": "end"})


def end_with(parent):
    """Die with the process that started this one, also where C code holds the interpreter's
    lock.
    """
    if parent is None or not sys.platform.startswith("linux"):
        return
    try:
        import ctypes

        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    except (ImportError, OSError, AttributeError):
        return
    if os.getppid() == 1 != parent:
        os._exit(1)  # it ended before we asked


PROGRAM = """
import sys
sys.path[:] = [place for place in sys.path if place]
import json
WORKER, JOB = {}, {}
scope = {{"__name__": "worker"}}
exec(compile(WORKER, "worker", "exec"), scope)
scope["start"](WORKER, JOB)
"""


def program(worker: str, job: str) -> str:
    """Return this file and a job as one program; no module of the current folder is imported."""
    return PROGRAM.format(json.dumps(worker), json.dumps(job))


def start_again(worker, job, variables):
    """Run this program from its beginning with other variables: some are read before its first
    line runs.
    """
    made = hasattr(os, "memfd_create")  # there may be no folder for temporary files
    file = os.fdopen(os.memfd_create("worker"), "w+b") if made else tempfile.TemporaryFile()
    file.write(program(worker, job).encode())
    file.flush()
    file.seek(0)
    os.dup2(file.fileno(), 0)
    os.execve(sys.executable, [sys.executable, "-"], variables)


def start(worker, job_text):
    """The way in: `worker` is this file, `job_text` the job."""
    job = json.loads(job_text)
    variables = {name: value for name, value in os.environ.items() if name not in job["unset"]}
    variables.update(job["env"])
    if os.environ.pop(STARTED, None) is None and variables != dict(os.environ):
        start_again(worker, job_text, dict(variables, **{STARTED: "1"}))
    for name in job["unset"]:
        os.environ.pop(name, None)
    os.environ.update(job["env"])
    end_with(job["parent"])
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what a framework prints is not an answer

    def tell(event):
        answers.write(job["token"] + " " + json.dumps(event) + "\n")
        answers.flush()

    faulthandler.enable()
    {"survey": survey, "probe": work, "group": together}[job["kind"]](job, tell)
    os._exit(0)  # a framework's own end may hang or crash, and says nothing of the ops
