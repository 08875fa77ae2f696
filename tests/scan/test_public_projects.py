"""What is written down of public projects can be compared with a new scan."""

from __future__ import annotations

import json
import re

from public_projects import HELD, differences


def test_gone_and_new_findings_are_named_as_often_as_they_occur() -> None:
    one, other = ("error", "refused-value", "a.py", 1), ("place", "no-seed", "b.py", 2)
    assert list(differences([one, one, other], [one])) == [
        "gone: error refused-value a.py:1",
        "gone: place no-seed b.py:2",
    ]
    assert list(differences([list(one)], [one, other])) == ["new: place no-seed b.py:2"]


def test_each_project_has_its_commit_and_its_findings() -> None:
    held = json.loads(HELD.read_text("utf-8"))
    assert len(held) == 20
    for one in held.values():
        assert re.fullmatch("[0-9a-f]{40}", one["commit"])
        assert all(len(finding) == 4 for finding in one["findings"])
