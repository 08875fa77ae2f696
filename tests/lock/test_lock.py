"""`d9m lock` and `d9m verify` over whole programs on PyTorch."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from conftest import needs

ROOT = Path(__file__).parents[2]
TORCH = ROOT / "build" / "frameworks" / "torch-2.13.0" / "bin" / "python"

TRAIN = """
import os, sys
import torch

torch.manual_seed(0)
model = torch.nn.Linear(8, 4)
optimizer = torch.optim.SGD(model.parameters(), 0.1)
for step in range(6):
    loss = model(torch.randn(16, 8)).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, flush=True)
"""
UNSEEDED = TRAIN.replace("torch.manual_seed(0)", "torch.seed()")


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    needs(TORCH.exists(), "PyTorch", "python tests/emitted/environments.py torch-2.13.0")
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("PYTHONHASHSEED", raising=False)
    monkeypatch.setenv("PYTHONPATH", str(ROOT / "resolver"))
    (tmp_path / "train.py").write_text(TRAIN, encoding="utf-8")
    return tmp_path


def d9m(*words: str, **variables: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "d9m", *words], env={**os.environ, **variables},
        capture_output=True, text=True, check=False, timeout=300,
    )  # fmt: skip


def locked(*options: str) -> dict[str, Any]:
    done = d9m("lock", *options, "--", str(TORCH), "train.py")
    assert done.returncode == 0, done.stderr
    assert done.stdout == ""
    return json.loads(Path("d9m.lock.json").read_text(encoding="utf-8"))


def edit(old: str, new: str, name: str = "train.py") -> None:
    text = Path(name).read_text(encoding="utf-8")
    assert old in text
    Path(name).write_text(text.replace(old, new, 1), encoding="utf-8")


def test_a_locked_program_is_verified_until_it_computes_something_else(project: Path) -> None:
    lock = locked("--steps", "3")
    assert lock["steps"] == 3
    assert "Equal in 2 of 2 runs" in lock["statement"]
    assert "steps 0 to 2 of 1 process. Later steps were not run" in lock["statement"]
    assert [each["name"] for each in lock["variables"]] == ["PYTHONHASHSEED"]
    assert "torch.use_deterministic_algorithms" in json.dumps(lock["statements"])

    done = d9m("verify")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "bitwise identical" in done.stdout

    edit("0.1)", "0.125)")
    done = d9m("verify")
    assert done.returncode == 1
    assert "differ from step 0" in done.stdout
    assert "d9m hunt -- " in done.stdout


def test_verify_applies_the_settings_of_the_lock(project: Path) -> None:
    edit("torch.manual_seed(0)", "print(os.environ['PYTHONHASHSEED'])")
    locked("--seed", "5")
    done = d9m("verify", "d9m.lock.json", "--", str(TORCH), "train.py", PYTHONHASHSEED="3")
    assert done.returncode == 0, done.stdout
    assert done.stderr.splitlines()[0] == "0"
    done = d9m("verify", "--as-is", PYTHONHASHSEED="3")
    assert done.returncode == 1
    assert "PYTHONHASHSEED: 0 -> 3" in done.stdout
    assert "torch.use_deterministic_algorithms: True -> False" in done.stdout


def test_a_program_that_differs_or_fails_gets_no_lock(project: Path) -> None:
    (project / "train.py").write_text(UNSEEDED, encoding="utf-8")
    done = d9m("lock", "--", str(TORCH), "train.py")
    assert done.returncode == 1
    assert "Nothing is locked" in done.stderr
    (project / "train.py").write_text(TRAIN + "sys.exit(7)\n", encoding="utf-8")
    done = d9m("lock", "--", str(TORCH), "train.py")
    assert done.returncode == 3, done.stderr
    done = d9m("lock", "--", "/bin/true")
    assert done.returncode == 4
    assert "the program started no Python" in done.stderr
    assert not (project / "d9m.lock.json").exists()


def test_verify_says_why_nothing_was_recorded(project: Path) -> None:
    locked("--steps", "1")
    for command, why in (
        (["/bin/false"], "the program started no Python that imports torch, tensorflow or jax and"
         " ended with exit code 1"),
        (["sh", "-c", "kill -TERM $$"], "was killed by SIGTERM (signal 15)"),
        ([sys.executable, "-c", "raise ValueError('no data')"], "ValueError: no data"),
    ):  # fmt: skip
        done = d9m("verify", "d9m.lock.json", "--", *command)
        assert (done.returncode, done.stdout) == (4, "")
        assert why in " ".join(done.stderr.split())


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_lock_with_its_program(number: signal.Signals, project: Path) -> None:
    edit("print(step, flush=True)", "print(step, flush=True); __import__('time').sleep(0.2)")
    command = [sys.executable, "-m", "d9m", "lock", "--", str(TORCH), "train.py"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stderr is not None
        for line in process.stderr:
            if line == b"1\n":
                process.send_signal(number)
                break
        rest = process.stderr.read().decode().splitlines()
    assert process.returncode == 128 + number
    assert rest[-1] == "d9m: interrupted"
    assert "0" not in rest  # no second run
    assert not (project / "d9m.lock.json").exists()


def test_an_update_says_what_changed(project: Path) -> None:
    subprocess.run(["git", "init", "-q"], check=True)
    locked("--steps", "2")
    done = d9m("lock", "--", str(TORCH), "train.py")
    assert done.returncode == 2
    assert "--update" in done.stderr
    edit("0.1)", "0.125)")
    done = d9m("lock", "--update", "--steps", "3", "--", str(TORCH), "train.py")
    assert done.returncode == 0
    assert "changed   steps: 2 -> 3" in done.stderr
    assert "changed   results: other digests" in done.stderr


def test_without_a_run_releases_and_variables_are_compared(project: Path) -> None:
    locked("--steps", "2")
    assert d9m("verify", "--only-environment").returncode == 0
    done = d9m("verify", "--only-environment", "--format", "json", PYTHONHASHSEED="4")
    assert done.returncode == 1
    found = json.loads(done.stdout)
    assert found["equal"] is None
    assert found["changed"] == [{"name": "PYTHONHASHSEED", "a": "0", "b": "4", "step": None}]
    lock = Path("d9m.lock.json").read_text(encoding="utf-8")
    Path("d9m.lock.json").write_text(
        re.sub(r'torch\\":\\"[^"]*\\"', r'torch\\":\\"2.9.0\\"', lock), encoding="utf-8"
    )
    done = d9m("verify", "--only-environment")
    assert "torch: 2.9.0 -> 2.13.0" in done.stdout


def test_other_results_on_another_machine_cannot_be_compared(project: Path) -> None:
    import msgspec

    from d9m.lock.lock_file import read
    from d9m.lock.verdict import MACHINE, verdict_of
    from d9m.trace.comparison import Wanted, compare
    from d9m.trace.findings import SettingDifference

    locked("--steps", "2")
    lock = read(Path("d9m.lock.json"))
    lock.unpack(project / "a")
    edit("0.1)", "0.125)")
    locked_again = d9m("lock", "-o", "b.json", "--steps", "2", "--", str(TORCH), "train.py")
    assert locked_again.returncode == 0
    read(Path("b.json")).unpack(project / "b")
    found = compare(project / "a", project / "b", "2026-01-01", Wanted())
    assert verdict_of(lock, found, "train.py").exit == 1
    for name in MACHINE:
        other = [SettingDifference(name, "this", "that")]
        there = verdict_of(lock, msgspec.structs.replace(found, settings=other), "train.py")
        assert (there.exit, there.equal) == (3, None)
        assert there.said.startswith(f"Not comparable: another {name}")


@pytest.mark.parametrize(
    ("old", "new", "code"),
    [
        ('"d9m_lock": 1', '"d9m_lock": 1, "x": 2', 5),
        ('\\"l\\",', '\\"m\\",', 5),
        ('"r0-0.d9m"', '"../r0-0.d9m"', 5),
        ('"steps": 2', '"steps": "two"', 5),
        ('"steps": 2', '"steps": 0', 5),
        ("{", "", 5),
    ],
)
def test_a_damaged_lock_is_refused(project: Path, old: str, new: str, code: int) -> None:
    lock = project / "d9m.lock.json"
    lock.write_text(SMALL, encoding="utf-8")
    edit(old, new, "d9m.lock.json")
    done = d9m("verify", "--", str(TORCH), "-c", "import torch")
    assert done.returncode == code, done.stdout + done.stderr
    assert "Traceback" not in done.stderr
    assert not (project.parent / "r0-0.d9m").exists()


SMALL = json.dumps(
    {
        "d9m_lock": 1,
        "d9m": {"version": "0.1.0", "kb_date": "2026-01-01"},
        "made": "2026-01-01T00:00:00+0000",
        "statement": "",
        "command": ["python", "train.py"],
        "code": {"commit": None, "changes": None},
        "runs": 2,
        "steps": 2,
        "variables": [],
        "statements": [],
        "left": [],
        "recording": {"r0-0.d9m": ['{"d9m_trace":2} 00000000', '["l",[]] 1fbb42cd']},
    }
)  # fmt: skip


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["lock"], "name the program"),
        (["lock", "--steps", "0", "--", "x"], "0"),
        (["lock", "--runs", "1", "--", "x"], "1"),
        (["lock", "-o", "no/such/folder/x.json", "--", "x"], "no folder"),
        (["verify", "x.json", "--format", "json"], "--format"),
    ],
)
def test_a_wrong_command_line_is_one_clear_error(words: list[str], said: str) -> None:
    done = d9m(*words)
    assert done.returncode == 2, done.stderr
    assert said in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("recording", [{}, {"r0-0.d9m": []}, {"r0-0.d9m": ["{}"]}])
def test_a_lock_without_a_recording_is_damaged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, recording: dict[str, list[str]]
) -> None:
    monkeypatch.chdir(tmp_path)
    lock = json.loads(SMALL) | {"recording": recording}
    (tmp_path / "d9m.lock.json").write_text(json.dumps(lock), encoding="utf-8")
    done = d9m("verify", "--only-environment", "--", sys.executable)
    assert done.returncode == 5, done.stdout + done.stderr
    assert "the recording in the lock is damaged" in done.stderr


def test_a_rank_that_was_not_reached_gets_no_lock(project: Path) -> None:
    """Every rank but one drops what d9m sets."""
    (project / "ranks.py").write_text(
        "import os, subprocess, sys\n"
        "for rank in '01':\n"
        "    more = {'LOCAL_RANK': rank, 'RANK': rank, 'LOCAL_WORLD_SIZE': '2'}\n"
        "    flags = ['-I'] if rank == '1' else []\n"
        "    command = [sys.executable, *flags, 'train.py']\n"
        "    subprocess.run(command, env={**os.environ, **more}, check=True)\n"
    )
    done = d9m("lock", "--steps", "2", "--", str(TORCH), "ranks.py")
    assert done.returncode == 4, done.stderr
    assert "local rank 1" in done.stderr
    assert not (project / "d9m.lock.json").exists()


def test_without_a_lock_there_is_nothing_to_verify(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.chdir(tmp_path)
    done = d9m("verify", "--", "x")
    assert done.returncode == 5
    assert "d9m.lock.json" in done.stderr
