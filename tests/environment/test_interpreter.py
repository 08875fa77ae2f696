"""What another Python has installed is read without running anything of the current folder."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from d9m.environment.interpreter import installed_in
from d9m.errors import AbsentError
from golden import knowledge_base


def test_a_module_in_the_current_folder_is_not_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "json.py").write_text("open('ran', 'w').close()")
    monkeypatch.chdir(tmp_path)
    found = installed_in(knowledge_base(), sys.executable, {})
    assert found.device is not None
    assert [each.name for each in tmp_path.iterdir()] == ["json.py"]


def test_what_is_no_python_does_not_answer(tmp_path: Path) -> None:
    with pytest.raises(AbsentError, match="does not answer"):
        installed_in(knowledge_base(), str(tmp_path / "python"), {})
