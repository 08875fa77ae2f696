"""Put broken and hostile input to every door of d9m: each is answered, or refused with an error of
ours, and soon; and what was not understood is not answered as if it had been.

    python tests/fuzzing.py --count 100000 --seed 1 [--door NAME ...]

An input is made from an example, by the seed and its number alone: what fails is made again with
`--only NUMBER`."""

from __future__ import annotations

import argparse
import collections
import contextlib
import io
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback
import warnings
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any
from unittest import mock

import msgspec

from d9m import api
from d9m.check import against
from d9m.check.result import AgainstResult, OddResult, RankDevice, Report, exit_code
from d9m.check.settings import SettingCheck
from d9m.cli import advise_command
from d9m.cli import main as command
from d9m.environment import package_files
from d9m.environment.environment import Setup, describe
from d9m.errors import D9mError, DataError, ExitCode
from d9m.exit_codes import UNTESTABLE
from d9m.kb import compiled, measured_costs, soundness, yaml_files
from d9m.kb.kinds import BY_NAME
from d9m.kb.store import KnowledgeBase
from d9m.model import op_syntax
from d9m.model.runs import Run
from golden import KB, knowledge_base

sys.path += [str(Path(__file__).with_name(room)) for room in ("check", "trace")]

from test_ranks import report
from written import HEADER, write

from command_lines import command_line, commands

HOSTILE: tuple[Any, ...] = (
    "", " ", "\0", "\n", "\x1b[2J", "\u202e", "\ud800", "é" * 200, "9" * 5000, "1" * 20, "-1",
    "1e999", "nan", "../../etc/passwd", "$(touch x)", "a;b", "'", '"', "`", "{", "[" * 3000, "]",
    "(", "(" * 600, ":", ",", "=", "@", "*", "?", "%s", "{0}", "1!1", "2.0.dev1", "v", ".", "..",
    "0", "true", "null", "~", "&a", "*a", "!!x", "<script>", "|", "\\", "\u00b2", "\u0661",
    None, True, 0, -1, 1 << 70, -(1 << 70), 1e308, 0.5, [], {},
    [[]], {"": {}}, [None], ["a", "a"],
)  # fmt: skip
"""Values that programs stumble over."""

TEXTS = tuple(value for value in HOSTILE if isinstance(value, str))

Door = Callable[[random.Random, str], None]


class FailOpenError(AssertionError):
    """A good answer to what was not understood."""


def mutated(chance: random.Random, text: str) -> str:
    """The text with one to four faults."""
    for _ in range(chance.randint(1, 4)):
        first = chance.randrange(len(text) + 1)
        last = min(len(text), first + int(chance.expovariate(0.2)))
        part = text[first:last]
        kind = chance.randrange(6)
        if kind == 0:
            part = ""
        elif kind == 1:
            part = part * chance.choice((2, 3, 50))
        elif kind == 2:
            part += chance.choice(TEXTS)
        elif kind == 3:
            part = chance.choice(TEXTS)
        elif kind == 4:
            part = "".join(chr(ord(letter) ^ 1 << chance.randrange(7)) for letter in part)
        else:
            part = part[::-1]
        text = (text[:first] + part + text[last:])[:200_000]
    return text


def replanted(chance: random.Random, tree: Any) -> Any:
    """The tree with a hostile value, without a branch, or with a branch twice."""
    if not isinstance(tree, (dict, list)) or not tree or chance.random() < 0.05:
        alike = [value for value in HOSTILE if type(value) is type(tree)]
        return chance.choice(alike if alike and chance.random() < 0.8 else HOSTILE)
    keys = list(tree) if isinstance(tree, dict) else range(len(tree))
    place = chance.choice(list(keys))
    kind = chance.randrange(8)
    if isinstance(tree, dict):
        copy: Any = dict(tree)
        if kind == 1:
            copy[chance.choice(TEXTS)] = copy[place]
    else:
        copy = list(tree)
        if kind == 1:
            copy.insert(place, copy[place])
    if kind == 0:
        del copy[place]
    elif kind > 1:
        copy[place] = replanted(chance, copy[place])
    return copy


def document(chance: random.Random, text: str) -> bytes:
    """JSON that is right but for its values, or no JSON any more."""
    tree = json.loads(text)
    for _ in range(chance.choice((1, 1, 1, 2, 3))):
        tree = replanted(chance, tree)
    found = json.dumps(tree, ensure_ascii=chance.random() < 0.5)
    if chance.random() < 0.1:
        found = mutated(chance, found)
    return found.encode("utf-8", "surrogatepass")


def noise(chance: random.Random) -> str:
    """Text that means nothing to anybody."""
    words = ("".join(chance.choices("qxzjkvw", k=5)) for _ in range(chance.randint(1, 9)))
    return chance.choice((" ", "\n", "\0", ";")).join(words)


class Hostile:
    """Tables of which some values are hostile, as a file with right checksums may hold them."""

    def __init__(self, kb: KnowledgeBase, chance: random.Random) -> None:
        self.right = kb._storage
        self.chance = chance

    def get(self, table: str, key: str, type_: Any) -> Any:
        found = self.right.get(table, key, type_)
        if found is None or self.chance.random() > 0.02:
            return found
        data = document(self.chance, msgspec.json.encode(found).decode())
        return compiled._decode(data, type_, "fuzzed")

    def keys(self, table: str) -> Any:
        return self.right.keys(table)


class Doors:
    """Everything that reads what somebody wrote. Each door says when an answer is good (exit code
    0): otherwise `FailOpenError`.
    """

    def __init__(self, folder: Path) -> None:
        self.kb = knowledge_base()
        self.folder = folder
        self.torch = Setup((("torch", "2.4"),), device="cuda")
        self.runs = KB / "evidence" / "runs"
        self.records = [
            path
            for path in sorted(KB.rglob("*.yaml"))
            if path.parent != KB and path.stat().st_size < 20_000 and path.parent.name != "evidence"
        ]
        self.wrote = 0
        self.commands = commands()
        del self.commands[("mcp",)]  # a server, which needs its event loop: tests/agents
        del self.commands[("kb", "fresh")]  # asks an index: tests/authoring
        self.place = folder / "place"
        self.template = folder / "template"
        self._fill(self.template)

    def _fill(self, folder: Path) -> None:
        """What a project may hold."""
        folder.mkdir()
        for name, text in _PROJECT.items():
            (folder / name).write_text(text)
        (folder / "report.json").write_text(_report())
        (folder / "digests.json").write_text(_digests(_report()))
        write(folder / "a", {"r0-0": _RECORDING.splitlines()}, {})
        shutil.copytree(folder / "a", folder / "b")
        shutil.copytree(Path(__file__).parent / "render" / "kb", folder / "kb")

    def project(self) -> Path:
        """A fresh copy."""
        shutil.rmtree(self.place, ignore_errors=True)
        shutil.copytree(self.template, self.place)
        return self.place

    def run(self, *words: str, stdin: bytes = b"") -> int:
        """The exit code of a whole command, in the project. No program can be started there, and
        nothing but a documented code and printable text comes out of it.
        """
        out, err = io.StringIO(), io.StringIO()
        with contextlib.ExitStack() as stack, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            stack.enter_context(contextlib.chdir(self.place))
            variables = {"D9M_KB": "kb", "TMPDIR": str(self.folder), "HOME": str(self.folder)}
            for patch in (
                *(_opening(self.kb) if words[:1] != ("kb",) else ()),  # those read all records
                mock.patch.object(sys, "argv", ["d9m", *words]),
                mock.patch.object(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin))),
                mock.patch.object(subprocess, "Popen", side_effect=FileNotFoundError(2, "none")),
                mock.patch.dict(os.environ, variables),
                contextlib.redirect_stdout(out),
                contextlib.redirect_stderr(err),
            ):
                stack.enter_context(patch)
            code = command._run()
        skips = "--bisect" in words and code == UNTESTABLE
        assert skips or code in list(ExitCode), f"{words} ends with {code}"
        said = err.getvalue()
        assert "Traceback" not in said, said
        assert said.replace("\n", "").replace("\t", "").isprintable(), f"unprintable: {said!r}"
        assert said or out.getvalue() or code == ExitCode.ANSWERED, f"{words} ends without a word"
        return code

    def expect(self, is_good: bool, *words: str, stdin: bytes = b"") -> None:
        """Run a command that ends with 0 only if `is_good`."""
        if self.run(*words, stdin=stdin) == ExitCode.ANSWERED and not is_good:
            raise FailOpenError(f"d9m {' '.join(words)!r} ends with 0")

    def examples(self) -> dict[str, tuple[Door, Sequence[str]]]:
        """Name of a door -> what goes through it, and right input to begin with."""
        packages = [
            "2.4.1+cu121",
            "2.2.0-dev20200428",
            "v2.4",
            ">=2.4,<2.7",
            "latest",
            "2.1.0a0+32f93b1",
        ]
        containers = [
            "nvcr.io/nvidia/tensorflow:20.03-tf2-py3",
            "ngc-pytorch:23.12",
            "pytorch/pytorch:2.4.0-cuda12.4-cudnn9-runtime",
            "vllm/vllm-openai:v0.11.0",
        ]
        ops = [
            "interpolate:mode=bilinear:backward,index_add",
            "F.cross_entropy[ndim=2]",
            "x[idx]",
            "F.interpolate(x, size=(2, 2), mode='bilinear')",
            "aten::index_put_",
            "x @ y",
            "torch.ops.aten.index_add_.default",
            "IndexBackward0",
            "nn.AdaptiveAvgPool2d(1)",
        ]
        env = [
            "export CUBLAS_WORKSPACE_CONFIG=:4096:8\nPYTHONHASHSEED='0'\n# x\nNCCL_ALGO=Ring\n",
            '{"determinism": {"tf_seed": 1, "x": [1, null]}, "NCCL_ALGO": "Ring"}',
            '{"seed": ' + "1" * 5000 + "}",
        ]
        files = [
            "torch==2.4.1\nnumpy>=1\n",
            "FROM pytorch/pytorch:2.1\nRUN pip install torch==2.1",
            '[[package]]\nname = "torch"\nversion = "2.4"\n',
            "dependencies:\n  - pytorch=2.4\n",
            "PyTorch version: 2.4.0+cu121\nGPU models and configuration: GPU 0: NVIDIA A100\n",
        ]
        complaints = [
            "RuntimeError: index_add_cuda_ does not have a deterministic implementation",
            "the loss differs between runs with the same seed, torch 2.4, CUDNN_BENCHMARK=1",
        ]
        right = _report()
        runs = [file.read_text() for file in sorted(self.runs.glob("*.json"))]
        short = [
            json.dumps({**(run := json.loads(text)), "observations": run["observations"][:6]})
            for text in runs
        ]
        sources = [name for name in _PROJECT if name not in ("env.txt", "requirements.txt")]
        return {
            "command lines": (self.command_lines, [""]),
            "sources": (self.sources, sources),
            "baselines": (self.baselines, [_baseline(self)]),
            "ops": (self.ops, ops),
            "versions": (self.versions, packages),
            "containers": (self.containers, containers),
            "env files": (self.env_files, env),
            "package files": (self.package_files, files),
            "complaints": (self.complaints, complaints),
            "records": (self.record, [str(path) for path in self.records]),
            "digests": (self.digests, [_digests(right)]),
            "evidence": (self.evidence, short),
            "compiled base": (self.compiled_base, ops[:4]),
            "recordings": (self.recordings, [_RECORDING]),
        }

    def ops(self, chance: random.Random, text: str) -> None:
        items = op_syntax.split(mutated(chance, text))
        for item in items[:5]:
            op_syntax.parse(item)
        api.advise(self.kb, self.torch, items[:3])

    def versions(self, chance: random.Random, text: str) -> None:
        name = chance.choice(
            ("torch", "tensorflow", "jax", "cuda", "cudnn", mutated(chance, "torch"))
        )
        describe(self.kb, Setup(((name, mutated(chance, text)),)))

    def containers(self, chance: random.Random, text: str) -> None:
        describe(self.kb, Setup(container=mutated(chance, text)))

    def command_lines(self, chance: random.Random, _text: str) -> None:
        """Good: a line of known options whose values are of their kind."""
        files = sorted(os.listdir(self.project()))
        line = command_line(chance, self.commands, files, TEXTS)
        self.expect(line.is_understood, *line.words, stdin=noise(chance).encode())

    def sources(self, chance: random.Random, name: str) -> None:
        """Good: a program that Python, or a notebook that JSON, can read."""
        text = _PROJECT[name]
        if name.endswith(".ipynb") and chance.random() < 0.6:
            broken = document(chance, text)
        else:
            broken = mutated(chance, text).encode("utf-8", "surrogatepass")
        if chance.random() < 0.1:
            broken = bytes(byte ^ (chance.random() < 0.02) for byte in broken)
        (self.project() / name).write_bytes(broken)
        readable = {".py": _is_python, ".ipynb": _is_notebook}.get(Path(name).suffix)
        form = chance.choice(("text", "json", "sarif", "github", "markdown", "junit"))
        more = ["--diff"] if chance.random() < 0.1 else ["--format", form]
        is_good = readable is None or readable(broken)
        self.expect(is_good, "scan", name, "--no-cache", "--fail-on", "never", *more)

    def baselines(self, chance: random.Random, text: str) -> None:
        """Good: one that still holds the finding."""
        broken = document(chance, text)
        (self.project() / "baseline.json").write_bytes(broken)
        entry = json.loads(text)["findings"][0]
        is_good = all(value.encode() in broken for value in entry.values())
        words = ("scan", "train.py", "--no-cache", "--baseline", "baseline.json")
        self.expect(is_good, *words, "--select", "unsorted-listing")

    def env_files(self, chance: random.Random, text: str) -> None:
        """Good: what sets the variable that the op needs to a value that it takes."""
        kind = chance.random()
        if kind < 0.1:
            text = noise(chance)
        elif text.startswith("{") and len(text) < 1000 and kind < 0.7:
            text = document(chance, text).decode("utf-8", "replace")
        else:
            text = mutated(chance, text)
        (self.project() / "env.txt").write_text(text, "utf-8", "replace")
        is_good = "CUBLAS_WORKSPACE_CONFIG" in text and (":4096:8" in text or ":16:8" in text)
        form = chance.choice(("text", "json", "env", "markdown"))
        words = ("advise", "--torch", "2.4", "--ops", "nn.Linear", "--env-file", "env.txt")
        self.expect(is_good, *words, "--format", form)

    def package_files(self, chance: random.Random, text: str) -> None:
        """Good: what names a package."""
        is_noise = chance.random() < 0.1
        listed = package_files.read(noise(chance) if is_noise else mutated(chance, text), "file")
        found = describe(self.kb, package_files.merged(self.kb, Setup(), listed))
        if is_noise and found.packages:
            raise FailOpenError(f"noise names {list(found.packages)}")

    def complaints(self, chance: random.Random, text: str) -> None:
        """Good: a text with a word of the example left."""
        self.project()
        is_noise = chance.random() < 0.3
        broken = noise(chance) if is_noise else mutated(chance, text)
        data = broken.encode("utf-8", "replace")
        if chance.random() < 0.5 or "\0" in broken:
            self.expect(not is_noise, "explain", stdin=data)
        else:
            self.expect(not is_noise, "explain", "--", data.decode())

    def record(self, chance: random.Random, text: str) -> None:
        path = Path(text)
        place = path.relative_to(KB)
        broken = mutated(chance, path.read_text())
        known = BY_NAME[place.parts[0]]
        for found in yaml_files.parse(broken, str(place), known.name, "fuzzed", known.type):
            if isinstance(found, yaml_files.Loaded):
                list(soundness.faults(found.record, set(self.kb.settings)))

    def digests(self, chance: random.Random, text: str) -> None:
        """Good: what holds a result that is the same here."""
        reference = against.read(self.file(document(chance, text)))
        own = msgspec.json.decode(_report(), type=Report)
        held = against.hold(own, reference)
        told = exit_code(msgspec.structs.replace(own, settings=[], odd=[], newer={}, against=held))
        if told == ExitCode.ANSWERED and not held.same:
            raise FailOpenError("nothing is the same")

    def evidence(self, chance: random.Random, text: str) -> None:
        folder = self.folder / "evidence" / "runs"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "fuzzed.json").write_bytes(document(chance, text))
        for found in yaml_files.read(folder / "fuzzed.json", self.folder):
            if isinstance(found, yaml_files.Loaded):
                self.priced(found.record)

    def priced(self, run: Run) -> None:
        every = measured_costs.timed({"fuzzed": run}, {"torch": self.kb.packages["torch"]})
        measured_costs.of_sources(every, {})
        settings = {
            name: self.kb.settings[name] for name in run.settings if name in self.kb.settings
        }
        measured_costs.of_solutions(every, {}, {}, settings, {})

    def compiled_base(self, chance: random.Random, text: str) -> None:
        """The whole command, on a file that somebody made with right checksums."""
        kb = KnowledgeBase(self.kb.meta, Hostile(self.kb, chance))
        said = io.StringIO()
        with (
            mock.patch.object(advise_command, "open_knowledge_base", return_value=kb),
            mock.patch.object(sys, "argv", ["d9m", "advise", "--torch", "2.4", "--ops", text]),
            mock.patch.dict(os.environ, {"D9M_KB": __file__}),
            contextlib.redirect_stdout(said),
            contextlib.redirect_stderr(said),
        ):
            code = command._run()
        if code == ExitCode.DATA:
            raise DataError(said.getvalue())

    def recordings(self, chance: random.Random, _text: str) -> None:
        """Two recordings, of which one is damaged. Good: one whose digests are all there."""
        place = self.project()
        file = place / "b" / chance.choice(("r0-0.d9m", "r0-0.d9m", "run.json"))
        whole = file.read_bytes()
        broken = _damaged(chance, whole)
        file.write_bytes(broken)
        self.run("trace", "--show", "b")
        form = chance.choice(("text", "json", "markdown", "junit"))
        order = chance.choice((("a", "b"), ("b", "a")))
        is_good = file.name == "run.json" or len(broken.splitlines()) >= len(whole.splitlines())
        self.expect(is_good, "diff", *order, "--format", form)

    def file(self, data: bytes) -> str:
        self.wrote += 1
        path = self.folder / f"file-{self.wrote % 4}.json"
        path.write_bytes(data)
        return str(path)


_RECORDING = "\n".join([
    json.dumps(HEADER),
    '["S",1,"aten::index_put","","bwd","IndexBackward0","Tagger.lookup",["a.py",6,"f"],["float32[4]"],"cpu"]',
    '["S",2,"aten::mul","","fwd","","Tagger",["a.py",7,"f"],["float32[4]"],"cpu"]',
    '["t",{"torch.use_deterministic_algorithms":true},8]',
    '["o",1,"accumulate=True",["aa.1","bb.2"],["c1.3"]]',
    '["o",2,"",["c1.3","a1n9"],["d1.4"]]',
    '["x",0,"f1"]',
    '["g","e1",["d1.4"]]',
    '["d",0,{}]',
    '["o",1,"accumulate=True",["aa.1","bb.2"],["c3.3"]]',
    '["p","e3",["d3.4"]]',
    '["d",1,{}]',
    '{"ended": "exit"}',
])  # fmt: skip


_SOURCE = """import os, random
import torch
random.seed(0)
files = os.listdir("data")
random.shuffle(files)
torch.manual_seed(0)
model = torch.nn.Linear(2, 2)
torch.optim.SGD(model.parameters(), lr=0.1).step()
torch.use_deterministic_algorithms(True)
"""

_PROJECT = {
    "train.py": _SOURCE,
    "notebook.ipynb": json.dumps({
        "cells": [{"cell_type": "code", "source": _SOURCE.splitlines(True), "metadata": {},
                   "outputs": [], "execution_count": None}],
        "metadata": {"kernelspec": {"language": "python", "name": "python3", "display_name": "x"}},
        "nbformat": 4, "nbformat_minor": 5,
    }),
    "job.sh": "#!/bin/bash\n#SBATCH -n 2\nexport CUBLAS_WORKSPACE_CONFIG=:4096:8\n"
              "PYTHONHASHSEED=0 srun python train.py \\\n  --seed 1\n",
    "compose.yaml": "services:\n  train:\n    image: pytorch/pytorch:2.4.0\n    environment:\n"
                    "      - NCCL_ALGO=Ring\n    command: python train.py\n",
    "Dockerfile": "FROM pytorch/pytorch:2.1\nENV TF_DETERMINISTIC_OPS=1\nRUN python train.py\n",
    "pyproject.toml": '[project]\nname = "x"\ndependencies = ["torch==2.4"]\n'
                      '[tool.d9m]\nstrict = true\nignore = ["unsorted-listing"]\n',
    "env.txt": "export CUBLAS_WORKSPACE_CONFIG=:4096:8\nPYTHONHASHSEED=0\n",
    "requirements.txt": "torch==2.4.1\n",
}  # fmt: skip


def _is_python(data: bytes) -> bool:
    try:
        compile(data, "program", "exec", dont_inherit=True)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True


def _is_notebook(data: bytes) -> bool:
    try:
        return isinstance(json.loads(data).get("cells"), list)
    except (ValueError, AttributeError, RecursionError):
        return False


def _damaged(chance: random.Random, data: bytes) -> bytes:
    """A file cut, with flipped bits, with lines lost or twice, or with other values in a line."""
    kind = chance.randrange(5)
    if kind == 0:
        return data[: chance.randrange(len(data))]
    if kind == 1:
        flipped = bytearray(data)
        for _ in range(chance.randint(1, 3)):
            flipped[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
        return bytes(flipped)
    lines = data.splitlines(keepends=True)
    at = chance.randrange(len(lines))
    if kind == 2:
        del lines[at : at + chance.randint(1, 3)]
    elif kind == 3:
        lines[at:at] = lines[chance.randrange(len(lines)) :]
    else:
        with contextlib.suppress(ValueError):
            lines[at] = document(chance, lines[at].decode()).replace(b"\n", b" ") + b"\n"
    return b"".join(lines)


def _opening(kb: KnowledgeBase) -> Iterator[Any]:
    """Patches by which every command answers from this knowledge base, already open."""
    for module in list(sys.modules.values()):
        if getattr(module, "__name__", "").startswith("d9m.") and hasattr(
            module, "open_knowledge_base"
        ):
            yield mock.patch.object(module, "open_knowledge_base", return_value=kb)


def _baseline(doors: Doors) -> str:
    """What `d9m scan --write-baseline` writes of the project's program."""
    file = doors.project() / "baseline.json"
    (file.parent / "pyproject.toml").unlink()
    doors.run("scan", "--select", "unsorted-listing", "--baseline", file.name, "--write-baseline")
    return file.read_text()


def _report() -> str:
    """A report with one of everything."""
    played = report("a", "b", None)
    probes = [
        msgspec.structs.replace(probe, arms={**probe.arms, "advised": probe.arms["default"]})
        for probe in played.probes
    ]
    found = msgspec.structs.replace(
        played,
        probes=probes,
        settings=[SettingCheck("NAME", "1", "2", "wrong", "export NAME=1")],
        notes=["a note"],
        ranks=[RankDevice(0, "node", 0, "cpu")],
        newer={"torch": "2.15.0"},
        odd=[OddResult("torch/op-0", "float32", "default", [1], 2)],
        against=AgainstResult("file", "H200", {}, ["torch/op-0 float32"], [], []),
    )
    return msgspec.json.encode(found).decode()


def _digests(right: str) -> str:
    bits = against.bits(msgspec.json.decode(right, type=Report))
    return msgspec.json.encode(bits).decode()


WEIGHTS = {
    "command lines": 12,
    "sources": 8,
    "baselines": 4,
    "ops": 16,
    "versions": 16,
    "containers": 14,
    "env files": 12,
    "package files": 8,
    "complaints": 3,
    "records": 12,
    "digests": 5,
    "evidence": 6,
    "compiled base": 2,
    "recordings": 6,
}
"""How often a door is tried: those that answer quickly more often."""


HANGS = 300
"""Seconds after which an input that takes no CPU counts so, too."""

LONGEST = 5.0
"""Seconds of CPU after which an input counts as one that does not end: a safety limit, far from
what any takes (`main` prints the slowest). Work that grows with the square is found by
`test_growth.py`.
"""


class Failure(msgspec.Struct, frozen=True):
    """An input that was neither answered nor refused."""

    number: int
    door: str
    text: str


class Fuzzed(msgspec.Struct, frozen=True):
    tried: collections.Counter[str]
    """How many inputs went through each door and how many it refused."""
    failures: list[Failure]
    slowest: tuple[float, int, str]
    """Seconds of CPU, number and door of one input."""


def fuzz(count: int, seed: int, doors: Sequence[str] = (), only: int | None = None) -> Fuzzed:
    slowest = (0.0, 0, "")
    tried: collections.Counter[str] = collections.Counter()
    failures: list[Failure] = []
    signal.signal(signal.SIGALRM, _give_up)
    with tempfile.TemporaryDirectory(prefix="d9m-fuzzing-") as folder:
        every = Doors(Path(folder)).examples()
        names = [name for name in every if name in doors or not doors]
        weights = [WEIGHTS[name] for name in names]
        for number in [only] if only is not None else range(count):
            chance = random.Random(f"{seed} {number}")
            name = chance.choices(names, weights)[0]
            door, examples = every[name]
            tried[name] += 1
            began = time.process_time()
            signal.alarm(HANGS)
            try:
                door(chance, chance.choice(examples))
            except D9mError as error:
                tried[f"{name}, refused"] += 1
                if not error.text().replace("\n", "").replace("\t", "").isprintable():
                    failures.append(Failure(number, name, f"unprintable: {error.text()!r}"))
            except FailOpenError as error:
                failures.append(Failure(number, name, f"fails open: {error}"))
            except Exception:
                failures.append(Failure(number, name, traceback.format_exc()))
            finally:
                signal.alarm(0)
            took = time.process_time() - began
            slowest = max(slowest, (took, number, name))
            if took > LONGEST:
                failures.append(Failure(number, name, f"it takes {took:.1f} s"))
    return Fuzzed(tried, failures, slowest)


def _give_up(_number: int, _frame: object) -> None:
    raise TimeoutError(f"no answer within {HANGS} s")


def main() -> int:
    parser = argparse.ArgumentParser(prog="python tests/fuzzing.py")
    parser.add_argument("--count", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--door", action="append", default=[])
    parser.add_argument("--only", type=int, metavar="NUMBER")
    options = parser.parse_args()
    began, cpu = time.monotonic(), time.process_time()
    found = fuzz(options.count, options.seed, options.door, options.only)
    failures = found.failures
    for failure in failures[:20]:
        print(f"--only {failure.number}: {failure.door}\n{failure.text}")
    for failure in failures[20:]:
        print(f"--only {failure.number}: {failure.door}: {failure.text.splitlines()[-1]}")
    for name in sorted(found.tried):
        print(f"{found.tried[name]:8} {name}")
    print("the slowest: {:.2f} s of CPU, --only {}: {}".format(*found.slowest))
    doors = "".join(f" --door {name!r}" for name in options.door)
    print(f"again: python tests/fuzzing.py --seed {options.seed}{doors} --only NUMBER")
    spent = f"{time.monotonic() - began:.0f} s, {time.process_time() - cpu:.0f} s of CPU"
    print(f"{len(failures)} failures in {options.count} inputs; {spent}")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
