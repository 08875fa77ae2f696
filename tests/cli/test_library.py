"""d9m as a library: its examples run, and it imports nothing that nobody asked for."""

from __future__ import annotations

import doctest
import functools
import pydoc
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import d9m
import d9m.check.library
import d9m.check.plan.catalogue
import d9m.library
from golden import knowledge_base
from process import compiled_kb
from process import d9m as process_d9m


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


def test_ops_may_be_a_text_as_on_the_command_line() -> None:
    text = d9m.advise(torch="2.4", ops="cumsum,index_add", kb=knowledge_base())
    listed = d9m.advise(torch="2.4", ops=["cumsum", "index_add"], kb=knowledge_base())
    assert text == listed


@pytest.mark.parametrize("ask", [d9m.advise, functools.partial(d9m.explain, "cumsum")])
def test_a_version_that_is_a_number_is_refused_with_its_text(ask: Callable[..., object]) -> None:
    with pytest.raises(d9m.UsageError, match=r"torch=2\.4: a version must be a string"):
        ask(torch=2.4, kb=knowledge_base())


def test_an_advice_prints_as_the_text_of_the_command() -> None:
    printed = str(d9m.advise(torch="2.4", ops=["cumsum"], kb=knowledge_base()))
    done = process_d9m("advise", "--torch", "2.4", "--ops", "cumsum")
    assert printed.split() == done.stdout.split()


def test_scan_reads_a_project(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text("import torch\ntorch.nn.Linear(1, 1)\n")
    report = d9m.scan(tmp_path, kb=knowledge_base())
    assert report.files.read == 1


def test_help_shows_the_functions() -> None:
    shown = pydoc.plain(pydoc.render_doc(d9m))
    for name in ("advise(", "explain(", "show(", "check", "scan"):
        assert name in shown


@pytest.mark.parametrize(
    ("given", "what"),
    [
        ({"scope": "moon"}, "scope must be one of run, batch, hardware"),
        ({"ops": []}, "ops is empty"),
        ({"ops": [3]}, "ops: 3 is not a string"),
        ({"facts": ["compile=true"]}, "facts must be a mapping"),
        ({"torch": 2.10}, "since 2.10 is 2.1 as a number"),
    ],
)
def test_what_cannot_be_asked_is_a_usage_error(given: dict[str, Any], what: str) -> None:
    with pytest.raises(d9m.UsageError, match=what):
        d9m.advise(**{"torch": "2.4", **given})


def test_only_strings_are_explained_and_shown() -> None:
    with pytest.raises(d9m.UsageError, match="text: None is not a string"):
        d9m.explain(None)  # type: ignore[arg-type]
    with pytest.raises(d9m.UsageError, match="names: None is not a string"):
        d9m.show(None)  # type: ignore[arg-type]
