"""Programs that other programs start: `accelerate launch`, and a notebook that Jupyter runs."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest
from recorded import TESTS, Recorded, difference, launcher_python, record, torch_python

from d9m.trace import contents

TRAINING = """
import torch
torch.manual_seed(0)
model = torch.nn.Linear(3, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
def train():
    for _step in range(3):
        optimizer.zero_grad()
        model(torch.ones(2, 3)).square().sum().backward()
        optimizer.step()
"""


@pytest.mark.parametrize(
    ("devices", "ranks"),
    [("--cpu --num_processes 1", [0]), ("--multi_gpu --num_processes 2", [0, 1])],
)
def test_accelerate_leaves_a_stream_for_each_rank(
    tmp_path: Path, devices: str, ranks: list[int]
) -> None:
    """The program computes on the CPU either way; the second one starts two processes."""
    launch = f"-m accelerate.commands.launch {devices} --num_machines 1 --mixed_precision no"
    launch += " --dynamo_backend no --main_process_port 0 accelerated.py"
    found = record(tmp_path, "--level op", launcher_python(), *launch.split())
    assert (found.code, found.errors) == (0, ""), found.stderr
    streams = found.streams()
    assert [stream[0]["rank"] for stream in streams] == ranks
    steps = 4 // len(ranks)
    for stream in streams:
        records = stream[1:-1]
        assert len([line for line in records if line[0] == "g"]) == steps
        assert len([line for line in records if line[0] == "p"]) == steps
        assert stream[-1]["ended"] == "exit"
    updated = [[line[1] for line in stream[1:-1] if line[0] == "p"] for stream in streams]
    assert all(sums == updated[0] for sums in updated)


def notebook(path: Path, *cells: str) -> Path:
    """A notebook with these cells of code."""
    about = {"metadata": {}, "outputs": [], "execution_count": None}
    written = [
        {"cell_type": "code", "id": f"cell{number}", "source": text, **about}
        for number, text in enumerate(cells)
    ]
    content = {"cells": written, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    path.write_text(json.dumps(content))
    return path


def execute(notebook: Path) -> list[str]:
    """What starts Jupyter, to run a notebook from begin to end."""
    nbconvert = ["-m", "nbconvert", "--to", "notebook", "--execute", "--output", "ran.ipynb"]
    return [launcher_python(), *nbconvert, str(notebook)]


def test_a_notebook_is_recorded_with_its_cells(tmp_path: Path) -> None:
    path = notebook(tmp_path / "training.ipynb", TRAINING, "train()")
    found = record(tmp_path / "a", "--level op", *execute(path))
    assert (found.code, found.errors) == (0, ""), found.stderr
    assert [line[1] for line in found.records("d")][:3] == [0, 1, 2]
    assert found.stream()[0]["argv"][:1] == ["notebook"]
    assert ["In[1]", 8] in [site[7][:2] for site in found.records("S") if site[7]]


def test_a_block_of_a_notebook_records_itself(tmp_path: Path) -> None:
    block = "from d9m.trace import record\nwith record({run!r}, level='op'):\n    train()\n"
    runs = []
    for name in "ab":
        place = tmp_path / name
        place.mkdir()
        text = block.format(run=str(place / "run"))
        done = subprocess.run(
            execute(notebook(place / "training.ipynb", TRAINING, text, "train()")),
            env={**os.environ, "PYTHONPATH": str(TESTS.parent / "resolver")},
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stderr
        (place / "ended.json").write_text(json.dumps([0, "", ""]))
        runs.append(Recorded(place))
        stream = contents.contents(place / "run").streams[0]
        assert (stream.steps, stream.ended) == (3, "exit")
    assert difference(*runs)["same"]


POOLED = (
    TRAINING
    + """
import multiprocessing, sys
from concurrent.futures import ProcessPoolExecutor
def job(_number):
    train()
    return 1
fork = multiprocessing.get_context("fork")
if sys.argv[1] == "pool":
    with fork.Pool(2) as pool:
        print(sum(pool.imap_unordered(job, range(4))))
else:
    with ProcessPoolExecutor(2, mp_context=fork) as executor:
        print(sum(executor.map(job, range(4))))
"""
)


@pytest.mark.parametrize("kind", ["pool", "executor"])
def test_a_worker_of_a_pool_works_on_after_its_last_recorded_step(
    tmp_path: Path, kind: str
) -> None:
    """A pool waits for ever for the task of a worker that is gone."""
    (tmp_path / "train.py").write_text(POOLED)
    found = record(
        tmp_path, "--steps 1 --level op", torch_python(), str(tmp_path / "train.py"), kind
    )
    assert (found.code, found.stdout.strip()) == (0, "4"), found.stderr
