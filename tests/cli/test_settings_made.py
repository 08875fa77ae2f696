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


# flash-attention v2.7.0.post2 has no such name, v2.7.1 has; the last one is in no tag to v2.8.3
AMD = [
    ("2.7.0", "FLASH_ATTENTION_TRITON_AMD_ENABLE=TRUE", "no-effect"),
    ("2.7.1", "FLASH_ATTENTION_TRITON_AMD_ENABLE=TRUE", "harmless"),
    ("2.8.3", "FLASH_ATTENTION_FWD_TRITON_AMD_CONFIG_JSON={}", "no-effect"),
]


@pytest.mark.parametrize(("release", "line", "status"), AMD)
def test_a_variable_counts_in_the_releases_that_read_it(
    tmp_path: Path, release: str, line: str, status: str
) -> None:
    path = tmp_path / "amd.env"
    path.write_text(line)
    place = ("--with", f"flash-attn={release}", "--device", "rocm")
    done = d9m("advise", *place, "--format", "json", "--env-file", str(path))
    assert [each["status"] for each in json.loads(done.stdout)["existing"]] == [status]


def test_a_call_that_only_warns_is_known_by_its_argument() -> None:
    question = ("advise", "--torch", "2.9", "--with", "lightning=2.5", "--ops", "histc")
    warned = " ".join(d9m(*question, "--calls", 'Trainer(deterministic="warn")').stdout.split())
    assert "histc warns, and is nondeterministic" in warned
    assert 'lightning.Trainer(deterministic="warn") ! with it an op above warns' in warned
    raised = " ".join(d9m(*question, "--calls", "Trainer(deterministic=True)").stdout.split())
    assert "histc raises an error with lightning.Trainer(deterministic=True)." in raised


SWITCHES = [
    ("--torch 2.4", "torch.use_deterministic_algorithms(True, warn_only=True)"),
    ("--torch 2.4", "torch.use_deterministic_algorithms(True)"),
    ("--torch 2.4", "torch.backends.cudnn.deterministic = True"),
    ("--tf 2.9", "tf.config.experimental.enable_op_determinism()"),
    ("--tf 2.9", "enable_op_determinism()"),
]


@pytest.mark.parametrize(("place", "call"), SWITCHES)
def test_the_switches_of_a_framework_are_calls(place: str, call: str) -> None:
    done = d9m("advise", *place.split(), "--ops", "conv", "--calls", call, "--format", "json")
    answer = json.loads(done.stdout)
    (helper,) = answer["helpers"]
    assert helper["call"] == call
    assert len(helper["covers"]) == 1
    (step,) = [step for step in answer["steps"] if step["covered_by"] == call]
    assert step["name"] in helper["covers"]


IGNORED = ["--calls seed_everything", "--env-file job.env", "--from-env", "--quiet", "--all"]


@pytest.mark.parametrize("options", IGNORED)
def test_a_comparison_of_releases_refuses_what_it_would_ignore(options: str) -> None:
    done = d9m("advise", "--torch", "any", "--diff", "2.4..2.6", *options.split())
    assert (done.returncode, done.stdout) == (2, "")
    assert f"it has no use for {options.split()[0]}" in done.stderr
