"""Reports and baselines of another version, given back to a command: refused, and never misread."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from d9m.about import SCHEMA_VERSION
from d9m.scan.baseline import BASELINE_VERSION
from process import d9m

COMMANDS = {
    "check --against": (["check", "--against", "{}"], "schema_version", SCHEMA_VERSION),
    "scan --baseline": (["scan", "--baseline", "{}", "."], "version", BASELINE_VERSION),
}


@pytest.mark.parametrize("name", COMMANDS)
@pytest.mark.parametrize(("change", "age"), [(-1, "an older"), (1, "a newer")])
@pytest.mark.parametrize("more", [{}, {"probes": [1]}, {"findings": {}}])
def test_a_file_of_another_version_is_refused_with_exit_5(
    tmp_path: Path, name: str, change: int, age: str, more: dict[str, object]
) -> None:
    command, key, version = COMMANDS[name]
    file = tmp_path / "other.json"
    file.write_text(json.dumps({key: version + change, **more}))
    done = d9m(*(word.format(file) for word in command), cwd=tmp_path)
    assert (done.returncode, done.stdout) == (5, "")
    assert f"{file.name}' was written by {age} d9m: it has {key} {version + change}" in done.stderr
