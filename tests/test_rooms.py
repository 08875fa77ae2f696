"""The rooms of the code: who imports whom, and that no two things have one name."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

from conftest import ORDER

ROOT = Path(__file__).parents[1]


def check_rooms(code: Path) -> subprocess.CompletedProcess[str]:
    """Ask import-linter about the package under `code`, by the contracts of pyproject.toml."""
    return subprocess.run(
        [sys.executable, "-c", "from importlinter.cli import lint_imports_command as run; run()",
         "--config", str(ROOT / "pyproject.toml"), "--no-cache"],
        env={**os.environ, "PYTHONPATH": str(code)},
        capture_output=True,
        text=True,
        check=False,
        cwd=code,
    )  # fmt: skip


def test_imports_run_down_and_never_in_a_circle() -> None:
    done = check_rooms(ROOT / "resolver")
    assert done.returncode == 0, done.stdout


def test_an_import_that_runs_up_is_noticed(tmp_path: Path) -> None:
    for source in (ROOT / "resolver" / "d9m").rglob("*.py"):
        copy = tmp_path / source.relative_to(ROOT / "resolver")
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_bytes(source.read_bytes())
    low = tmp_path / "d9m" / "model" / "versions.py"
    low.write_text(low.read_text("utf-8") + "\nfrom d9m.render import page as page\n", "utf-8")
    done = check_rooms(tmp_path)
    assert done.returncode == 1
    assert "d9m.model.versions -> d9m.render.page" in done.stdout


def test_no_class_name_is_used_twice() -> None:
    found: dict[str, list[str]] = {}
    for room in ("resolver", "site", "tests"):
        for source in sorted((ROOT / room).rglob("*.py")):
            if source.name == "adapter.py" or {"inject", "transparent"} & set(source.parts):
                continue  # runs in another program, which sees no other class of d9m
            for node in ast.walk(ast.parse(source.read_text("utf-8"))):
                if isinstance(node, ast.ClassDef):
                    found.setdefault(node.name, []).append(str(source.relative_to(ROOT)))
    assert {name: places for name, places in found.items() if len(places) > 1} == {}


def test_no_two_files_of_tests_have_one_name() -> None:
    """pytest refuses the second: they are modules without a package."""
    names = Counter(path.name for path in Path(__file__).parent.rglob("test_*.py"))
    assert [name for name, count in names.items() if count > 1] == []


def test_what_the_lists_of_slow_and_long_tests_name_exists() -> None:
    for name in ORDER:
        file, _colons, test = name.partition("::")
        text = (Path(__file__).parent / file).read_text("utf-8")
        assert not test or f"\ndef {test}(" in text, name
