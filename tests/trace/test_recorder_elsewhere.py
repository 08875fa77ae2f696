"""What the recorder's own files do: on other systems, as far as a Linux can play them, too."""

from __future__ import annotations

import importlib
import json
import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from recorded import python_of

from d9m import trace
from process import d9m

INJECT = str(Path(trace.__file__).with_name("inject"))
BINARY = 1 << 28
"""In the place of Windows's flag."""

FAULT = """
import sys, types
from _d9m_recorder.core.session import Session
session = object.__new__(Session)
session.settings, session.on = types.SimpleNamespace(folder=sys.argv[1]), False
session._faults = set()
session.fault("a place", ValueError(chr(0xe9) + chr(0x2192)))
"""


def test_a_recording_has_the_same_ends_of_lines_everywhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(INJECT)
    monkeypatch.setattr(os, "O_BINARY", BINARY, raising=False)
    stream = importlib.reload(importlib.import_module("_d9m_recorder.core.stream"))
    flags: list[int] = []
    right = os.open

    def opened(path: str, flag: int, mode: int) -> int:
        flags.append(flag)
        return right(path, flag & ~BINARY, mode)

    monkeypatch.setattr(os, "open", opened)
    one = stream.Stream(str(tmp_path), lambda: 0, lambda _number: {}, 1000)
    one.record("l", "aa")
    one.end({"ended": "exit"})
    assert [flag & BINARY for flag in flags] == [BINARY]
    lines = (tmp_path / "r0-0.d9m").read_bytes().splitlines()
    assert len(lines) == 3
    assert b'"lines":2' in lines[-1]


def test_a_complaint_of_the_recorder_is_utf8_whatever_the_locale_is(tmp_path: Path) -> None:
    variables = {"LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0", "PYTHONPATH": INJECT}
    command = [sys.executable, "-c", FAULT, str(tmp_path)]
    subprocess.run(command, check=True, env={**os.environ, **variables})
    assert "ValueError: é→" in (tmp_path / "errors.txt").read_text("utf-8")


def test_long_arguments_that_differ_late_are_told_from_each_other(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.syspath_prepend(INJECT)
    digester = importlib.import_module("_d9m_recorder.core.digest").Digester(None)
    long = "dim=0, " * 100
    one, other = digester.cut(long + "a=1"), digester.cut(long + "a=2")
    assert one != other
    assert one.startswith(long[:400])
    assert len(one) < 430
    assert digester.cut("dim=0") == "dim=0"


def test_a_torch_that_asserts_its_names_is_recorded(monkeypatch: pytest.MonkeyPatch) -> None:
    """As 1.12 does for each name of torch.backends.cuda.matmul that came later."""

    class Matmul:
        allow_tf32 = True

        def __getattr__(self, name: str) -> bool:
            raise AssertionError(f"Unknown attribute {name}")

    def no() -> bool:
        return False

    monkeypatch.syspath_prepend(INJECT)
    switches = importlib.import_module("_d9m_recorder.torch.settings").Switches
    backends = SimpleNamespace(cuda=SimpleNamespace(matmul=Matmul()))
    torch = SimpleNamespace(
        are_deterministic_algorithms_enabled=no,
        is_deterministic_algorithms_warn_only_enabled=no,
        backends=backends,
    )
    assert switches(torch).now()["torch.backends.cuda.matmul.allow_tf32"] is True


PYTHONS = ("2.7", "3.6", "3.7", "3.8", "3.9", "3.10", "3.11", "3.12", "3.13")
OWN = {
    "one that works": "import sys; sys.own = 1",
    "one that fails": "raise ValueError(1)",
    "one that lacks a module": "import there_is_no_such_module",
    "none": "",
}
SAYS = "import sys; print('sitecustomize' in sys.modules, getattr(sys, 'own', 0), len(sys.path))"


@pytest.mark.parametrize("version", PYTHONS)
@pytest.mark.parametrize("own", OWN)
def test_a_recorded_python_runs_its_own_sitecustomize(
    own: str, version: str, tmp_path: Path
) -> None:
    places = {"plain": str(tmp_path), "recorded": os.pathsep.join([INJECT, str(tmp_path)])}
    if OWN[own]:
        (tmp_path / "sitecustomize.py").write_text(OWN[own])
    record = tmp_path / "record"
    record.mkdir()
    seen = {}
    for name, path in places.items():
        variables = {"PYTHONPATH": path, "D9M_TRACE": json.dumps({"folder": str(record)})}
        command = [python_of(version), "-c", SAYS]
        done = subprocess.run(command, env=variables, capture_output=True, text=True)
        seen[name] = done.returncode, done.stdout, done.stderr
    assert seen["recorded"] == seen["plain"]
    old = version in ("2.7", "3.6", "3.7")
    assert [path.name for path in record.iterdir()] == (["too-old.txt"] if old else [])


def test_a_python_that_is_too_old_is_named(tmp_path: Path) -> None:
    python = python_of("3.6")
    run = str(tmp_path / "run")
    said = "A child of Python 3.6 was not recorded: the recorder needs 3.8 or newer."
    done = d9m("trace", "-o", run, "--", python, "-c", "")
    assert (done.returncode, done.stdout) == (4, "")
    assert said in done.stderr
    assert said in d9m("trace", "--show", run).stdout
    d9m("trace", "--force", "-o", run, "--", sys.executable, "-c", "")
    assert said not in d9m("trace", "--show", run).stdout
