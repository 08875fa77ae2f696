"""Records that answers cannot be built from end with exit 5 and their name, before any answer."""

from __future__ import annotations

from pathlib import Path

import pytest

from d9m.kb.soundness import is_release
from golden import knowledge_base
from process import d9m

SETTING = "name: {name}\nkind: env\nread: process-start\nsummary: A switch.\nevidence: []\n"

SOLUTION = """\
label: SWI
title: Switch
summary: A switch.
settings: [{{set: {name}, to: ['1']}}]
evidence: []
"""

PACKAGE = """\
title: Torch
kind: framework
folder: pytorch
releases: {{{release}: {{}}}}
evidence: []
"""

CASES = [
    ("settings/a.yaml", SETTING, {"name": '"A;touch x;B"'}, "not the name of a setting"),
    ("settings/a.yaml", SETTING, {"name": '"$(reboot)"'}, "not the name of a setting"),
    ("settings/a.yaml", SETTING, {"name": '"Ä"'}, "not the name of a setting"),
    ("solutions/a.yaml", SOLUTION, {"name": "MISSING"}, "no record describes the setting MISSING"),
    ("versions/torch.yaml", PACKAGE, {"release": '"1!1"'}, "not a release"),
    ("versions/torch.yaml", PACKAGE, {"release": '""'}, "not a release"),
    ("versions/torch.yaml", PACKAGE, {"release": '"2.0.dev1"'}, "not a release"),
    ("versions/torch.yaml", PACKAGE, {"release": "\"1.18.0from: ''\""}, "not a release"),
]


@pytest.mark.parametrize(("file", "text", "values", "said"), CASES)
def test_a_record_that_no_answer_may_rest_on_is_named(
    tmp_path: Path, file: str, text: str, values: dict[str, str], said: str
) -> None:
    (tmp_path / "kb").mkdir()
    (tmp_path / "kb" / "facts.yaml").write_text(
        "training: {title: Gradients, values: ['true'], default: 'true'}\n"
    )
    (tmp_path / "kb" / file).parent.mkdir()
    (tmp_path / "kb" / file).write_text(text.format(**values), encoding="utf-8")
    done = d9m("advise", "--torch", "2.4", "--format", "env", cwd=tmp_path, D9M_KB="kb")
    assert (done.returncode, done.stdout) == (5, "")
    assert "Traceback" not in done.stderr
    assert file in done.stderr
    assert said in done.stderr.replace("'", "")


def test_every_release_on_record_is_one() -> None:
    kb = knowledge_base()
    releases = [release for name in kb.packages for release in kb.packages[name].releases]
    assert releases
    assert [release for release in releases if not is_release(release)] == []
