"""Ranks: a stream for each, and the collectives that tie them together."""

from __future__ import annotations

import json
import socket
from typing import Any

import pytest
from recorded import Recorded, record, torch_python

from conftest import shared


def free_port() -> str:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return str(found.getsockname()[1])


@pytest.fixture(scope="module")
def two_ranks() -> Recorded:
    python = torch_python()
    launcher = ("-m", "torch.distributed.run", "--nproc-per-node", "2", "--master-port")
    options = "--level op --inputs exact"
    return Recorded(
        shared(
            "ranks",
            lambda folder: record(folder, options, python, *launcher, free_port(), "ranks.py"),
        )
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
