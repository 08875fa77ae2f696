"""The rooms of the code, as pyproject.toml lists them: a room imports only from those below it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

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
