"""The pytest plugin around answers of d9m that are given, and what it costs other tests."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import msgspec
import pytest
from plugged import environment, run_pytest, torch_python

from d9m.model.advice import Tool
from d9m.trace.findings import Cause, Counts, Findings, First, RecordedRun, SourceLine

GIVEN = """
import json, pathlib, subprocess, types
import d9m.testing.compare as compare
here = pathlib.Path(__file__).parent

def run(words, **options):
    with open(here / "calls.jsonl", "a") as file:
        file.write(json.dumps([words, options["env"], str(options["cwd"])]) + "\\n")
    code, answer, said = json.loads((here / "answer.json").read_text())
    if answer is not None:
        pathlib.Path(words[words.index("-o") + 1]).write_text(json.dumps(answer))
    return subprocess.CompletedProcess(words, code, said)

compare.subprocess = types.SimpleNamespace(**{**vars(subprocess), "run": run})
"""
MARKED = """
import pytest
@pytest.mark.deterministic{marker}
def test_it({fixtures}):
    {body}
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("conftest.py").write_text(GIVEN)
    write()
    return tmp_path


def write(marker: str = "", fixtures: str = "", body: str = "pass", before: str = "") -> None:
    text = MARKED.format(marker=marker, fixtures=fixtures, body=body)
    Path("test_it.py").write_text(f"{before}\n{text}")


def answer(code: int, found: object = None, said: str = "") -> None:
    Path("answer.json").write_text(json.dumps([code, found, said]))


def calls() -> list[Any]:
    path = Path("calls.jsonl")
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def differing() -> object:
    run = RecordedRun("a", ["main"], 1, "op", "exact", "xxh3", "exit")
    cause = Cause(
        kind="op", process="main", step=0, record=1, op="aten::index_put", phase="forward",
        source=SourceLine("net.py", 7, "forward"),
    )  # fmt: skip
    found = Findings(
        d9m=Tool("0.1.0", "2026-11-01"), same=False, complete=True, runs=[run, run], settings=[],
        compared=Counts(), first=First("main", 0, 1, 0), causes=[cause], harmless=[], forks=[],
        unseen=[],
    )  # fmt: skip
    return msgspec.to_builtins(found)


def test_equal_runs_pass_and_the_report_says_what_was_compared() -> None:
    answer(0)
    write("(runs=3, steps=5, settings=['EOD'])")
    found = run_pytest(sys.executable)
    assert found.outcome("test_it") == "passed"
    assert found.properties("test_it") == {
        "d9m.equal": "equal in 3 of 3 runs across processes, at most 5 steps"
    }
    words, env, _cwd = calls()[0]
    assert words[2:4] == ["d9m", "hunt"]
    assert {"--steps=5", "--compare=3", "--set=EOD"} <= set(words)
    assert words[-1] == env["D9M_PYTEST"] == "test_it.py::test_it"


def test_a_difference_fails_with_the_text_of_hunt_and_the_cause_as_a_property() -> None:
    answer(1, differing())
    found = run_pytest(sys.executable, GITHUB_ACTIONS="true")
    assert found.outcome("test_it") == "failure"
    assert "aten::index_put" in found.said("test_it")
    assert "net.py:7 in forward" in found.said("test_it")
    about = found.properties("test_it")
    assert (about["d9m.line"], "index_put" in about["d9m.cause"]) == ("net.py:7", True)
    assert "\n::error file=net.py,line=7::test_it.py::test_it: " in found.output
    assert "::error" not in run_pytest(sys.executable).output


@pytest.mark.parametrize(("code", "outcome"), [(1, "skipped"), (0, "failure")])
def test_a_known_gap_is_kept_in_view(code: int, outcome: str) -> None:
    write(before="import pytest\npytestmark = pytest.mark.xfail(strict=True)")
    answer(code, differing() if code else None)
    assert run_pytest(sys.executable).outcome("test_it") == outcome
    assert "--runxfail" in calls()[0][0]


@pytest.mark.parametrize("code", [2, 3, 4, 5, 139])
def test_what_could_not_be_compared_fails(code: int) -> None:
    answer(code, None, "run 1\nd9m: nothing was recorded: no framework\n")
    found = run_pytest(sys.executable)
    assert found.outcome("test_it") == "failure"
    assert "could not compare runs of this test: nothing was recorded" in found.said("test_it")


def test_a_test_that_fails_is_not_run_again() -> None:
    write(body="assert 0")
    assert run_pytest(sys.executable).outcome("test_it") == "failure"
    assert calls() == []


def test_an_argument_that_the_marker_does_not_have_fails_the_test() -> None:
    write("(step=3)")
    assert "'step'; allowed: runs, steps, settings" in run_pytest(sys.executable).said("test_it")


def test_an_update_needs_a_folder() -> None:
    words = [sys.executable, "-m", "pytest", "--d9m-update"]
    done = subprocess.run(words, env=environment(), capture_output=True, text=True, check=False)
    assert (done.returncode, calls()) == (4, [])
    assert "--d9m-update needs --d9m-digests DIR" in done.stderr


def test_new_processes_get_the_options_but_not_the_selection() -> None:
    answer(0)
    Path("conftest.py").write_text(GIVEN + "\ndef pytest_addoption(parser):\n"
                                   "    parser.addoption('--size')\n")  # fmt: skip
    write(fixtures="monkeypatch", body="monkeypatch.setenv('MINE', '1'); monkeypatch.chdir('/')")
    run_pytest(sys.executable, "--size", "3", "-k", "it", "test_it.py")
    words, env, cwd = calls()[0]
    inner = words[words.index("--") + 1 :]
    assert inner.count("test_it.py") == 0
    assert inner[inner.index("--size") :][:2] == ["--size", "3"]
    assert "--junitxml=" in inner
    assert (cwd, "MINE" in env) == (str(Path.cwd()), False)


def test_each_worker_of_xdist_compares_its_own_tests() -> None:
    answer(1, differing())
    found = run_pytest(sys.executable, "-n", "2", "test_it.py")
    assert "d9m.cause" in found.properties("test_it")
    words, env, _cwd = calls()[0]
    inner = words[words.index("--") + 1 :]
    assert inner[-1] == "test_it.py::test_it"
    assert inner[len(inner) - inner[::-1].index("-n") :][0] == "0"
    assert not [name for name in env if name.startswith("PYTEST_XDIST")]


def test_the_seeds_of_pytest_randomly_stay_out_of_new_processes() -> None:
    Path("randomly.py").write_text("")
    Path("conftest.py").write_text(
        GIVEN + "\nimport types\ndef pytest_configure(config):\n"
        "    config.pluginmanager.register(types.ModuleType('x'), 'randomly')\n"
    )
    answer(1, differing())
    found = run_pytest(sys.executable)
    assert "--randomly-dont-reset-seed" in calls()[0][0]
    assert "pytest-randomly reset no seed in these runs" in found.said("test_it")


def test_a_new_process_that_skips_the_test_has_not_run_it() -> None:
    write(before="import pytest\npytestmark = pytest.mark.skipif('1')")
    code = run_pytest(sys.executable, D9M_PYTEST="test_it.py::test_it").code
    assert (code, calls()) == (1, [])
    write()
    assert run_pytest(sys.executable, D9M_PYTEST="test_it.py::test_it").code == 0


def test_without_the_plugin_the_mark_does_nothing() -> None:
    assert run_pytest(sys.executable, "-p", "no:d9m").outcome("test_it") == "passed"
    assert calls() == []


def test_plain_tests_call_nothing_of_d9m_and_import_nothing() -> None:
    Path("conftest.py").write_text("""
import sys
import pytest

@pytest.hookimpl(hookwrapper=True, tryfirst=True)
def pytest_runtest_protocol(item):
    called = []
    def see(frame, event, argument):
        called.append(frame.f_code.co_filename)
    sys.setprofile(see)
    yield
    sys.setprofile(None)
    assert called
    assert not [name for name in called if "/d9m/" in name], called

def pytest_unconfigure():
    loaded = [name for name in sys.modules if name.partition(".")[0] in ("d9m", "torch", "msgspec")]
    assert sorted(loaded) == ["d9m", "d9m.about", "d9m.testing", "d9m.testing.plugin"], loaded
""")
    Path("test_it.py").write_text("def test_it(): pass")
    found = run_pytest(sys.executable)
    assert found.code == 0, found.output


def test_the_start_of_pytest_takes_at_most_5_ms_longer() -> None:
    timed = "import time, pytest; start = time.process_time(); import d9m.testing.plugin\n"
    timed += "print(time.process_time() - start)"
    words = [sys.executable, "-c", timed]
    times = [
        float(subprocess.run(words, env=environment(), capture_output=True, check=True).stdout)
        for _ in range(5)
    ]
    assert min(times) <= 0.005, times


REPEATED = """
import random
def test_equal(d9m_repeat):
    given = [1]
    def draws(values):
        values.append(2)
        return {"x": (random.random(), len(values))}
    assert d9m_repeat(draws, given, runs=3)["x"][1] == 2
    assert given == [1]
def test_different(d9m_repeat):
    counts = iter(range(9))
    d9m_repeat(lambda: {"x": [0, float(next(counts))]})
def test_no_bits(d9m_repeat):
    d9m_repeat(object)
def test_once(d9m_repeat):
    d9m_repeat(int, runs=1)
"""


def test_a_function_is_repeated_in_one_process() -> None:
    Path("test_it.py").write_text(REPEATED)
    found = run_pytest(sys.executable)
    assert found.properties("test_equal")["d9m.repeat"] == "equal in 3 of 3 calls in one process"
    assert "in one process differ, first in result['x'][1]" in found.said("test_different")
    assert "result has no bits to compare: object" in found.said("test_no_bits")
    assert "at least 2" in found.said("test_once")


def verdict(*changed: str) -> object:
    return {"said": "Differs.", "changed": [{"name": name, "a": "1", "b": "2"} for name in changed]}


@pytest.mark.parametrize(
    ("changed", "option", "outcome"),
    [
        (["numpy"], [], "skipped"),
        (["gpu"], [], "skipped"),
        (["numpy"], ["--d9m-strict"], "failure"),
        (["commit"], [], "failure"),
    ],
)
def test_a_lock_of_another_stack_is_skipped_with_the_reason(
    changed: list[str], option: list[str], outcome: str
) -> None:
    Path("conftest.py").write_text(GIVEN + "compare._stack = lambda lock: {'numpy', 'gpu'}\n")
    answer(1, verdict(*changed))
    found = run_pytest(sys.executable, "--d9m-digests", "locks", *option)
    assert "--d9m-update writes it" in found.said("test_it")
    lock = Path("locks/test_it.py/test_it.lock.json")
    lock.parent.mkdir(parents=True)
    lock.write_text("{}")
    found = run_pytest(sys.executable, "--d9m-digests", "locks", *option)
    assert found.outcome("test_it") == outcome, found.output
    assert f"{changed[0]}: 1 -> 2" in found.said("test_it")


TRAINED = """
import pytest, torch
def train():
    model = torch.nn.Linear(4, 1)
    torch.optim.SGD(model.parameters(), 0.1)
    model(torch.randn(3, 4)).sum().backward()
    return model
@pytest.mark.deterministic(steps=1, settings="advised")
def test_trained():
    torch.manual_seed({seed})
    train()
def test_enabled(d9m_enabled):
    assert torch.are_deterministic_algorithms_enabled()
def test_restored():
    assert not torch.are_deterministic_algorithms_enabled()
def test_repeated(d9m_repeat):
    d9m_repeat(train)
@pytest.mark.deterministic
def test_no_step():
    torch.ones(3).sum()
"""


def test_with_pytorch() -> None:
    Path("conftest.py").write_text("")
    Path("test_it.py").write_text(TRAINED.format(seed=0))
    found = run_pytest(torch_python())
    passed = ("test_trained", "test_enabled", "test_restored", "test_repeated")
    assert {each: found.outcome(each) for each in passed} == dict.fromkeys(passed, "passed")
    assert "called no optimizer" in found.said("test_no_step")
    assert "d9m_repeat compares what a function returns" in found.said("test_no_step")


def test_a_lock_tells_a_test_that_computes_something_else() -> None:
    Path("conftest.py").write_text("")
    Path("test_it.py").write_text(TRAINED.format(seed=0))
    words = ["test_it.py::test_trained", "--d9m-digests", "locks"]
    found = run_pytest(torch_python(), "--d9m-update", *words)
    assert found.outcome("test_trained") == "passed", found.output
    assert run_pytest(torch_python(), *words).outcome("test_trained") == "passed"
    Path("test_it.py").write_text(TRAINED.format(seed=1))
    found = run_pytest(torch_python(), *words)
    assert found.outcome("test_trained") == "failure"
    assert "differ" in found.said("test_trained")
