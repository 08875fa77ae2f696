"""Settings and calls that a program makes already: one environment judges them all."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from process import d9m

CALL = "lightning.seed_everything(workers=True)"


@pytest.fixture
def env_file(tmp_path: Path) -> str:
    path = tmp_path / "job.env"
    path.write_text("PL_GLOBAL_SEED=3\nCUBLAS_WORKSPACE_CONFIG=:4096:8\n")
    return str(path)


def existing(*arguments: str) -> list[Any]:
    done = d9m(
        "advise", "--torch", "2.4", "--ops", "mm", "--calls", CALL, "--format", "json", *arguments
    )
    assert done.stderr == ""
    return json.loads(done.stdout)["existing"]


def test_a_package_that_a_call_brings_along_is_part_of_what_settings_are_judged_in(
    env_file: str,
) -> None:
    brought = existing("--env-file", env_file)
    assert brought == existing("--with", "lightning", "--env-file", env_file)
    assert [(each["name"], each["status"]) for each in brought] == [
        ("CUBLAS_WORKSPACE_CONFIG", "needed"),
        ("PL_GLOBAL_SEED", "harmless"),  # Lightning reads it
    ]
