"""Settings that one run alone changes on its way."""

from __future__ import annotations

from pathlib import Path

import pytest
from recorded import difference, kinds, record, torch_python


@pytest.mark.parametrize("level", ["step", "op"])
def test_settings_that_one_run_changes_come_first_with_their_step(
    tmp_path: Path, level: str
) -> None:
    runs = []
    for run, word in (("a", "keep"), ("b", "switch")):
        options = f"--level {level} --inputs exact"
        runs.append(
            record(
                tmp_path / run, options, torch_python(), "switches.py", word, OMP_NUM_THREADS="2"
            )
        )
    found = difference(*runs)
    assert kinds(found)[0] == "settings"
    assert found["forks"] == []
    changed = {setting["name"]: setting for setting in found["settings"]}
    del changed["arguments"]
    assert {
        name: (setting["a"], setting["b"], setting["step"]) for name, setting in changed.items()
    } == {
        "torch.backends.cudnn.deterministic": ("False", "True", 3),
        "torch.backends.cuda.matmul.allow_tf32": ("False", "True", 3),
        "torch.set_float32_matmul_precision": ("highest", "medium", 3),
        "threads": ("2", "1", 3),
    }
    assert {cause["step"] for cause in found["causes"]} == {3}
    assert all(0 in cause["may_follow"] for cause in found["causes"][1:])
