"""The run folder: made, checked and listed. This text is where its format is written down.

    run.json       what was run, and how it ended: `RunInfo`
    r0-0.d9m       a stream for each process: rank, then a number that counts up
    errors.txt     faults of the recorder, sealed lines; only if there were any
    too-old.txt    versions of Python that the recorder does not run on, a line for each process
    processes.txt  sealed lines. Of each process that imported a framework: {"process": PID,
                   "imported": NAME}; of each that an exception ended: {"process": PID,
                   "error": TEXT, "file": NAME, "line": NUMBER}
    zoom/0/        a call that was asked for, with its values (`torch/zoom.py`); only from hunt's
                   last run
    zoom/kept-PID-0/ a call in the module that was to be kept, with its values and results

Files are readable for their owner alone. All but too-old.txt carry checksums
(`inject/_d9m_recorder/core/seals.py`): a line ends with a space and the CRC-32 of what comes before
it, as 8 hex digits, then the line break; the last key of `run.json` and of a saved call is
"checksum", of all bytes before its digits; a saved call has a checksum of each tensor. What does
not fit its checksum is damaged, and is refused. Format 1 had no checksums; it is refused, too.

A stream is text with one JSON value a line, shown here without its seal: the header (an object),
records (arrays whose first item is a letter), the tail (an object). A process that was killed
leaves no tail, and its last line may lack its end; such a line does not count. The number of a
record is the number of its line, the header being line 0.

    {"d9m_trace": 2, "level": "op", "inputs": "exact", "digest": "xxh3-64", "steps": [4, 4],
     "every": 1, "modules": [], "compiled": "as-is", "rank": 0, "process": 0, "parent": null,
     "argv": ["train.py"], "python": "3.11.7", "packages": {"torch": "2.13.0+cpu"},
     "device": "cpu", "gpu": null, "threads": 8, "hashseed": null, "env": {"OMP_NUM_THREADS": "8"},
     "deterministic": {"torch.use_deterministic_algorithms": false, "warn_only": false, ...},
     "generators": {"python": DIGEST, "numpy": DIGEST}}

`steps`: first and last step that are recorded, both included; null for an open end; `every`: one in
so many of these is recorded. Nothing at all is written outside of them. `modules`, at level op:
those whose ops are recorded, with what is in them and what encloses them; empty: all. `compiled` is
"eager" where compiled graphs ran op by op. `deterministic` has plain values by the name of the
setting; so has that of `t`. `generators` are the states before the first record, of those that were
used: a generator that still is as it was imported is left out. `env` has the variables that the
knowledge base knows, and of others with the same beginning, such as NCCL_, plain numbers and
digests; `hashseed` is PYTHONHASHSEED, `versions` those of all installed distributions, `cpu` the
processor's model and `instructions` what torch uses of it. `samples` is true under --samples. In
`argv`, `env` and the command of `run.json`, `***` stands for the value of a secret
(`inject/_d9m_recorder/core/private.py` says which are).

DIGEST is 16 hex digits (`xxh3-64`) or 8 (`crc32`), then a letter and the number of the storage:
`cb7661bd8cb9409e.12`; a sparse tensor goes by the storage of its values. What belongs to no storage
that the trace follows is without letter and number: `cb7661bd8cb9409e`. "-" stands for what has no
content: uninitialised memory (`-.12`), a tensor on the meta device. The letters of an
input:

    .   written or seen by the trace        n   never seen before: it came from outside
    u   uninitialised memory                x   changed since it was last seen, by no recorded op
    v   memory written in part              r   written by a collective

Of an output: `.`, or `+` where only a part of the storage was written. Numbers of storages begin
at 0 in each stream and are not used again.

    ["S", SITE, OP, OVERLOAD, PHASE, NODE, MODULE, SOURCE, SHAPES, DEVICE, CALLERS]
        A site: written once, before the first record that names it. OP is "aten::index_put"; PHASE
        one of fwd, bwd, recompute, opt, jit; NODE the autograd node ("" outside of bwd); MODULE the
        path of the module, beginning with the class of the outermost one ("" outside of modules;
        the optimizer's class in opt); SOURCE is [file, line, function] of the user's code, or null.
        CALLERS are lines of the program's own files that led there, the nearest first.
        SHAPES, "float32[64, 256]", has one entry for each input of the records, then one for each
        argument that is only overwritten, or only asked for its shape. Of a tensor whose elements
        do not lie in their order: "float32[8, 2] strides [1, 8]"; memory is digested as it lies.
    ["o", SITE, ARGUMENTS, [DIGEST of each input], [DIGEST of each output], GENERATOR]
        An op. ARGUMENTS: "accumulate=True, dim=1", those that are neither tensors nor the default.
        Outputs are the new tensors that it returned, then the arguments that it wrote. GENERATOR is
        [seed, digest of its state] before the call, for random ops only; the item is left out for
        others. Views are not recorded.
        PHASE is jit for a call of a jitted function of JAX from outside of any other: OP is its
        name, and SHAPES say which input each is: "batch['x'] float32[32, 8]". An array of JAX is
        its own storage. A key made of a seed is an `o` of OP jax.random.key with a GENERATOR.
        Where jitted functions ran op by op (`compiled` is "eager"), the digests after those of the
        inputs are arrays that JAX made of numbers and of NumPy's arrays, and OP of what follows is
        a primitive by JAX's name of it: "jax::scatter-add". MODULE is then the path of functions
        and named scopes; ARGUMENTS has `operand_1=0.5` of a number that the function was traced
        with. jax::cond and jax::while got what decided, and a `v` has the decision; jax::scan got
        the whole and gave a part for one turn, or put the turns together.
    ["z", DIGEST, "float32[64, 256]", COUNT, NORM, MOST, MEAN, [NAN, INF, -INF], [VALUE]]
                                   under --samples, before the record that has this digest first in
                                   a step: sizes of the finite elements in float64, and 64 elements
                                   at places that COUNT decides; null: not finite
    ["w", FOLDER]                  the next `o` is saved in zoom/FOLDER
    ["v", SITE, TEXT]              the value that was read from a tensor (`.item()`), as text, after
                                   the `o` of the op that read it
    ["M", MODULE, NAME]            a module's number, before the first record that names it
    ["m", MODULE, [DIGEST]]        a module returned these (level module; of the outermost one also
                                   where forward passes end steps, or may: under auto, before an
                                   optimizer or backward(); of JAX, a jitted function)
    ["h", MODULE, [DIGEST]]        gradients that came back to it
    ["P", [NAME]]                  the parameters of the next `i`, `g` and `p`, in their order
                                   (level module)
    ["c", NAME, [DIGEST]]          into a compiled graph
    ["e", NAME, [DIGEST]]          out of it: what it returned, then what it changed
    ["k", OP, GROUP, N, [DIGEST], [STORAGE]]
                                   the Nth collective of this group (from 0) was called: its inputs,
                                   and the numbers of the storages that it writes
    ["x", LOADER, DIGEST]          the indices of a batch, as they were picked
    ["b", LOADER, [DIGEST]]        a batch, as the program got it
    ["l", [DIGEST]]                `backward` was called on these
    ["i", DIGEST, [DIGEST]]        parameters before the first optimizer step that is recorded
    ["g", DIGEST, [DIGEST]]        gradients before an optimizer step
    ["p", DIGEST, [DIGEST]]        parameters after it
                                   i, g, p: one digest of all, then each one's, in the order of the
                                   optimizer's groups; the list is empty at level step, and "-"
                                   stands for a parameter without a gradient. The one of all is made
                                   of digests without letters, so it is the same at every level
    ["d", STEP, {GENERATOR: DIGEST}, RULE]
                                   step STEP ended: states of the generators that were used
                                   (torch, cuda:0, python, numpy); RULE is what ended it: optimizer,
                                   backward, forward, explicit, call (a jitted function of JAX was
                                   about to be called again), or end (the program ended)
    ["t", DETERMINISTIC, THREADS]  settings, where some have changed since the step began; the
                                   learning rates of an optimizer, where these have
    ["u", WHY]                     something could not be seen from here on: thread, cuda-graph,
                                   compiled, compiler (no op is recorded any more, so that
                                   torch.compile compiles, before PyTorch 2.9), mode, subclass
                                   (what a tensor holds that only its own class can take apart),
                                   level (nothing is recorded of it at this one), loop (of JAX, too
                                   long to run op by op, or of many iterations that end one by one),
                                   devices (what JAX runs on several at once is one op), size, fault

A TensorFlow program has the same records. OP is "tf.raw_ops.MatMul", MODULE the path of the Keras
layer, NODE is empty. Numbers are those of eager tensors, which never change, and of variables. "-"
also stands for what hides its content, as an iterator or a table. An op that draws without a seed
has GENERATOR ["not set", digest of what it drew]. `c` and `e` are a `tf.function`; `m` is what the
outermost one that trains returned, and M names it.

    {"ended": "exit", "steps": 20}

`ended` is `exit`, `steps` (the program was ended after the last step that was wanted) or `size`
(recording stopped, the program went on); a stream without a tail was killed. `steps` counts those
that ended, recorded or not.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from d9m import files
from d9m.about import __version__
from d9m.errors import DataError, UsageError, quote, reason
from d9m.trace.inject._d9m_recorder.core import private, seals, varying
from d9m.trace.whole_lines import WholeLines

FORMAT = seals.FORMAT
"""Of the folder and its streams. What an older or a newer d9m wrote is refused."""

ABOUT = "run.json"
ERRORS = "errors.txt"
TOO_OLD = "too-old.txt"
VARYING = varying.NOTES
PROCESSES = "processes.txt"
STREAMS = "r*-*.d9m"
ZOOM = "zoom"


class RunInfo(msgspec.Struct, frozen=True, kw_only=True):
    """The content of `run.json`."""

    d9m_run: int = FORMAT
    d9m: str = __version__
    command: tuple[str, ...]
    """As it was typed, without secrets; of a recording that the program began itself, what starts
    it again: empty for a notebook."""
    folder: str
    """Name of the working directory, without what is above it."""
    level: str
    started: str
    ended: str | None = None
    """None: it is still running, or d9m itself was killed."""
    exit_code: int | None = None
    """The program's, as a shell reports it; None where the program began the recording itself."""
    stopped: bool = False
    """Whether d9m ended the program, because it had seen enough."""
    env: dict[str, str] = {}
    """Variables that d9m set for the run, its own left out."""
    python: tuple[str, ...] = ()
    """Statements that d9m ran right after the framework's import."""


def make(path: Path, about: RunInfo, force: bool = False) -> None:
    """Make the folder of a run that is about to start.

    Raises UsageError where something is there already; with `force`, only where that is not a
    recording.
    """
    if path.exists():
        _clear(path, force)
    try:
        private.make_folder(str(path))
        write_about(path, about)
    except OSError as error:
        raise DataError(f"cannot write {quote(str(path))}: {reason(error)}") from None


def _clear(path: Path, force: bool) -> None:
    if not path.is_dir():
        raise UsageError(f"{quote(str(path))} is not a folder")
    names = sorted(entry.name for entry in path.iterdir())
    if not names:
        return
    if not force:
        raise UsageError(f"{quote(str(path))} is not empty", tip="--force replaces a recording")
    ours = {ABOUT, ERRORS, TOO_OLD, VARYING, PROCESSES, ZOOM}
    ours |= {file.name for file in path.glob(STREAMS)}
    foreign = [name for name in names if name not in ours]
    if ABOUT not in names or foreign:
        raise UsageError(
            f"{quote(str(path))} is not a recording alone, so --force does not replace it",
            tip=f"it also holds {quote(foreign[0])}" if foreign else f"it holds no {ABOUT}",
        )
    for name in names:
        entry = path / name
        shutil.rmtree(entry) if entry.is_dir() and not entry.is_symlink() else entry.unlink()


def write_about(path: Path, about: RunInfo) -> None:
    """Write `run.json`, whole or not at all. Raises OSError."""
    text = msgspec.json.format(msgspec.json.encode(about), indent=1)
    partial = path / f".{ABOUT}.{os.getpid()}"
    try:
        with open(partial, "wb", opener=private.open_file) as file:
            file.write(seals.document(text.decode()))
        partial.replace(path / ABOUT)
    finally:
        partial.unlink(missing_ok=True)


def begun(
    command: Sequence[str], level: str, env: Mapping[str, str] = {}, python: Sequence[str] = ()
) -> RunInfo:
    """Return what is known of a run when it starts, here and now."""
    return RunInfo(
        command=tuple(private.masked(command)),
        folder=Path.cwd().name,
        level=level,
        started=now(),
        env={name: private.masked_variable(name, value) for name, value in env.items()},
        python=tuple(python),
    )


def now() -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%S%z")


def about(path: Path) -> RunInfo:
    """Return the description in a run folder. Raises DataError where it is none, of another
    format, or damaged; so is one with damaged complaints.
    """
    if not path.is_dir():
        what = "is not a folder" if path.exists() else "does not exist"
        raise DataError(f"{quote(str(path))} {what}", tip="d9m trace -o RUN -- COMMAND makes one")
    try:
        content = files.content(path / ABOUT)
    except FileNotFoundError:
        raise DataError(f"{quote(str(path))} is not a recording: it has no {ABOUT}") from None
    except OSError as error:
        raise DataError(f"cannot read {quote(str(path / ABOUT))}: {reason(error)}") from None
    is_whole = seals.is_whole(content)
    _require_format(path, content, is_whole)
    if not is_whole:
        raise DataError(f"{quote(str(path / ABOUT))} is damaged: its checksum does not fit")
    complaints(path)
    try:
        return msgspec.json.decode(content, type=RunInfo)
    except files.UNREADABLE as error:
        raise DataError(f"{quote(str(path / ABOUT))} is damaged: {error}") from None


class _Version(msgspec.Struct):
    d9m_run: int
    checksum: str | None = None


def _require_format(path: Path, content: bytes, is_whole: bool) -> None:
    with contextlib.suppress(*files.UNREADABLE):
        found = msgspec.json.decode(content, type=_Version)
        if is_whole or found.checksum is None:
            require_format(path, found.d9m_run)


def require_format(path: Path, version: int) -> None:
    """Raises DataError for what an older or a newer d9m recorded."""
    if version < FORMAT:
        raise DataError(f"{quote(str(path))} was recorded by an older d9m; record it again")
    if version > FORMAT:
        raise DataError(
            f"{quote(str(path))} was recorded by a newer d9m (format {version}, not {FORMAT})",
            tip="install a newer d9m",
        )


def streams(path: Path) -> list[Path]:
    """The streams of a run, by rank and number."""
    return sorted(path.glob(STREAMS), key=_place)


def _place(stream: Path) -> tuple[int, int, str]:
    rank, _, number = stream.stem[1:].partition("-")
    if rank.isdecimal() and number.isdecimal():
        return int(rank), int(number), ""
    return -1, -1, stream.name


def complaints(path: Path) -> list[str]:
    """Return what the recorder could not do, a line each; none of an undisturbed run. Raises
    DataError where that is damaged.
    """
    file = path / ERRORS
    if not file.exists():
        return []
    lines = WholeLines(file)
    found = [line.decode("utf-8", "replace") for line in iter(lines.next, None)]
    return found or [f"{ERRORS} was cut off"]


def not_recorded(path: Path) -> list[str]:
    """A sentence for each version of Python that was started and that the recorder does not run
    on.
    """
    try:
        versions = set(files.text(path / TOO_OLD).split())
    except (OSError, UnicodeDecodeError):
        return []
    known = sorted(version for version in versions if re.fullmatch(r"\d\.\d{1,2}", version))
    return [
        f"A child of Python {version} was not recorded: the recorder needs 3.8 or newer."
        for version in known
    ]
