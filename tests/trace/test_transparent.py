"""A recorded program does what it does without a recorder: output, exit code, files, memory.

By day a sample runs, op by op; at night every program of `transparent/` at every level.
"""

from __future__ import annotations

import functools
import json
import re
import shutil
import tempfile
from pathlib import Path

import plain_and_recorded
import pytest
from plain_and_recorded import TriedProgram
from recorded import framework_python, torch_python
from written import opened

LEVELS = ("step", "module", "op")
SAMPLE = (
    "dispatch_subclass",
    "fake_tensors",
    "function_mode",
    "nested_tensors",
    "uncaught",
    "warnings_as_errors",
)
"""Those that differ most from each other in what the recorder has to leave alone."""

GROWTH = 1.1
"""Peak memory of a recorded run, in that of the plain one. Importing PyTorch takes 350 MB of it, so
nothing is added for the recorder's own modules."""


@functools.cache
def plain(python: str, name: str) -> TriedProgram:
    place = Path(tempfile.mkdtemp(prefix="d9m-plain-"))
    try:
        return plain_and_recorded.run(python, name, place / "run", None)
    finally:
        shutil.rmtree(place)


def must_not_change(python: str, name: str, level: str, place: Path) -> None:
    before = plain(python, name)
    recorded = plain_and_recorded.run(python, name, place / "run", level)
    assert recorded.complaints == []
    assert recorded.seen == before.seen
    assert recorded.stderr == before.stderr
    assert recorded.peak < GROWTH * before.peak


@pytest.mark.parametrize("name", SAMPLE)
def test_recording_ops_does_not_change_a_program(name: str, tmp_path: Path) -> None:
    must_not_change(torch_python(), name, "op", tmp_path)


@pytest.mark.nightly
@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("name", plain_and_recorded.names())
def test_recording_does_not_change_a_program(name: str, level: str, tmp_path: Path) -> None:
    must_not_change(torch_python(), name, level, tmp_path)


@pytest.mark.nightly
@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("name", ["fake_tensors", "function_mode", "sharded_tensors"])
def test_recording_does_not_change_a_program_of_an_old_release(
    name: str, level: str, tmp_path: Path
) -> None:
    must_not_change(framework_python("torch-2.4.1"), name, level, tmp_path)


def test_parameters_of_ranks_are_compared_by_their_shards(tmp_path: Path) -> None:
    run = plain_and_recorded.run(torch_python(), "two_ranks", tmp_path / "run", "op")
    assert (run.seen.code, run.complaints, run.streams) == (0, [], 2)
    for path in sorted((tmp_path / "run" / "record").glob("*.d9m")):
        lines = [json.loads(line) for line in opened(path)]
        learned = [line for line in lines if isinstance(line, list) and line[0] in "igp"]
        assert [line[0] for line in learned] == ["i", "g", "p", "g", "p"]
        for _letter, _whole, each in learned:
            assert len(each) == 4
            assert all(re.match("[0-9a-f]{8}", digest) for digest in each)
        parameters = [each for letter, _whole, each in learned if letter in "ip"]
        assert all(one != other for one, other in zip(parameters[0], parameters[1], strict=True))
        in_flight = [
            line
            for line in lines
            if isinstance(line, list) and line[0] == "k" and "_wrap_tensor" in line[1]
        ]
        assert in_flight == []


def test_ops_on_fake_tensors_are_not_recorded(tmp_path: Path) -> None:
    run = plain_and_recorded.run(torch_python(), "fake_tensors", tmp_path / "run", "op")
    assert run.streams == 1
    (path,) = (tmp_path / "run" / "record").glob("*.d9m")
    lines = [json.loads(line) for line in opened(path)]
    sites = {line[2] for line in lines if isinstance(line, list) and line[0] == "S"}
    assert "aten::mul" in sites
    assert not sites & {"aten::mm", "aten::relu_", "aten::empty", "aten::addmm"}
