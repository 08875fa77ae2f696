"""Who runs a line of a project."""

from __future__ import annotations

import textwrap

import pytest

from d9m.scan.project.project import Project
from d9m.scan.project.reach import RunBy
from scan.projects import facts, knowledge

TRAIN = "import torch\nimport used\nused.go()\nloss.backward()\n"
USED = textwrap.dedent("""\
    def go():
        return inner()
    def inner():
        return 1
    def idle():
        return 2
    class Net:
        def forward(self, x):
            return x
    """)


def project(files: dict[str, str]) -> Project:
    return Project(knowledge(), [facts(path, text) for path, text in files.items()], {})


@pytest.mark.parametrize(
    ("files", "line", "by"),
    [
        ({}, 4, "training"),
        ({}, 6, "nothing"),
        ({}, 9, "nothing"),
        ({"infer.py": "import used\nused.idle()\n"}, 6, "other"),
        ({"conf.yaml": "start: idle\n"}, 6, "unknown"),
        ({"conf.yaml": "start: other\n"}, 6, "nothing"),
        ({"pyproject.toml": "[project]\n"}, 6, "nothing"),
        ({"train.py": f"{TRAIN}net = used.Net()\n"}, 6, "nothing"),
        ({"train.py": f"{TRAIN}visit(used.idle)\n"}, 6, "training"),
        ({"train.py": f"{TRAIN}getattr(used, name)()\n"}, 6, "training"),
    ],
)
def test_a_line_is_run_by_whoever_calls_it(files: dict[str, str], line: int, by: RunBy) -> None:
    found = project({"train.py": TRAIN, "used.py": USED, **files})
    assert found.reach.by("used.py", line) == by


def test_what_can_be_installed_may_be_called_from_elsewhere() -> None:
    files = {
        "setup.py": "",
        "examples/train.py": "import lib.used\nloss.backward()\n",
        "lib/__init__.py": "",
        "lib/used.py": USED,
    }
    assert project(files).reach.by("lib/used.py", 6) == "unknown"
    del files["lib/__init__.py"]
    assert project(files).reach.by("lib/used.py", 6) == "nothing"


def test_a_file_that_nothing_imports_matters_where_nothing_trains() -> None:
    assert project({"used.py": USED}).reach.matters("used.py", 6)
    found = project({"train.py": "loss.backward()\n", "used.py": USED})
    assert not found.reach.matters("used.py", 6)
    assert not found.reach.is_dead("used.py", 6)


def test_a_program_that_trains_nothing_matters_only_where_no_other_trains() -> None:
    files = {"used.py": USED, "infer.py": "import used\nused.idle()\n"}
    assert project(files).reach.matters("used.py", 6)
    assert not project({**files, "train.py": TRAIN}).reach.matters("used.py", 6)


def test_a_job_file_always_matters() -> None:
    found = project({"train.py": "loss.backward()\n", "run.sh": "export A=1\n"})
    assert found.reach.matters("run.sh", 1)


def test_classes_that_seem_to_derive_from_each_other_are_searched_once() -> None:
    files = {
        "a.py": "import torch\nfrom b import Net as Base\nclass Model(Base):\n    pass\n",
        "b.py": "from a import Model\nclass Net(Model):\n    pass\n",
        "train.py": "import a\na.Model()\nloss.backward()\n",
    }
    assert project(files).reach.by("a.py", 3) == "training"
