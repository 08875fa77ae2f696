"""The command line of `d9m trace`: what it refuses, and what it prints without running anything."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from pathlib import Path

import pytest

from d9m.errors import UsageError
from d9m.trace import start
from d9m.trace.command.program import read_size, read_steps
from process import d9m, environment


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (None, (0, None, None, 1)),
        ("all", (0, None, None, 1)),
        ("20", (0, None, 20, 1)),
        ("3:5", (3, 5, None, 1)),
        (":5", (0, 5, None, 1)),
        ("3:", (3, None, None, 1)),
        ("every:100", (0, None, None, 100)),
    ],
)
def test_steps_are_read(text: str | None, found: tuple[int | None, ...]) -> None:
    assert read_steps(text) == found


@pytest.mark.parametrize(
    "text",
    [
        "0",
        "-1",
        "5:3",
        "a",
        "1:2:3",
        "",
        "٣",
        "every:0",
        "every:",
        "every:2:3",
        "9" * 5000,
        ":" + "9" * 5000,
    ],
)
def test_other_steps_are_refused(text: str) -> None:
    with pytest.raises(UsageError):
        read_steps(text)


@pytest.mark.parametrize(
    ("text", "found"), [("2GB", 2 * 10**9), ("500M", 5 * 10**8), ("1.5kb", 1500), ("7", 7)]
)
def test_sizes_are_read(text: str, found: int) -> None:
    assert read_size(text) == found


@pytest.mark.parametrize("text", ["", "0", "big", "-1GB", "1PB", "1 GB more", "9" * 5000])
def test_other_sizes_are_refused(text: str) -> None:
    with pytest.raises(UsageError):
        read_size(text)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ("", "name the program to run"),
        ("--show a --export", "exclude each other"),
        ("--level op --steps every:2 -- python", "cannot be recorded at --level op"),
        ("--show a -- python", "runs no command"),
        ("--level deep -- python", "--level 'deep' is unknown"),
        ("--step-by moon -- python", "--step-by 'moon' is unknown"),
        ("--steps x -- python", "--steps 'x' is not understood"),
        ("-- no-such-program", "'no-such-program' cannot be run"),
    ],
)
def test_what_cannot_be_asked(tmp_path: Path, arguments: str, says: str) -> None:
    done = d9m("trace", *arguments.split(), cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert says in done.stderr
    assert not list(tmp_path.iterdir())


def test_what_is_no_recording_is_not_shown(tmp_path: Path) -> None:
    done = d9m("trace", "--show", str(tmp_path))
    assert (done.returncode, done.stdout) == (5, "")


def test_a_folder_in_use_is_refused_before_anything_runs(tmp_path: Path) -> None:
    (tmp_path / "kept").write_text("")
    done = d9m("trace", "-o", str(tmp_path), "--", sys.executable, "-c", "print('ran')")
    assert (done.returncode, done.stdout) == (2, "")
    assert "not empty" in done.stderr


def test_export_prints_what_a_shell_takes(tmp_path: Path) -> None:
    run = tmp_path / "it's a run"
    done = d9m("trace", "--export", "-o", str(run), "--steps", "3")
    code = "import json, os; print(os.environ['D9M_TRACE']); import sys; print(sys.path[0])"
    ran = subprocess.run(
        ["sh", "-c", f'{done.stdout}\nexec {sys.executable} -c "{code}"'],
        env=environment(), capture_output=True, text=True, check=True,
    )  # fmt: skip
    settings = json.loads(ran.stdout.splitlines()[0])
    assert (settings["folder"], settings["stop"]) == (str(run), 3)
    assert (run / "run.json").is_file()


def test_a_program_without_a_framework_is_left_as_it_is(tmp_path: Path) -> None:
    code = (
        "import sys; print(sorted(name for name in sys.modules if 'd9m' in name),"
        " len(sys.path), 'xxhash' in sys.modules, sys.argv)"
    )
    alone = subprocess.run(
        [sys.executable, "-c", code], env=environment(), capture_output=True, text=True, check=True
    )
    done = d9m("trace", "-o", str(tmp_path / "run"), "--", sys.executable, "-c", code)
    assert done.returncode == 4
    seen, plain = done.stdout.split("]", 1), alone.stdout.split("]", 1)
    assert seen[1] == plain[1]
    assert all("_d9m_recorder" in name for name in ast.literal_eval(seen[0] + "]"))


def test_a_thread_of_a_program_without_a_framework_is_no_recording(tmp_path: Path) -> None:
    code = "import threading; t = threading.Thread(target=print); t.start(); t.join()"
    done = d9m("trace", "-o", str(tmp_path / "run"), "--", sys.executable, "-c", code)
    assert done.returncode == 4
    assert not list((tmp_path / "run").glob("*.d9m"))


def test_the_recorder_is_written_for_old_pythons() -> None:
    files = list(start.INJECT.rglob("*.py"))
    assert len(files) > 5
    for file in files:
        tree = ast.parse(file.read_text("utf-8"), feature_version=(3, 8))
        for node in ast.walk(tree):
            names = [name.name for name in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom) and not node.level:
                names.append(node.module or "")
            for name in names:
                top = name.partition(".")[0]
                own = {"torch", "_d9m_recorder", "sitecustomize", file.parent.name}
                assert top in sys.stdlib_module_names or top in own, f"{file.name}: {name}"


def test_each_framework_runs_the_advised_statements_about_itself() -> None:
    code = """
import sys, types
sys.path.insert(0, sys.argv[1])
from _d9m_recorder.core.settings import Settings
asked = ["import torch", "torch.flag = True", "import tensorflow as tf", "tf.flag = True"]
torch, tf = types.SimpleNamespace(), types.SimpleNamespace()
settings = Settings("", python=asked)
settings.make(tf=tf)
assert vars(tf) == {"flag": True} and not vars(torch)
"""
    done = subprocess.run([sys.executable, "-c", code, str(start.INJECT)], check=False)
    assert done.returncode == 0
