"""`d9m run` and `d9m lock` in front of launchers of ranks.

`torchrun` and `accelerate launch` are real. DeepSpeed's launcher refuses to start without a GPU and
srun without a cluster, so scripts here start processes as they do: DeepSpeed 0.19.8 in
`launcher/runner.py` and `launcher/launch.py`, srun with its default of --export=ALL.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from started import MAIN, ROOT, installed, python_with, records, run
from test_run import FAKE_TORCH

TRAINING = """
import os, sys, torch
assert torch.are_deterministic_algorithms_enabled() and os.environ["PYTHONHASHSEED"] == "0"
torch.manual_seed(int(os.environ.get("RANK", os.environ.get("SLURM_PROCID"))))
model = torch.nn.Linear(4, 4)
optimizer = torch.optim.SGD(model.parameters(), 0.1)
for step in range(3):
    optimizer.zero_grad()
    model(torch.randn(3, 4)).sum().backward()
    optimizer.step()
"""
NOTES = """
import os, torch
print("%s %s\\n" % (torch.on[0], os.environ["PYTHONHASHSEED"]), end="")
"""

DEEPSPEED = """#!{python}
import os, subprocess, sys
if "--world_info=2" not in sys.argv:
    words = [sys.executable, "-u", __file__, "--world_info=2", *sys.argv[1:]]
    sys.exit(subprocess.Popen(words, env=os.environ.copy()).wait())
env = os.environ.copy()
env.update(MASTER_ADDR="127.0.0.1", MASTER_PORT="29500", WORLD_SIZE="2", CROSS_RANK="0",
           CROSS_SIZE="1", LOCAL_SIZE="2")
started = []
for rank in range(2):
    env.update(RANK=str(rank), LOCAL_RANK=str(rank))
    words = [sys.executable, "-u", *sys.argv[2:], "--local_rank=" + str(rank)]
    if os.environ.get("ISOLATED") == str(rank):
        words.insert(1, "-I")
    started.append(subprocess.Popen(words, env=env))
sys.exit(max([each.wait() for each in started]))
"""

SRUN = """#!/bin/sh
[ "$1" = -n ] && tasks=$2 && shift 2
task=0
while [ $task -lt $tasks ]; do
    SLURM_PROCID=$task SLURM_LOCALID=$task SLURM_NTASKS=$tasks SLURM_STEP_ID=0 "$@" &
    started="$started $!"
    task=$((task + 1))
done
for each in $started; do wait $each || code=$?; done
exit ${code:-0}
"""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("PYTHONHASHSEED", raising=False)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    return tmp_path


def launcher(name: str, python: str) -> list[str]:
    """What starts two ranks of a program, written into this folder where it is not installed."""
    scripts = {"deepspeed": DEEPSPEED.replace("{python}", python), "srun": SRUN}
    if name in scripts:
        Path(name).write_text(scripts[name])
        Path(name).chmod(0o755)
    accelerate = "--multi_gpu --num_processes 2 --num_machines 1 --mixed_precision no"
    accelerate += " --dynamo_backend no --main_process_port 0"
    return {
        "torchrun": [
            python, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2",
        ],
        "accelerate": [python, "-m", "accelerate.commands.launch", *accelerate.split()],
        "deepspeed": ["deepspeed"],
        "srun": ["srun", "-n", "2", python],
    }[name]  # fmt: skip


def reported(*words: str, **variables: str) -> tuple[Any, subprocess.CompletedProcess[str]]:
    env = {**os.environ, **variables}
    done = run("--format", "json", "-o", "report.json", "--", *words, env=env)
    return json.loads(Path("report.json").read_text()), done


@pytest.fixture
def fake(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = installed(project / "packages", "torch", "1.8.0", FAKE_TORCH)
    monkeypatch.setenv("PYTHONPATH", str(place))
    (project / "train.py").write_text(NOTES)


@pytest.mark.usefixtures("fake")
@pytest.mark.parametrize("name", ["deepspeed", "srun"])
def test_settings_reach_each_rank_and_one_report_has_both(name: str) -> None:
    found, done = reported(*launcher(name, sys.executable), "train.py")
    assert (done.stdout, done.returncode) == ("True 0\nTrue 0\n", 0), done.stderr
    ranks = {each["rank"] for each in found["processes"]} - {None}
    assert (ranks, found["unreached"]) == ({"0", "1"}, [])


@pytest.mark.usefixtures("fake")
def test_a_rank_of_deepspeed_that_is_not_reached_is_counted() -> None:
    Path("train.py").write_text("pass\n")
    found, done = reported(*launcher("deepspeed", sys.executable), "train.py", ISOLATED="1")
    assert (found["unreached"], done.returncode) == (["local rank 1"], 4), done.stderr


@pytest.mark.usefixtures("fake")
def test_each_task_of_srun_may_have_a_run_and_a_report() -> None:
    srun = launcher("srun", sys.executable)[:3]
    env = {**os.environ, "D9M_KB": str(records())}
    command = [*srun, sys.executable, "-c", MAIN, str(ROOT / "resolver"), "run", "--"]
    done = subprocess.run(
        [*command, sys.executable, "train.py"], env=env, capture_output=True, text=True, check=False
    )
    assert (done.stdout, done.returncode) == ("True 0\nTrue 0\n", 0), done.stderr
    assert done.stderr.count("1 process reached") == 2


@pytest.mark.parametrize("name", ["torchrun", "accelerate", "deepspeed", "srun"])
def test_a_launched_program_is_locked_with_its_ranks(name: str, project: Path) -> None:
    python = python_with("accelerate-1.15.0" if name == "accelerate" else "torch-2.13.0")
    (project / "train.py").write_text(TRAINING)
    env = {**os.environ, "PYTHONPATH": str(ROOT / "resolver"), "D9M_KB": str(records())}
    words = ["lock", "--ranks", "--steps", "2", "--", *launcher(name, python), "train.py"]
    done = subprocess.run(
        [sys.executable, "-m", "d9m", *words], env=env, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    lock = json.loads(Path("d9m.lock.json").read_text())
    assert "Equal in 2 of 2 runs" in lock["statement"]
    assert "2 processes" in lock["statement"]
    assert "PYTHONHASHSEED" in {each["name"] for each in lock["variables"]}
