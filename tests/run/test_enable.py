"""`d9m.enable()` and `with d9m.deterministic():` in programs that import a PyTorch which only notes
what is called.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from started import ROOT, installed, records

TORCH = """
flags = {"mode": False, "warn": False, "benchmark": False}
class C: pass
_C = C()
def _set(mode, *, warn_only=False): flags.update(mode=mode, warn=mode and warn_only)
_C._set_deterministic_algorithms = _set
def use_deterministic_algorithms(mode, *, warn_only=False):
    _C._set_deterministic_algorithms(mode, warn_only=warn_only)
def are_deterministic_algorithms_enabled(): return flags["mode"]
def is_deterministic_algorithms_warn_only_enabled(): return flags["warn"]
class cuda:
    begun = False
    @classmethod
    def is_initialized(cls): return cls.begun
def manual_seed(seed): print("seeded", seed)
"""


@pytest.fixture
def fake(tmp_path: Path) -> dict[str, str]:
    """The environment of a Python that has d9m and that PyTorch."""
    place = installed(tmp_path / "packages", "torch", "1.13.0", TORCH)
    own = {name: value for name, value in os.environ.items() if name != "PYTHONHASHSEED"}
    path = os.pathsep.join([str(place), str(ROOT / "resolver")])
    return {**own, "PYTHONPATH": path, "D9M_KB": str(records())}


def said(text: str, env: dict[str, str]) -> list[str]:
    """What a program prints."""
    done = subprocess.run(
        [sys.executable, "-c", text], env=env, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def test_enable_sets_what_is_imported_later_and_names_what_is_too_late(
    fake: dict[str, str],
) -> None:
    text = (
        "import sys, os, d9m; e = d9m.enable(); print('torch' in sys.modules)\n"
        "import torch; print(torch.flags['mode'], [each.name for each in e.missing])\n"
        "print(os.environ['PYTHONHASHSEED'], d9m.enable() is e)\n"
        "torch.use_deterministic_algorithms(False); print(e.report())"
    )
    lines = said(text, fake)
    assert lines[:3] == ["False", "True ['PYTHONHASHSEED']", "0 True"]
    assert any(each.startswith("  undone    torch.use_deterministic_alg") for each in lines)
    assert any(each.startswith("  missing   PYTHONHASHSEED: read when the") for each in lines)


def test_a_notebook_that_loads_the_extension_is_told_what_was_set(fake: dict[str, str]) -> None:
    text = "import torch, d9m; d9m.load_ipython_extension(None); print(torch.flags['mode'])"
    lines = said(text, fake)
    assert lines[-1] == "True"
    assert "use_deterministic_algorithms(True)" in "".join(lines)
    assert any("missing" in line and "PYTHONHASHSEED" in line for line in lines)


def test_nothing_is_missing_under_run_or_with_the_variable_in_time(fake: dict[str, str]) -> None:
    text = "import d9m; print(d9m.enable(strict=True).missing)"
    assert said(text, fake | {"PYTHONHASHSEED": "7"}) == ["[]"]


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("d9m.enable(strict=True)", "TooLate: PYTHONHASHSEED: read when the process starts"),
        ("d9m.enable(); d9m.enable(seed=1)", "Refused: enable() was called before, without"),
        ("os.environ['PYTHONHASHSEED'] = 'random'; d9m.enable()", "Refused: PYTHONHASHSEED=random"),
    ],
)
def test_enable_raises_before_it_sets_anything(text: str, error: str, fake: dict[str, str]) -> None:
    program = (
        f"import os, torch, d9m\ntry: {text}\n"
        "except d9m.UsageError as fault: print(type(fault).__name__ + ':', fault)\n"
        "print(torch.flags['mode'] if 'seed' not in " f"{text!r} else False)"
    )  # fmt: skip
    lines = said(program, fake)
    assert lines[0].startswith(error)
    assert lines[-1] == "False"


def test_flags_and_variables_are_restored(fake: dict[str, str]) -> None:
    text = """
import contextlib, itertools, os, torch, d9m
def state(): return dict(torch.flags), os.environ.get("PYTHONHASHSEED")
begins = [(False, False), (True, False), (True, True)]
for begin, change, error in itertools.product(begins, [False, True], [False, True]):
    torch.use_deterministic_algorithms(begin[0], warn_only=begin[1])
    before = state()
    with contextlib.suppress(KeyError), d9m.deterministic():
        inside = state()
        assert torch.flags["mode"] and not torch.flags["warn"]
        with d9m.deterministic(on_refusal="warn"):
            assert torch.flags["mode"] and torch.flags["warn"]
            if change:
                torch.use_deterministic_algorithms(False)
        assert state() == inside
        if error:
            raise KeyError
    assert state() == before, (begin, change, error)
print("restored")
"""
    assert said(text, fake) == ["restored"]


def test_what_is_imported_inside_is_restored_too(fake: dict[str, str]) -> None:
    text = (
        "import d9m, sys\nbefore = list(sys.meta_path)\n"
        "with d9m.deterministic():\n    import torch\n    print(torch.flags['mode'])\n"
        "print(torch.flags['mode'], sys.meta_path == before)"
    )
    assert said(text, fake) == ["True", "False True"]


def test_enable_and_deterministic_nest(fake: dict[str, str]) -> None:
    text = (
        "import torch, d9m\ne = d9m.enable()\nwith d9m.deterministic(): pass\n"
        "print(torch.flags['mode'], e.result().undone)"
    )
    assert said(text, fake) == ["True []"]


def test_what_has_no_way_back_is_refused_before_anything_is_set(
    fake: dict[str, str], tmp_path: Path
) -> None:
    place = tmp_path / "packages"
    (place / "tensorflow").mkdir()
    (place / "tensorflow" / "__init__.py").write_text("")
    about = place / "tensorflow-2.21.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: tensorflow\nVersion: 2.21.0\n")
    text = (
        "import os, torch, d9m\n{0}\n"
        "try:\n    with d9m.deterministic(): print(torch.flags['mode'])\n"
        "except d9m.Refused as fault: print(fault)\n"
        "print(torch.flags['mode'], os.environ.get('PYTHONHASHSEED'))"
    )
    lines = said(text.format("import tensorflow"), fake)
    assert lines[0] == "tf.config.experimental.enable_op_determinism() cannot be undone"
    assert lines[-1] == "False None"
    assert said(text.format(""), fake) == ["True", "False None"]


def test_variables_that_are_read_at_first_use_come_too_late_after_it() -> None:
    from d9m.run.inside import _why_late  # pyright: ignore[reportPrivateUsage]
    from d9m.run.plan import PlannedVariable

    variable = PlannedVariable("CUBLAS_WORKSPACE_CONFIG", ":4096:8", "first-use", "")
    assert _why_late(variable, ["sys"], None) is None
    assert "torch.cuda.is_initialized" in str(_why_late(variable, [], "torch.cuda.is_initialized"))
    variable = PlannedVariable("NAME", "1", "import", "")
    assert _why_late(variable, ["no_such_module"], None) is None
    assert "when sys is imported" in str(_why_late(variable, ["sys"], None))


def test_import_d9m_imports_no_framework_and_little_else() -> None:
    text = (
        "import sys; before = set(sys.modules); import d9m\n"
        "print(*sorted(set(sys.modules) - before))"
    )
    done = subprocess.run(
        [sys.executable, "-c", text], capture_output=True, text=True,
        check=True, env={**os.environ, "PYTHONPATH": str(ROOT / "resolver")},
    )  # fmt: skip
    assert set(done.stdout.split()) <= {"d9m", "d9m.about", "__future__"}
