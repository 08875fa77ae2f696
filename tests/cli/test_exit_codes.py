"""Every command line of the contract, and the exit code that it ends with."""

from __future__ import annotations

import itertools
import json
import subprocess
import sys
from pathlib import Path

import pytest

from d9m.errors import ExitCode
from d9m.exit_codes import CommandResult, exit_code
from d9m.render.advice import FORMATS
from process import d9m

ANSWERED = [
    ("advise --tf 2.0 --ops conv,bias_add", 0),
    ("advise --tf 2.0 --ops conv --ops bias_add", 0),
    ("advise --torch 2.4 --ops interpolate:mode=bilinear,index_add,cumsum", 1),
    ("advise --torch 2.4 --ops interpolate:mode=bilinear,index_add", 0),
    ("advise --container nvcr.io/nvidia/tensorflow:20.03-tf2-py3 --ops conv", 0),
    ("advise --container ngc-tensorflow:20.03-tf2 --ops conv", 0),
    ("advise --container my.registry:5000/mirror/nvidia/tensorflow:20.03-tf2-py3 --ops conv", 0),
    ("advise --container ngc-pytorch:23.12 --ops conv", 0),
    ("advise --container ngc-pytorch:23.12 --with megatron-core=0.8 --with transformer-engine", 1),
    ("advise --tf 2.0 --with horovod --fact xla=true", 1),
    ("advise --with tensorflow=2.0 --ops conv", 0),
    ("advise --with tensorflow --ops conv", 3),
    ("advise --tf any --ops conv", 3),
    ("advise --jax any", 3),
    ("advise --tf 2.2.0-dev20200428 --ops conv", 0),
    ("advise --torch v2.4 --ops index_add", 0),
    ("advise --torch 2.4.1+cu121 --ops index_add", 0),
    ("advise --torch 2.1.0a0+32f93b1 --ops index_add", 0),
    ("advise --tensorflow 2.0 --op conv", 0),
    ("advise --pytorch 2.4 --ops index_add --device gpu", 0),
    ("advise --torch latest --ops index_add", 0),
    ("advise --torch >=2.4,<2.7 --ops index_add", 0),
    ("advise --with torch>=2.13 --ops index_add", 0),
    ("advise --with torch==2.4.0 --ops index_add --gpu H100", 0),
    ("advise --torch 2.4 --ops index_add --quiet", 0),
    ("advise --container pytorch/pytorch:2.4.0-cuda12.4-cudnn9-runtime --ops index_add", 0),
    ("advise --container tensorflow/tensorflow:2.16.1-gpu --ops conv", 0),
    ("advise --torch 99.0 --ops index_add", 3),
    ("advise --torch 99.0 --ops index_add --allow-unknown", 0),
    ("advise --torch 2.4 --ops cumsum --allow-unknown", 1),
    ("advise --torch 2.4 --ops cumsum --exit-zero", 0),
    ("advise --tf any --ops conv --exit-zero --format env", 0),
    ("advise --torch 2.6 --diff 2.6..2.4 --ops cumsum --exit-zero", 0),
    ("advise --torch 2.4 --ops cumsum --device cpu", 0),
    ("advise --torch 2.4 --ops grid_sample --inference", 0),
    ("advise --torch 2.4 --ops grid_sample", 1),
    ("advise --torch 2.4 --ops scatter_reduce", 3),
    ("advise --torch 2.4 --ops torch_scatter.scatter", 0),
    ("advise --torch 2.4 --ops conv --scope batch", 1),
    ("advise --torch 2.4 --diff 2.4..2.6 --ops cumsum", 0),
    ("advise --torch 2.6 --diff 2.6..2.4 --ops cumsum", 1),
    ("advise --torch 2.4 --diff 2.4..99.0 --ops index_add", 1),
    ("advise --torch 2.4 --diff 2.4..2.6", 3),
    ("advise --torch 2.4 --diff 2.4..2.6 --allow-unknown", 0),
    ("advise --torch 2.4 --diff 2.4..2.6 --exit-zero", 0),
    ("advise --torch 2.4 --ops index_add --from-env", 1),
    ("advise --torch 2.9 --with lightning=2.5 --ops index_add --calls seed_everything", 0),
    (
        (
            "advise --torch 2.9 --with lightning=2.5 --ops index_add --calls "
            "Trainer(deterministic=False)"
        ),
        1,
    ),
    (
        "advise --with megatron-core=0.19 --with vllm=0.32 --fact online_serving=true --fact sm=90",
        1,
    ),
    ("explain cumsum_cuda_kernel does not have a deterministic implementation", 0),
    ("show TDO", 0),
    ("show bias_add torch CUBLAS_WORKSPACE_CONFIG", 0),
    (
        "explain Determinism is not yet supported in GPU implementation of tf.math.segment_sum.",
        3,
    ),
    ("list", 0),
    ("list issues --grep zzzzzz", 4),
    ("list rules --grep zzzzzz", 4),
    ("check --list --ops index_add", 0),
    ("kb stats", 0),
    ("--version", 0),
    ("--explain-exit", 0),
]

REFUSED = [
    ("", 2),
    ("frobnicate", 2),
    ("advise --frobnicate", 2),
    ("advise extra", 2),
    ("advise --torch", 2),
    ("advise", 2),
    ("advise --tf 2.0 --ops no_such_op", 2),
    ("advise --tf 2.0.9", 2),
    ("advise --tf twothree", 2),
    ("advise --with no_such_package", 2),
    ("advise --with torch=", 2),
    ("advise --container no-such-image:1.0", 2),
    ("advise --container ngc-pytorch", 2),
    ("advise --container ngc-pytorch:18.00", 2),
    ("advise --container ngc-tensorflow:20.03", 2),
    ("advise --torch 2.4 --fact no_such_fact=true", 2),
    ("advise --torch 2.4 --fact amp=perhaps", 2),
    ("advise --torch 2.4 --fact amp", 2),
    ("advise --torch 2.4 --device abacus", 2),
    ("advise --torch 2.4 --gpu abacus", 2),
    ("advise --torch <0.1", 2),
    ("advise --torch 2.4 --from no-such-file", 5),
    ("advise --torch 2.4 -q --format json", 2),
    ("advise --torch 2.4 --scope galaxy", 2),
    ("advise --torch 2.4 --format yaml", 2),
    ("advise --torch 2.4 --color purple", 2),
    ("advise --torch 2.4 --diff 2.4", 2),
    ("advise --torch 2.4 --diff 2.4..2.5.9", 2),
    ("advise --torch 2.4 --diff 2.4..2.6 --format env", 2),
    ("advise --torch 2.4 --ops tf.nn.bias_add", 2),
    ("advise --torch 2.4 --ops interpolate[mode=bilinear", 2),
    ("advise --torch 2.4 --ops interpolate[mode=bilinear, antialias=true]", 2),
    ("advise --torch 2.4 --ops interpolate[mode=cubist]", 2),
    ("advise --torch 2.4 --ops interpolate:sideways", 2),
    ("advise --torch 2.4 --ops @no-such-file", 5),
    ("advise --torch 2.4 --env-file no-such-file", 5),
    ("advise --torch 2.4 --ops conv -o no-such-folder/answer", 2),
    ("explain zzzzzz", 2),
    ("show no_such_thing", 2),
    ("show", 2),
    ("list no_such_list", 2),
    ("list sources --package no_such_package", 2),
    ("list sources --format yaml", 2),
    ("kb frobnicate", 2),
    ("kb lint no-such-folder", 5),
    ("kb lint", 5),
    ("kb mutate --sample 0", 2),
    ("check --device abacus", 2),
    ("check --device rocm", 4),
]

CONTRADICTIONS = [
    "advise --tf 2.0 --tf 2.1",
    "advise --tf 2.0 --with tensorflow=2.1",
    "advise --with torch=2.4 --with pytorch=2.5",
    "advise --container ngc-pytorch:23.12 --torch 2.4",
    "advise --container ngc-pytorch:23.12 --ops tf.nn.conv2d",
    "advise --torch 2.4 --fact amp=true --fact amp=false",
    "advise --torch 2.4 --inference --fact training=true",
    "advise --torch 2.4 --gpu H100 --fact sm=80",
    "advise --torch 2.4 --gpu MI300X --device cuda",
    "advise --torch 2.4 --ops interpolate[mode=bilinear]:mode=nearest",
]

EMPTY = [
    ["advise", "--torch", ""],
    ["advise", "--container", ""],
    ["advise", "--with", ""],
    ["advise", "--torch", "2.4", "--ops", ""],
    ["advise", "--torch", "2.4", "--ops", " , ,"],
    ["advise", "--torch", "2.4", "--ops", "-"],
    ["advise", "--torch", "2.4", "--fact", ""],
    ["advise", "--torch", "2.4", "--device", ""],
    ["advise", "--torch", "2.4", "--gpu", ""],
    ["advise", "--from", ""],
    ["advise", "--torch", "2.4", "--diff", ""],
    ["show", ""],
    ["explain", ""],
    ["list", ""],
]


@pytest.mark.parametrize(("command", "code"), ANSWERED)
def test_an_answer_is_on_stdout_alone(command: str, code: int) -> None:
    done = d9m(*command.split(" ", 1 if command.startswith("explain") else -1))
    assert (done.returncode, done.stderr) == (code, "")
    assert done.stdout


@pytest.mark.parametrize(("command", "code"), REFUSED)
def test_an_error_leaves_stdout_empty(command: str, code: int) -> None:
    _is_refused(command.split(), code)


@pytest.mark.parametrize("command", CONTRADICTIONS)
def test_things_given_that_contradict_each_other_are_refused(command: str) -> None:
    _is_refused(command.split(), 2)


@pytest.mark.parametrize("arguments", EMPTY, ids=" ".join)
def test_an_empty_value_is_refused(arguments: list[str]) -> None:
    _is_refused(arguments, 2)


def _is_refused(arguments: list[str], code: int) -> None:
    done = d9m(*arguments)
    assert (done.returncode, done.stdout) == (code, "")
    assert done.stderr.startswith(("d9m: ", "Usage: ", "Error: "))
    assert "Traceback" not in done.stderr


def test_the_table_of_exit_codes_is_printed_whole() -> None:
    printed = " ".join(d9m("--explain-exit").stdout.split())
    meanings = " ".join(f"{int(code)} {code.meaning}" for code in ExitCode)
    assert printed == f"{meanings} The first that applies of 5, 4, 2, 1, 3 and 0."


@pytest.mark.parametrize("allow_unknown", [False, True])
@pytest.mark.parametrize("exit_zero", [False, True])
def test_an_exit_code_is_the_first_that_applies(allow_unknown: bool, exit_zero: bool) -> None:
    for flags in itertools.product([False, True], repeat=4):
        did_nothing, has_usage_errors, has_findings, is_incomplete = flags
        codes = [
            (did_nothing, 4),
            (has_usage_errors, 2),
            (has_findings and not exit_zero, 1),
            (is_incomplete and not exit_zero and not allow_unknown, 3),
            (True, 0),
        ]
        result = CommandResult(did_nothing, has_usage_errors, has_findings, is_incomplete)
        code = exit_code(result, allow_unknown=allow_unknown, exit_zero=exit_zero)
        assert code == next(code for applies, code in codes if applies)


COMPLETE = {"CUBLAS_WORKSPACE_CONFIG": ":4096:8", "PYTHONHASHSEED": "0"}


@pytest.mark.parametrize(
    ("changed", "code"),
    [
        ({}, 0),
        ({"NCCL_DETERMINISTIC": "1"}, 0),
        ({"CUBLAS_WORKSPACE_CONFIG": ":4096:2"}, 1),
        ({"PYTHONHASHSEED": "random"}, 1),
        ({"PYTHONHASHSEED": "-1"}, 1),
        ({"PYTHONHASHSEED": "4294967296"}, 1),
        ({"PYTHONHASHSEED": "+5"}, 0),
        ({"PYTHONHASHSED": "0"}, 1),
    ],
)
def test_a_setting_that_works_against_the_advice_is_a_finding(
    changed: dict[str, str], code: int, tmp_path: Path
) -> None:
    done = _linear(tmp_path, _lines({**COMPLETE, **changed}))
    assert (done.returncode, done.stderr) == (code, ""), done.stdout


@pytest.mark.parametrize("options", ["", "-q", *(f"--format {name}" for name in FORMATS)])
def test_advise_exits_1_when_a_setting_is_missing(options: str, tmp_path: Path) -> None:
    if options.endswith(("clara", "megatron")):
        return  # no part of the advice belongs into these
    text = _lines({"PYTHONHASHSEED": "0"})
    done = _linear(tmp_path, text, *options.split())
    assert done.returncode == 1
    assert _linear(tmp_path, text, *options.split(), "--allow-unknown").returncode == 1
    assert _linear(tmp_path, text, *options.split(), "--exit-zero").returncode == 0
    if options in ("", "-q"):
        verdict = "CUBLAS_WORKSPACE_CONFIG is missing. Linear is deterministic once it is set."
        assert done.stdout.startswith(verdict)
    if options == "--format json":
        assert json.loads(done.stdout)["missing"] == ["CUBLAS_WORKSPACE_CONFIG"]
    assert _linear(tmp_path, _lines(COMPLETE), *options.split()).returncode == 0


@pytest.mark.parametrize("variables", [{}, {"PYTHONHASHSEED": "0"}, COMPLETE])
def test_from_env_exits_1_when_a_setting_is_missing(variables: dict[str, str]) -> None:
    done = d9m("advise", "--torch", "2.4", "--ops", "nn.Linear", "--from-env", "-q", **variables)
    assert done.returncode == (0 if variables == COMPLETE else 1)


UNKNOWN = ["", "# nothing\n", "{}", "foo.bar=1\n", "HOME=/root\n", '{"epochs": 3, "a": {"b": 1}}']


@pytest.mark.parametrize("text", UNKNOWN)
def test_a_file_without_a_known_setting_is_named_and_the_missing_ones_are_listed(
    text: str, tmp_path: Path
) -> None:
    done = _linear(tmp_path, text, "-q")
    assert (done.returncode, done.stderr) == (1, "")
    assert " ".join(done.stdout.split()) == (
        "Nothing in job.env is a setting that d9m knows. CUBLAS_WORKSPACE_CONFIG and "
        "PYTHONHASHSEED are missing. Linear is deterministic once they are set."
    )


def test_a_file_without_a_known_setting_is_named_beside_an_environment_that_has_all(
    tmp_path: Path,
) -> None:
    done = _linear(tmp_path, "foo=1\n", "-q", "--from-env", **COMPLETE)
    assert done.returncode == 0
    assert done.stdout.startswith("Nothing in job.env is a setting that d9m knows.")


def test_keys_of_another_program_are_no_settings_of_this_one(tmp_path: Path) -> None:
    done = _linear(tmp_path, '{"determinism": {"tf_seed": 1}}', "-q")
    assert done.returncode == 1
    assert done.stdout.startswith("CUBLAS_WORKSPACE_CONFIG and PYTHONHASHSEED are missing.")


NESTED = [
    '{"env": {"CUBLAS_WORKSPACE_CONFIG": ":0:0"}}',
    '{"settings": {"env": {"CUBLAS_WORKSPACE_CONFIG": ":4096:8"}}, "PYTHONHASHSEED": "0"}',
    "env.CUBLAS_WORKSPACE_CONFIG=:4096:8\n",
]


@pytest.mark.parametrize("text", NESTED)
def test_a_variable_inside_something_else_is_refused(text: str, tmp_path: Path) -> None:
    done = _linear(tmp_path, text)
    assert (done.returncode, done.stdout) == (5, "")
    assert "job.env: CUBLAS_WORKSPACE_CONFIG is inside '" in done.stderr


def _lines(settings: dict[str, str]) -> str:
    return "".join(f"{name}={value}\n" for name, value in settings.items())


def _linear(
    folder: Path, text: str, *options: str, **variables: str
) -> subprocess.CompletedProcess[str]:
    """Hold settings against the advice for a linear layer."""
    (folder / "job.env").write_text(text)
    question = ("advise", "--torch", "2.4", "--ops", "nn.Linear", "--env-file", "job.env")
    return d9m(*question, *options, cwd=folder, **variables)


NOTHING = [
    ("kb lint .", 5),
    ("kb audit .", 4),
    ("kb build -o out", 5),
    ("kb stats", 5),
    ("kb mutate --cases .", 4),
    ("list", 5),
    ("list sources", 5),
    ("show torch", 5),
    ("explain deterministic", 5),
    ("advise --torch 2.4", 5),
    ("check --list", 5),
]


@pytest.mark.parametrize(("command", "code"), NOTHING)
def test_a_folder_without_records_never_ends_with_0(
    command: str, code: int, tmp_path: Path
) -> None:
    done = d9m(*command.split(), cwd=tmp_path, D9M_KB=".")
    assert done.returncode == code
    assert list(tmp_path.iterdir()) == []


INTERNAL = """
import sys
from d9m.cli import application, main
def broken(_arguments):
    raise ValueError("planted")
application.application = broken
sys.argv = ["d9m", "list"]
main.main()
"""


def test_an_internal_error_is_no_finding() -> None:
    done = subprocess.run(
        [sys.executable, "-c", INTERNAL], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (5, "")
    assert "planted" in done.stderr
    assert "d9m: internal error" in done.stderr


def test_a_device_alone_is_heard_beside_a_text() -> None:
    complaint = "index_add in PyTorch differs between runs"
    assert " · CUDA · " in d9m("explain", complaint).stdout
    assert "CUDA" not in d9m("explain", "--device", "cpu", complaint).stdout
