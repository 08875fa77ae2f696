"""d9m as a library: its examples run, and it imports nothing that nobody asked for."""

from __future__ import annotations

import doctest
import subprocess
import sys
from types import ModuleType

import pytest

import d9m
import d9m.check.library
import d9m.check.plan.catalogue
import d9m.library
from golden import knowledge_base
from process import compiled_kb


@pytest.mark.parametrize("module", [d9m, d9m.library], ids=lambda module: module.__name__)
def test_the_examples_of_the_docstrings_run(
    module: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("D9M_KB", str(compiled_kb()))
    done = doctest.testmod(module, extraglobs={"d9m": d9m})
    assert done.attempted > 0
    assert done.failed == 0


def test_importing_d9m_imports_no_room() -> None:
    code = "import sys, d9m; print(*(name for name in sys.modules if name.startswith('d9m.')))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["d9m.about"]


def test_every_public_name_is_there() -> None:
    for name in dir(d9m):
        assert getattr(d9m, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'advice'"):
        _ = d9m.advice  # type: ignore[attr-defined]


def test_the_package_of_the_check_is_the_function_too() -> None:
    assert isinstance(d9m.check, ModuleType)
    with pytest.raises(d9m.UsageError, match="quick and full exclude each other"):
        d9m.check(quick=True, full=True)


def test_what_is_wrong_raises_what_d9m_offers() -> None:
    with pytest.raises(d9m.UsageError, match=r"torch '2\.4\.9' was never released"):
        d9m.advise(torch="2.4.9", kb=knowledge_base())
    with pytest.raises(d9m.D9mError):
        d9m.show("nothing-of-that-name", kb=knowledge_base())


def test_a_keyword_names_a_package_as_python_can_spell_it() -> None:
    advice = d9m.advise(
        megatron_core="0.8", transformer_engine=None, device="cuda", kb=knowledge_base()
    )
    assert {"megatron-core", "transformer-engine"} <= advice.environment.packages.keys()


def test_settings_that_are_made_are_judged() -> None:
    advice = d9m.advise(
        torch="2.4",
        ops=["mm"],
        settings={"CUBLAS_WORKSPACE_CONFIG": ":4096:8"},
        kb=knowledge_base(),
    )
    assert [(each.name, each.status) for each in advice.existing] == [
        ("CUBLAS_WORKSPACE_CONFIG", "needed")
    ]
