"""Report cards of small projects: what each line must say."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from folders import scanned, write

from d9m.scan.command import ending
from d9m.scan.report import text, words

FOLDER = Path(__file__).parent / "cards"
SIGNS = {"ok": "✓", "missing": "✗", "unknown": "?"}


@pytest.mark.parametrize("name", sorted(path.stem for path in FOLDER.glob("*.yaml")))
def test_a_card_says_what_is_set_and_what_is_missing(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    case: dict[str, Any] = yaml.safe_load((FOLDER / f"{name}.yaml").read_text(encoding="utf-8"))
    write(tmp_path, case["files"])
    monkeypatch.chdir(tmp_path)
    outcome = scanned()
    report = outcome.report
    assert len(report.programs) == 1
    header = words.program_line(report.programs[0])
    assert [part for part in case["program"] if part not in header] == [], header
    lines = {check.name: check for check in report.programs[0].checks}
    for line, (sign, *parts) in case["card"].items():
        check = lines[line]
        assert SIGNS[check.status] == sign, check.text
        assert [part for part in parts if part not in check.text] == [], check.text
    errors = [each for each in report.findings if each.severity == "error"]
    if "errors" in case:
        assert [f"{each.path}:{each.line} {each.code}" for each in errors] == case["errors"]
    if "unread" in case:
        assert [file.path for file in report.files.unreadable if file.needed] == [case["unread"]]
    assert ending(outcome) == case["exit"]
    if "strict" in case:
        assert ending(scanned(strict=True)) == case["strict"]


def test_the_card_of_the_readme_is_the_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    readme = Path(__file__).parents[2] / "README.md"
    shown = readme.read_text(encoding="utf-8").split("```console\ntrain.py ")[1].split("```")[0]
    shown = f"train.py {shown}"
    case: dict[str, Any] = yaml.safe_load((FOLDER / "torchrun_slurm.yaml").read_text("utf-8"))
    write(tmp_path, case["files"])
    monkeypatch.chdir(tmp_path)
    answer = text.render(scanned().report, 120).plain()
    date = answer.split()[-1]
    assert re.sub(r"\d{4}-\d\d-\d\d", date, shown) == answer


@pytest.mark.parametrize(
    ("arguments", "status"),
    [("mesh, device, 42", "ok"), ("mesh, device, seed, deterministic=True", "unknown")],
)
def test_a_helper_with_other_arguments_than_its_record_is_asked_about(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: str, status: str
) -> None:
    files = {
        "requirements.txt": "torch==2.4.1\ntorchtitan==0.2.0\n",
        "train.py": "import torch\nimport torchtitan.distributed.utils as utils\n\n"
        "torch.manual_seed(1)\nutils.set_determinism(" + arguments + ")\n"
        "torch.nn.Linear(1, 1)(torch.ones(1)).backward()\n",
    }
    assert _statuses(tmp_path, monkeypatch, files)["cuDNN"] == status


GREEN = """import torch

torch.manual_seed(1)
torch.backends.cudnn.benchmark = False
torch.nn.Linear(1, 1)(torch.ones(1)).backward()
"""
SEEDS = "import torch\n\n\ndef seed_all(seed{default}):\n    torch.manual_seed(seed)\n"
NOT_CERTAIN = {
    "under a condition": {"train.py": GREEN.replace("torch.manual", "if x:\n    torch.manual")},
    "in a loop of another file's main": {
        "train.py": "import torch\nimport a\ntorch.nn.Linear(1, 1)(torch.ones(1)).backward()\n",
        "a.py": "import torch\nif __name__ == '__main__':\n    torch.manual_seed(1)\n",
    },
    "of an option without a default": {
        "train.py": "import argparse\np = argparse.ArgumentParser()\np.add_argument('--seed')\n"
        "args = p.parse_args()\n" + GREEN.replace("seed(1)", "seed(args.seed)"),
    },
    "None by default": {
        "train.py": GREEN.replace("torch.manual_seed(1)", "from a import seed_all\nseed_all()"),
        "a.py": SEEDS.format(default="=None"),
    },
    "by a method": {
        "train.py": GREEN.replace("torch.manual_seed(1)", "from a import seed_all\nx.seed_all(1)"),
        "a.py": SEEDS.format(default=""),
    },
    "under a test of the caller": {
        "train.py": GREEN.replace(
            "torch.manual_seed(1)", "from a import seed_all\nif x:\n    seed_all(1)"
        ),
        "a.py": SEEDS.format(default=""),
    },
}
CERTAIN = {
    "module code": {"train.py": GREEN},
    "a function of another file": {
        "train.py": GREEN.replace("torch.manual_seed(1)", "import a\na.seed_all(1)"),
        "a.py": SEEDS.format(default=""),
    },
    "through a package": {
        "train.py": GREEN.replace("torch.manual_seed(1)", "from a import seed_all\nseed_all(1)"),
        "a/__init__.py": "from .b import seed_all\n",
        "a/b.py": SEEDS.format(default=""),
    },
}


@pytest.mark.parametrize("name", [*CERTAIN, *NOT_CERTAIN])
def test_only_what_certainly_runs_is_green(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = CERTAIN.get(name) or NOT_CERTAIN[name]
    is_green = _statuses(tmp_path, monkeypatch, files)["seeds"] == "ok"
    assert is_green == (name in CERTAIN)


JOBS = {
    "export PYTHONHASHSEED=0\npython train.py\n": "ok",
    "PYTHONHASHSEED=0 python train.py\n": "ok",
    "if x; then\n  export PYTHONHASHSEED=0\nfi\npython train.py\n": "unknown",
    "export PYTHONHASHSEED=0\npython train.py\nunset PYTHONHASHSEED\npython train.py\n": "unknown",
    "python train.py\nexport PYTHONHASHSEED=0\n": "missing",
    "export PYTHONHASHSEED=random\npython train.py\n": "missing",
    "PYTHONHASHSEED=0\npython train.py\n": "missing",
    "python train.py\n": "missing",
    "(export PYTHONHASHSEED=0)\npython train.py\n": "unknown",
    "echo x | export PYTHONHASHSEED=0\npython train.py\n": "unknown",
    "export PYTHONHASHSEED=0 | cat\npython train.py\n": "unknown",
    "setup() {\n  export PYTHONHASHSEED=0\n}\npython train.py\n": "unknown",
    "setup() {\n  export PYTHONHASHSEED=0\n}\nsetup\npython train.py\n": "ok",
    "export PYTHONHASHSEED=0\nenv -i python train.py\n": "unknown",
    "export PYTHONHASHSEED=0\nenv -i PYTHONHASHSEED=0 python train.py\n": "ok",
    "export PYTHONHASHSEED=0\nsudo python train.py\n": "unknown",
    "export PYTHONHASHSEED=0\nsudo -E python train.py\n": "ok",
    "export PYTHONHASHSEED=0\nsrun --export=NONE python train.py\n": "unknown",
    "export PYTHONHASHSEED=0\npython -I train.py\n": "unknown",
    "PYTHONHASHSEED=0 python -uE train.py\n": "unknown",
}

FLAGGED = (
    "import os\nimport torch\n{before}os.environ['CUBLAS_WORKSPACE_CONFIG'] = ':4096:8'\n{after}"
)
LATER = (
    "torch.use_deterministic_algorithms(True)\ntorch.nn.Linear(1, 1)(torch.ones(1)).backward()\n"
)


@pytest.mark.parametrize(("before", "expected"), [("", "ok"), ("x = torch.randn(1)\n", "unknown")])
def test_a_variable_that_code_sets_after_its_reader_ran_is_asked_about(
    before: str, expected: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    train = FLAGGED.format(before=before, after=LATER)
    files = {"requirements.txt": "torch==2.4.1\n", "train.py": train}
    assert _statuses(tmp_path, monkeypatch, files)["flag"] == expected


@pytest.mark.parametrize("seed", ["-1", "4294967296", "1.5", "time.time()"])
def test_a_seed_that_a_generator_may_refuse_is_not_green(
    seed: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = {"train.py": "import time\n" + GREEN.replace("seed(1)", f"seed({seed})")}
    assert _statuses(tmp_path, monkeypatch, files)["seeds"] != "ok"


def test_an_argument_with_the_name_of_a_setting_decides_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = {
        "requirements.txt": "torch==2.1.2\nlightning==2.1.3\n",
        "train.py": "import lightning as L\nL.seed_everything(1)\n"
        "L.Trainer(deterministic=True, benchmark=True).fit(model)\n",
    }
    assert _statuses(tmp_path, monkeypatch, files)["cuDNN"] == "unknown"


def test_a_call_out_of_sight_that_may_seed_is_asked_about(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    unseen = "from lab import seed_all\nseed_all(1)"
    files = {"train.py": GREEN.replace("torch.manual_seed(1)", unseen)}
    assert _statuses(tmp_path, monkeypatch, files)["seeds"] == "unknown"


@pytest.mark.parametrize("job", JOBS)
def test_a_variable_counts_where_each_job_certainly_sets_it(
    job: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = {"train.py": GREEN, "run.sh": job}
    assert _statuses(tmp_path, monkeypatch, files)["hash seed"] == JOBS[job]


def _statuses(root: Path, monkeypatch: pytest.MonkeyPatch, files: dict[str, str]) -> dict[str, str]:
    write(root, files)
    monkeypatch.chdir(root)
    programs = {program.path: program for program in scanned().report.programs}
    return {check.name: check.status for check in programs["train.py"].checks}
