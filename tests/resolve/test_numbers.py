"""A setting takes the numbers that the program which reads it takes."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from d9m.api import advise
from d9m.environment.environment import Setup
from d9m.model.advice import exit_code
from d9m.model.records import Setting
from golden import knowledge_base

SEEDS = [
    *("0", "00", "05", "+5", "-0", " 5", "\t5", "\n+5", "4294967295", "000004294967295"),
    *("-1", "4294967296", "99999999999999999999", "5 ", "+-5", "+ 5", "0x1", "1_0", "5.0", "1e3"),
    *("five", "٣", "5\x00"[:1] + "a", " random", "Random", "9" * 5000),
]


@pytest.mark.parametrize("seed", SEEDS)
def test_a_hash_seed_is_invalid_where_python_refuses_to_start(seed: str) -> None:
    started = subprocess.run(
        [sys.executable, "-S", "-c", ""],
        env={**os.environ, "PYTHONHASHSEED": seed},
        capture_output=True,
    )
    kb, torch = knowledge_base(), Setup((("torch", "2.4"),))
    found = {"PYTHONHASHSEED": seed, "CUBLAS_WORKSPACE_CONFIG": ":4096:8"}
    advice = advise(kb, torch, ["mm"], settings=[found])
    verdict = next(made for made in advice.existing if made.name == "PYTHONHASHSEED")
    expected = ("needed", 0) if started.returncode == 0 else ("invalid", 1)
    assert (verdict.status, exit_code(advice)) == expected


def test_a_number_out_of_range_is_invalid_for_every_setting_with_limits() -> None:
    settings = knowledge_base().settings
    limited = [
        settings[name]
        for name in settings
        if settings[name].least is not None or settings[name].most is not None
    ]
    assert {"PYTHONHASHSEED", "PL_GLOBAL_SEED", "OMP_NUM_THREADS"} <= {
        each.name for each in limited
    }
    for setting in limited:
        assert setting.value_type == "integer"
        _at_its_limits(setting)


def _at_its_limits(setting: Setting) -> None:
    if setting.least is not None:
        assert setting.takes_number(str(setting.least))
        assert not setting.takes_number(str(setting.least - 1))
    if setting.most is not None:
        assert setting.takes_number(str(setting.most))
        assert not setting.takes_number(str(setting.most + 1))
