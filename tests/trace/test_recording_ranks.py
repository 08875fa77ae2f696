"""Ranks: a stream for each, and the collectives that tie them together."""

from __future__ import annotations

import json
import socket
from pathlib import Path
from typing import Any

import pytest
from recorded import TRIES, Recorded, difference, need_processors, record, torch_python

from conftest import shared
from process import d9m


def free_port() -> str:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return str(found.getsockname()[1])


@pytest.fixture(scope="module")
def two_ranks() -> Recorded:
    return Recorded(shared("ranks", lambda folder: launched(folder, "ranks.py")))


def launched(folder: Path, program: str, *arguments: str, **variables: str) -> Recorded:
    """What torchrun leaves of two ranks."""
    launcher = ("-m", "torch.distributed.run", "--nproc-per-node", "2", "--master-port")
    options = "--level op --inputs exact"
    return record(
        folder, options, torch_python(), *launcher, free_port(), program, *arguments, **variables
    )


def collectives(stream: list[Any]) -> list[Any]:
    return [line for line in stream if isinstance(line, list) and line[0] == "k"]


def test_each_rank_has_a_stream_and_the_launcher_none(two_ranks: Recorded) -> None:
    assert (two_ranks.code, two_ranks.errors) == (0, "")
    assert sorted(two_ranks.stdout.splitlines()) == ["rank 0 4.0", "rank 1 4.0"]
    headers = [stream[0] for stream in two_ranks.streams()]
    assert [(header["rank"], header["process"]) for header in headers] == [(0, 0), (1, 0)]
    assert "2 processes, 2 steps" in two_ranks.stderr


def test_collectives_have_the_same_numbers_on_every_rank(two_ranks: Recorded) -> None:
    first, second = (collectives(stream) for stream in two_ranks.streams())
    names = [(op, group, number) for _k, op, group, number, _inputs, _written in first]
    assert names == [(op, group, number) for _k, op, group, number, _inputs, _written in second]
    assert [number for _op, _group, number in names] == list(range(len(names)))
    assert [op for op, _group, _number in names[-2:]] == ["c10d::allreduce_", "c10d::allgather_"]


def test_what_a_collective_wrote_is_marked_where_it_is_read(two_ranks: Recorded) -> None:
    for stream in two_ranks.streams():
        summed, gathered = collectives(stream)[-2:]
        read = [
            digest
            for line in stream[stream.index(gathered) :]
            if isinstance(line, list) and line[0] == "o"
            for digest in line[3]
        ]
        for storage in gathered[5]:
            assert any(digest.endswith(f"r{storage}") for digest in read)
        (storage,) = summed[5]
        text = json.dumps(stream[stream.index(summed) : stream.index(gathered)])
        assert f'r{storage}"' in text


def test_ranks_learn_the_same(two_ranks: Recorded) -> None:
    first, second = two_ranks.streams()
    updated = [[line[1] for line in stream[1:-1] if line[0] == "p"] for stream in (first, second)]
    assert updated[0] == updated[1]
    assert len(updated[0]) == 2
    losses = [[line[1] for line in stream[1:-1] if line[0] == "l"] for stream in (first, second)]
    assert losses[0] != losses[1]


@pytest.mark.parametrize(
    ("method", "code"), [("spawn", 0), pytest.param("fork", 3, marks=pytest.mark.nightly)]
)
def test_ranks_that_a_program_starts_itself_are_told_from_each_other(
    tmp_path: Path, method: str, code: int
) -> None:
    """A process that was forked ends past what Python does at its end: its recording lacks its own
    end, so that the comparison is not known to be whole.
    """
    runs = [
        record(tmp_path / run, "", torch_python(), "spawned.py", free_port(), method)
        for run in "ab"
    ]
    for run in runs:
        assert (run.code, run.errors) == (0, "")
        assert sorted(file.name for file in run.run.glob("*.d9m")) == ["r0-0.d9m", "r1-0.d9m"]
        assert [stream[0]["rank"] for stream in run.streams()] == [0, 1]
    gradients = [
        [line[1] for line in stream[1:-1] if line[0] == "g"] for stream in runs[0].streams()
    ]
    assert len(gradients[0]) == 2
    done = d9m("diff", "--format", "json", *(str(run.run) for run in runs))
    assert (done.returncode, done.stderr) == (code, "")
    assert json.loads(done.stdout)["same"]


@pytest.mark.parametrize("how", ["ddp", "fsdp1", "fsdp2"])
def test_what_one_rank_of_a_sharded_model_begins_is_found_with_rank_step_and_line(
    tmp_path: Path, how: str
) -> None:
    runs = [
        launched(tmp_path / run, "sharded.py", how, SEED=seed) for run, seed in ("a1", "b1", "c2")
    ]
    equal = difference(runs[0], runs[1])
    assert equal["causes"] == []
    assert {"gradients", "parameters"} <= set(equal["learned"])
    found = difference(runs[0], runs[2])
    (cause,) = found["causes"]
    assert (cause["kind"], cause["op"]) == ("seed", "aten::rand")
    assert (cause["process"], cause["also"], cause["step"]) == ("rank 1", [], 2)
    assert (cause["source"]["file"], cause["a"], cause["b"]) == ("sharded.py", "1", "2")
    assert found["differs"] == {"rank 0": 2, "rank 1": 2}


def test_what_differs_on_one_rank_is_inherited_by_the_other(tmp_path: Path) -> None:
    need_processors()
    for attempt in range(TRIES):
        runs = [launched(tmp_path / f"{attempt}{run}", "rank_cause.py") for run in "ab"]
        found = difference(*runs)
        if found["causes"]:
            break
    (cause,) = found["causes"]
    assert (cause["kind"], cause["op"], cause["process"]) == ("op", "aten::index_put", "rank 1")
    assert cause["also"] == []
    assert cause["reaches"]["parameters"] == 0
    ranks = [stream for run in runs for stream in run.streams() if stream[0]["rank"] == 0]
    sums = [[line[1] for line in stream[1:-1] if line[0] == "p"] for stream in ranks]
    assert sums[0] != sums[1], "rank 0 learned something else, too"
