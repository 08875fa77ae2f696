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


LINE = "torch.nn.Linear(1, 1)(torch.ones(1)).backward()\n"
VALUES = {
    ("torch==2.4.1", "import torch\ntorch.random.manual_seed(7)\n" + LINE): (
        "seeds", "ok", "PyTorch (train.py:2)",
    ),
    ("tensorflow==1.15.5", "import tensorflow as tf\ntf.random.set_random_seed(1)\n"): (
        "seeds", "ok", "TensorFlow (train.py:2)",
    ),
    ("tensorflow==2.15.0", "import tensorflow as tf\ntf.compat.v1.set_random_seed(1)\n"): (
        "seeds", "ok", "TensorFlow (train.py:2)",
    ),
    ("tensorflow==2.15.0", "import tensorflow as tf\ntf.random.set_random_seed(1)\n"): (
        "seeds", "unknown", "TensorFlow with the error below (train.py:2)",
    ),
    ("tensorflow==2.15.0", "import tensorflow as tf\ntf.keras.utils.set_random_seed(12)\n"): (
        "seeds", "ok", "by tensorflow.keras.utils.set_random_seed(12) (train.py:2)",
    ),
    ("torch==2.15.0", "import torch\ntorch.use_deterministic_algorithms(args.x)\n" + LINE): (
        "flag", "unknown", "algorithms(args.x) with a value that the text does not show",
    ),
    ("torch==2.15.0", "import torch\ntorch.backends.cudnn.benchmark = not x\n" + LINE): (
        "cuDNN", "unknown", "torch.backends.cudnn.benchmark with a value that the text does not",
    ),
    ("lightning==2.4.0", "import lightning as L\nL.Trainer(deterministic='warn', a=2)\n"): (
        "flag", "unknown", "lightning.Trainer(deterministic='warn', …) only warns where",
    ),
    ("lightning==2.4.0", "import lightning as L\nL.Trainer(deterministic='warn').fit(m)\n"): (
        "cuDNN", "ok", "torch.backends.cudnn.benchmark = False by lightning.Trainer",
    ),
    ("lightning==2.4.0", "import lightning as L\nL.seed_everything(42)\nL.Trainer().fit(m)\n"): (
        "hash seed", "missing", "PYTHONHASHSEED=0 is set nowhere",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("case", "expected"), VALUES.items())
def test_a_card_quotes_the_value_that_the_program_has(
    case: tuple[str, str],
    expected: tuple[str, str, str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    write(tmp_path, {"requirements.txt": f"{case[0]}\n", "train.py": case[1]})
    monkeypatch.chdir(tmp_path)
    checks = {check.name: check for check in scanned().report.programs[0].checks}
    name, status, part = expected
    assert checks[name].status == status, checks[name].text
    assert part in checks[name].text


@pytest.mark.parametrize("value", ["$SEED", '"${1}"', "$(date +%s)"])
def test_a_value_that_only_the_job_knows_is_not_green(
    value: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = {"train.py": GREEN, "run.sh": f"export PYTHONHASHSEED={value}\npython train.py\n"}
    assert _statuses(tmp_path, monkeypatch, files)["hash seed"] == "unknown"


FACTS = {
    "torch.use_deterministic_algorithms(True)": "raises an error",
    "torch.use_deterministic_algorithms(True, warn_only=False)": "raises an error",
    "torch.use_deterministic_algorithms(True, warn_only=True)": "nondeterministic",
    "torch.set_deterministic_debug_mode('warn')": "nondeterministic",
}


@pytest.mark.parametrize("call", FACTS)
def test_an_op_that_the_switch_only_warns_of_is_nondeterministic(
    call: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = GREEN.replace("torch.backends", f"{call}\ntorch.histc(x)\ntorch.backends")
    write(tmp_path, {"requirements.txt": "torch==2.6.0\n", "train.py": text})
    monkeypatch.chdir(tmp_path)
    checks = {check.name: check for check in scanned().report.programs[0].checks}
    assert checks["ops"].text == f"histc (train.py:5): {FACTS[call]} with the flag"


def test_memory_that_the_program_leaves_unfilled_is_nondeterministic(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    unfilled = "torch.utils.deterministic.fill_uninitialized_memory = False\ntorch.empty(3)\n"
    text = GREEN + "torch.use_deterministic_algorithms(True)\n" + unfilled
    write(tmp_path, {"requirements.txt": "torch==2.6.0\n", "train.py": text})
    monkeypatch.chdir(tmp_path)
    checks = {check.name: check for check in scanned().report.programs[0].checks}
    assert checks["ops"].text == "empty (train.py:8): nondeterministic with the flag"


@pytest.mark.parametrize(
    ("job", "expected"),
    [
        ("python main.py\n", "unknown"),
        ("python a/main.py\n", "ok"),
        ("python b/main.py\n", "unknown"),
    ],
)
def test_a_job_counts_for_the_one_program_that_it_starts(
    job: str, expected: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = {"a/main.py": GREEN, "b/main.py": GREEN, "run.sh": f"export PYTHONHASHSEED=0\n{job}"}
    write(tmp_path, files)
    monkeypatch.chdir(tmp_path)
    programs = {program.path: program for program in scanned().report.programs}
    checks = {check.name: check.status for check in programs["a/main.py"].checks}
    assert checks["hash seed"] == expected
    write(tmp_path, {"main.py": GREEN})
    programs = {program.path: program for program in scanned().report.programs}
    starts = [path for path, program in programs.items() if program.jobs]
    assert starts == [job.split()[1]]


def test_a_framework_that_only_writes_logs_is_not_on_the_card(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    logs = "from torch.utils.tensorboard import SummaryWriter\n"
    draw = "import jax\nkey = jax.random.PRNGKey(1)\nx = jax.random.normal(key)\n"
    for code, packages in ((logs + draw, ["jax"]), (GREEN + draw, ["jax", "torch"])):
        write(tmp_path, {"train.py": code})
        monkeypatch.chdir(tmp_path)
        assert sorted(scanned().report.programs[0].packages) == packages


@pytest.mark.parametrize("loop", ["for i in range(9):\n    ", "while True:\n    "])
def test_a_seed_in_a_loop_does_not_cover_what_runs_before_it(
    loop: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = {"train.py": GREEN.replace("torch.manual", f"{loop}torch.manual")}
    assert _statuses(tmp_path, monkeypatch, files)["seeds"] == "unknown"


def test_an_argument_that_is_no_name_is_not_quoted_as_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    code = (
        "import torch\nimport lightning as L\nL.seed_everything(int(a))\n"
        "torch.utils.data.DataLoader(d, num_workers=int(b))\nL.Trainer().fit(m)\n"
    )
    write(tmp_path, {"train.py": code})
    monkeypatch.chdir(tmp_path)
    checks = {check.name: check.text for check in scanned().report.programs[0].checks}
    assert "by lightning.seed_everything(…) (train.py:3)" in checks["seeds"]
    assert checks["workers"].startswith("DataLoader(num_workers=…) without")


@pytest.mark.parametrize("seed", ["42", "seed=42", "seed=args.seed"])
def test_a_seed_counts_by_place_and_by_name(
    seed: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    call = f"import monai, random\nmonai.utils.set_determinism({seed})\nrandom.random()\n"
    files = {"requirements.txt": "torch==2.4.1\nmonai==1.3.0\n", "train.py": call + GREEN}
    write(tmp_path, files)
    monkeypatch.chdir(tmp_path)
    checks = {check.name: check for check in scanned().report.programs[0].checks}
    assert checks["seeds"].status == "ok", checks["seeds"].text
    assert f"set_determinism({seed})" in checks["seeds"].text
