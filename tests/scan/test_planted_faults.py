"""Faults planted in a project that passes `--strict`: none of them may end with exit code 0."""

from __future__ import annotations

from pathlib import Path

import pytest

from d9m.scan.command import ending
from d9m.scan.result import ScanOutcome, missing
from scan.folders import scanned, write

TRAIN = """import os

os.environ["CUBLAS_WORKSPACE_CONFIG"] = ":4096:8"
import random

import numpy as np
import torch

random.seed(1)
np.random.seed(1)
torch.manual_seed(1)
torch.use_deterministic_algorithms(True)
torch.backends.cudnn.benchmark = False
data = torch.utils.data.TensorDataset(torch.as_tensor(np.random.rand(8, 4)).float())
loader = torch.utils.data.DataLoader(data, batch_size=2, shuffle=True)
model = torch.nn.Linear(4, 4)
if __name__ == "__main__":
    for (batch,) in loader:
        model(batch).sum().backward()
"""
JOB = "export PYTHONHASHSEED=0\npython train.py\n"
PROJECT = {"requirements.txt": "torch==2.4.1\nnumpy==1.26.4\n", "train.py": TRAIN, "run.sh": JOB}

CODE = {
    "no seed": ("torch.manual_seed(1)\n", "", "card-seeds"),
    "no seed of NumPy": ("np.random.seed(1)\n", "", "card-seeds"),
    "seed from the clock": ("manual_seed(1)", "manual_seed(int(time.time()))", "seed-from-chance"),
    "no flag": ("torch.use_deterministic_algorithms(True)\n", "", "card-flag"),
    "flag off": ("algorithms(True)", "algorithms(False)", "card-flag"),
    "no workspace": ('os.environ["CUBLAS_WORKSPACE_CONFIG"] = ":4096:8"\n', "", "card-flag"),
    "refused workspace": (":4096:8", ":0:0", "refused-value"),
    "misspelt variable": ("CUBLAS_WORKSPACE_CONFIG", "CUBLAS_WORKSPACE_CONFG", "misspelt"),
    "benchmark": ("cudnn.benchmark = False", "cudnn.benchmark = True", "benchmark-on"),
}
UNKNOWN = {
    "seed that NumPy refuses": ("np.random.seed(1)", "np.random.seed(-1)", "card-seeds"),
    "flag only warns": ("algorithms(True)", "algorithms(True, warn_only=True)", "card-flag"),
    "an op that raises": ("model(batch).sum()", "model(batch).kthvalue(1)[0].sum()", "card-ops"),
}
"""The program stops or warns: the line of the card asks, and does not fail the scan."""

WITH_LOADED = JOB.replace("python", "source ./env.sh\npython")
WORKFLOW = "on: push\njobs:\n  test:\n    env:{}\n    steps:\n    - run: python train.py\n"
CONDA = "channels: [conda-forge]\ndependencies: [python=3.11]\nvariables:{}\n"
NODES = "spec:\n  containers:\n  - env:\n    - {name: PYTHONHASHSEED, value: random}\n"
JOBS = {
    "hash seed nowhere": ({"run.sh": "python train.py\n"}, "card-hash-seed"),
    "hash seed too late": ({"run.sh": "python train.py\nexport PYTHONHASHSEED=0\n"}, "card-hash"),
    "hash seed not exported": ({"run.sh": "PYTHONHASHSEED=0\npython train.py\n"}, "card-hash"),
    "hash seed random": ({"run.sh": JOB.replace("=0", "=random")}, "refused-value"),
    "sourced file is missing": ({"run.sh": WITH_LOADED}, "unread env.sh"),
    "sourced file is of no kind": ({"run.sh": ". ./vars\n" + JOB, "vars": ""}, "unread vars"),
    "sourced file unsets": (
        {"run.sh": WITH_LOADED, "env.sh": "unset PYTHONHASHSEED\n"},
        "card-hash-seed",
    ),
    "sourced file sets another value": (
        {"run.sh": WITH_LOADED, "env.sh": "export PYTHONHASHSEED=random\n"},
        "card-hash-seed",
    ),
    "conda": ({"environment.yml": CONDA.format("\n  PYTHONHASHSEED: random")}, "environment.yml"),
    "conda in braces": (
        {"environment.yml": CONDA.format(" {PYTHONHASHSEED: random}")},
        "environment.yml",
    ),
    "workflow": (
        {".github/workflows/t.yml": WORKFLOW.format("\n      PYTHONHASHSEED: random")},
        "t.yml",
    ),
    "workflow in braces": (
        {".github/workflows/t.yml": WORKFLOW.format(" {A: 1, PYTHONHASHSEED: random}")},
        "t.yml",
    ),
    "container of a cluster": ({"pod.yml": NODES}, "pod.yml"),
    "script that does not parse": ({"train.py": TRAIN + "def (:\n"}, "unread train.py"),
}


def _named(outcome: ScanOutcome) -> list[str]:
    """Return what a strict scan objects to."""
    report = outcome.report
    found = [f"{check.code} {program.path}" for program, check in missing(report)]
    found += (f"{each.code} {each.path}" for each in report.findings if each.severity == "error")
    return found + [f"unread {each.path}" for each in report.files.unreadable if each.needed]


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    write(tmp_path, PROJECT)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def _assert_named(part: str) -> None:
    outcome = scanned(strict=True)
    assert ending(outcome) in (1, 3), [check.text for check in outcome.report.programs[0].checks]
    assert any(part in each for each in _named(outcome)), _named(outcome)


def test_the_project_without_a_fault_passes() -> None:
    outcome = scanned(strict=True)
    assert (ending(outcome), _named(outcome)) == (0, [])


@pytest.mark.parametrize(
    "loaded", ["source ./env.sh\n", '. "$(dirname "$0")/env.sh"\n', "source ../env.sh\n"]
)
def test_a_sourced_file_sets_variables_of_the_job(here: Path, loaded: str) -> None:
    write(here, {"run.sh": f"{loaded}python train.py\n", "env.sh": "export PYTHONHASHSEED=0\n"})
    outcome = scanned(strict=True)
    checks = {check.code: check.status for check in outcome.report.programs[0].checks}
    assert (ending(outcome), checks["card-hash-seed"]) == (0, "ok")


@pytest.mark.parametrize(
    "loaded", ["venv/bin/activate", "~/.bashrc", "$CONDA/a.sh", "${X}/a.sh", "/a"]
)
def test_a_sourced_file_outside_the_project_is_not_missed(here: Path, loaded: str) -> None:
    write(here, {"run.sh": f"source {loaded}\n{JOB}"})
    assert ending(scanned(strict=True)) == 0


@pytest.mark.parametrize("fault", CODE)
def test_a_fault_in_code_is_named(here: Path, fault: str) -> None:
    before, after, part = CODE[fault]
    assert TRAIN.count(before) == 1
    write(here, {"train.py": TRAIN.replace(before, after).replace("import os", "import os, time")})
    _assert_named(part)


@pytest.mark.parametrize("fault", UNKNOWN)
def test_a_program_that_may_stop_is_asked_about(here: Path, fault: str) -> None:
    before, after, code = UNKNOWN[fault]
    write(here, {"train.py": TRAIN.replace(before, after)})
    checks = {check.code: check.status for check in scanned().report.programs[0].checks}
    assert checks[code] == "unknown"


@pytest.mark.parametrize("fault", JOBS)
def test_a_fault_in_a_job_or_environment_is_named(here: Path, fault: str) -> None:
    files, part = JOBS[fault]
    write(here, files)
    _assert_named(part)
