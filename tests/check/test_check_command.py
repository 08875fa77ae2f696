"""`d9m check` from the command line, with real PyTorch."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NoReturn
from xml.etree import ElementTree

import msgspec
import pytest
from forked_interpreter import forked_python
from machines import COMMAND, FAULTY, brief, children, d9m, python_with, until

import output_schema
from d9m.authoring.lint import lint
from d9m.check import examine
from d9m.check.plan.effort import FULL
from d9m.check.result import Report
from d9m.check.workers.run import Plan
from d9m.cli.application import application
from d9m.model.runs import Run
from golden import KB, knowledge_base
from process import compiled_kb

OPS = (
    "index-put-accumulate,torch/index-put,torch/put,put-accumulate,torch/index-copy,getitem-backward,take-backward,"
    "torch/empty,torch/lstsq,index-add,scatter-add,cumsum,max-unpool2d"
)


SET = {"OMP_NUM_THREADS": "1", "CUBLAS_WORKSPACE_CONFIG": ":4096:8", "PYTHONHASHSEED": "0"}
"""What is set here, for the arm of things as they are; the last one is all that is advised."""


@pytest.fixture(scope="module")
def torch() -> str:
    return python_with("torch-2.13.0")


@pytest.fixture(scope="module")
def forked() -> str:
    """The same, where no test asks how a worker starts or ends."""
    return forked_python("torch-2.13.0")


@pytest.fixture(scope="module")
def files(forked: str, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path, int]:
    folder = tmp_path_factory.mktemp("check")
    out, evidence = folder / "report.json", folder / "evidence.json"
    options = [
        "--python",
        forked,
        "--quick",
        "--ops",
        OPS,
        "--format",
        "json",
        "-o",
        str(out),
        "--evidence",
        str(evidence),
    ]
    run = d9m(*options, env=SET)
    assert run.stdout == ""
    return out, evidence, run.returncode


@pytest.fixture(scope="module")
def report(files: tuple[Path, Path, int]) -> Report:
    return msgspec.json.decode(files[0].read_bytes(), type=Report)


def verdicts(report: Report) -> dict[str, str]:
    return {each.id.partition("/")[2]: each.verdict for each in report.probes}


def test_the_facts_of_a_cpu_are_found(report: Report) -> None:
    found = verdicts(report)
    for name in (
        "index-put-accumulate",
        "index-put",
        "put-accumulate",
        "index-copy",
        "getitem-backward",
        "take-backward",
    ):
        assert found[name] == "fixed-by-advice", name
    assert found["lstsq"] == "uninitialised-read"
    assert found["empty"] == "uninitialised-read"
    assert found["put"] == found["max-unpool2d"] == "raises"
    for name in ("index-add", "scatter-add", "cumsum"):
        assert found[name] == "no-difference-seen", name


def test_the_knowledge_base_is_not_contradicted(report: Report) -> None:
    assert report.summary.contradictions == 0
    assert all(each.agrees_with_kb is not False for each in report.probes)


def test_every_proof_holds(report: Report) -> None:
    assert all(each.proofs.planted is not False for each in report.probes)
    assert all(each.proofs.control is not False for each in report.probes)
    assert all(each.proofs.order is not False for each in report.probes)
    assert all(each.proofs.value < 1e-4 for each in report.probes if each.proofs.value is not None)


def test_every_arm_is_told_with_its_bounds(report: Report) -> None:
    for each in report.probes:
        assert list(each.arms) == [
            "default",
            "as-is",
            "advised",
            "default-again",
            "advised-no-fill",
        ]
        assert each.arms["as-is"].same_as is None
        assert each.arms["default"].processes == 3
        quiet = each.arms["default"].quiet or each.arms["advised"].quiet
        assert (0 < each.bounds.repeat < 1) is quiet


def test_a_default_that_varies_and_is_fixed_is_no_finding(
    files: tuple[Path, Path, int], report: Report
) -> None:
    assert report.summary.nondeterministic >= 8
    assert files[2] == 0


@pytest.fixture(scope="module")
def faulty(forked: str) -> dict[str, dict[str, Any]]:
    """The probes of a framework whose cumulative sum varies while no setting forbids it, and whose
    mean varies whatever is set, both seldom: one to three times in the 24 calls of a process.
    """
    ops = "torch/cumsum,torch/mean,torch/index-put-accumulate"
    options = ["--python", forked, "--quick", "--ops", ops]
    variables = {"PYTHONPATH": FAULTY, "FAULT": "cumsum:unswitched:18 mean:sometimes:8"}
    found = d9m(*options, "--format", "json", command=brief(3), env=variables)
    return {probe["id"]: probe for probe in json.loads(found.stdout)["probes"]}


def test_a_rare_fault_that_no_setting_touches_is_never_called_fixed(
    faulty: dict[str, dict[str, Any]],
) -> None:
    assert faulty["torch/mean"]["verdict"] in ("not-fixed", "inconclusive")
    assert faulty["torch/index-put-accumulate"]["verdict"] == "fixed-by-advice"


def test_an_undecided_probe_is_tried_again_until_chance_is_excluded(
    faulty: dict[str, dict[str, Any]],
) -> None:
    found = faulty["torch/cumsum"]
    assert (found["verdict"], found["arms"]["default"]["processes"]) == ("fixed-by-advice", 6)
    assert found["chance"] < 0.001
    assert faulty["torch/index-put-accumulate"]["arms"]["default"]["processes"] == 3, (
        "it was decided at once"
    )


def test_nan_that_only_the_advice_brings_is_a_wrong_value(forked: str) -> None:
    options = ["--python", forked, "--quick", "--ops", "torch/cumsum,torch/index-put"]
    variables = {"PYTHONPATH": FAULTY, "FAULT": "cumsum:advised_nan"}
    found = d9m(*options, command=brief(1), env=variables)
    assert found.returncode == 1, found.stdout
    said = " ".join(found.stdout.split())
    assert "NaN or infinity where double precision gives a number" in said
    assert "as by default" not in said
    assert "1e+300" not in said


def test_variables_that_say_nothing_of_determinism_change_no_exit_code(
    files: tuple[Path, Path, int], report: Report
) -> None:
    assert files[2] == 0
    probe = next(each for each in report.probes if each.id == "torch/index-put-accumulate")
    assert probe.verdict == "fixed-by-advice"
    assert probe.arms["as-is"].differing == 0, "one thread adds in one order"


def test_an_op_that_raises_agrees_with_its_record(
    files: tuple[Path, Path, int], report: Report
) -> None:
    probe = next(each for each in report.probes if each.id == "torch/put")
    assert (probe.verdict, probe.kb) == ("raises", "agrees")
    evidence = json.loads(files[1].read_text())
    assert "torch.use_deterministic_algorithms(True)" in evidence["settings"]


class PlannedError(Exception):
    """Raised where workers would start."""


def test_a_full_run_tries_every_type_in_eight_processes(
    torch: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`test_processes.py` says what becomes of such a plan."""
    plans: list[Plan] = []

    def take(plan: Plan, _watch: object) -> NoReturn:
        plans.append(plan)
        raise PlannedError

    monkeypatch.setattr(examine, "run", take)
    monkeypatch.setenv("D9M_KB", str(compiled_kb()))
    options = ["--python", torch, "--full", "--ops", "torch/index-put-accumulate"]
    with pytest.raises(PlannedError):
        application(["check"])(["check", *options], standalone_mode=False)
    (plan,) = plans
    assert (plan.effort, plan.effort.processes) == (FULL, 8)
    types = [each.dtype for each in plan.selected]
    assert types == ["float32", "float64", "float16", "bfloat16"]
    assert plan.arms[-1].name == "one-thread"


def test_the_json_has_the_keys_of_the_contract(files: tuple[Path, Path, int]) -> None:
    found = json.loads(files[0].read_text())
    assert not output_schema.faults(found, ["check"])
    assert found.keys() >= {"schema_version", "d9m", "host", "settings", "probes", "summary"}
    keys = {
        "id",
        "source",
        "op",
        "device",
        "dtype",
        "direction",
        "arms",
        "bounds",
        "verdict",
        "expected",
        "agrees_with_kb",
    }
    for each in found["probes"]:
        assert each.keys() >= keys
        arm = {
            "repeats",
            "processes",
            "distinct",
            "differing",
            "changed",
            "max_ulp",
            "raised",
            "seconds",
        }
        assert each["arms"]["default"].keys() >= arm
        assert each["bounds"].keys() == {"repeat", "start"}


def test_the_evidence_is_a_record_without_paths(files: tuple[Path, Path, int], forked: str) -> None:
    text = files[1].read_text()
    assert not output_schema.faults(json.loads(text), ["check-evidence"])
    run = msgspec.json.decode(text, type=Run)
    assert {each.source for each in run.observations} >= {
        "pytorch/index-put-accumulate",
        "pytorch/lstsq",
    }
    assert run.packages["torch"].startswith("2.13.0")
    assert forked not in text
    assert str(Path.home()) not in text


def test_the_evidence_is_accepted_by_lint(files: tuple[Path, Path, int], tmp_path: Path) -> None:
    shutil.copytree(KB, tmp_path / "kb")
    runs = tmp_path / "kb" / "evidence" / "runs"
    runs.mkdir(parents=True, exist_ok=True)
    shutil.copy(files[1], runs / "torch-2.13.0-cpu-of-a-test.json")
    assert [each for each in lint(tmp_path / "kb") if each.file.startswith("evidence/runs/")] == []


def test_every_format_tells_the_same_report(report: Report) -> None:
    from d9m.check.report import junit, markdown
    from d9m.check.report import text as check_text

    kb = knowledge_base()
    plain, page = check_text.render(kb, report).plain(), markdown.render(kb, report)
    tree = ElementTree.fromstring(junit.render(kb, report))
    assert (
        len(tree.findall("testcase"))
        == len(report.probes) + len(report.settings)
        == int(tree.get("tests", ""))
    )
    for name in ("index_put (index-put-accumulate)", "lstsq", "take backward", "max_unpool2d"):
        assert name in plain
        assert name in page
    assert max(len(line) for line in plain.splitlines()) <= 80


def test_the_self_test_holds_through_a_command_that_leads_to_a_python(torch: str) -> None:
    run = d9m("--runner", f"env {torch}", "--selftest", "--format", "json")
    found = json.loads(run.stdout)
    assert not output_schema.faults(found, ["check-selftest"])
    facts = found["facts"]
    assert [each["text"] for each in facts if not each["holds"]] == []
    assert len(facts) == 5
    assert run.returncode == 0


def test_a_probe_that_hangs_is_one_line(torch: str) -> None:
    run = d9m(
        "--python",
        torch,
        "--quick",
        "--ops",
        "torch/index-add,torch/sum",
        "--limit",
        "0.001",
        "--format",
        "json",
        command=brief(1),
    )
    found = json.loads(run.stdout)
    assert {each["verdict"] for each in found["probes"]} == {"inconclusive"}
    assert all(each["reason"].startswith("hung") for each in found["probes"])
    assert run.returncode in (1, 4)


SIGNALS = [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)]


@contextmanager
def started(
    *arguments: str, before: Sequence[str] = (), **variables: str
) -> Iterator[subprocess.Popen[str]]:
    """A check that runs."""
    variables = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(sys.path),
        "D9M_KB": str(compiled_kb()),
        **variables,
    }
    command = [*before, *COMMAND, *arguments]
    with subprocess.Popen(
        command, env=variables, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as child:
        yield child


@pytest.mark.parametrize(
    ("number", "code"),
    [SIGNALS[1], *(pytest.param(*each, marks=pytest.mark.nightly) for each in SIGNALS[::2])],
)
def test_a_signal_ends_the_children_and_tells_what_is_known(
    torch: str, tmp_path: Path, number: signal.Signals, code: int
) -> None:
    out, evidence = tmp_path / "out.json", tmp_path / "evidence.json"
    options = ["--python", torch, "--format", "json", "-o", str(out), "--evidence", str(evidence)]
    with started(*options, D9M_TEST_MARK=str(tmp_path)) as child:
        assert child.stderr is not None
        until(
            lambda: " of " in child.stderr.readline()
        )  # the first probe is done: something is known by now
        child.send_signal(number)
        child.communicate()
    assert child.returncode == code
    found = json.loads(out.read_text())
    assert found["interrupted"] is True
    assert found["probes"]
    assert not {each["verdict"] for each in found["probes"]} & {
        "fixed-by-advice",
        "no-difference-seen",
    }
    assert _marked(str(tmp_path)) == []
    assert json.loads(evidence.read_text())["interrupted"] is True


@pytest.mark.parametrize("moment", ["the handler stands", "a worker runs"])
@pytest.mark.parametrize(("number", "code"), SIGNALS)
def test_a_signal_at_any_moment_is_the_exit_code(
    torch: str, moment: str, number: signal.Signals, code: int
) -> None:
    with started("--python", torch, "--quick") as child:
        until(
            lambda: (
                _catches(child.pid, signal.SIGTERM)
                if moment == "the handler stands"
                else children(child.pid)
            )
        )
        child.send_signal(number)
        said = child.communicate(timeout=300)[1]
    assert child.returncode == code
    assert "interrupted" in said
    assert "Traceback" not in said


@pytest.mark.parametrize("most", [6, 12])
def test_a_machine_without_free_files_is_told_in_a_line(torch: str, most: int) -> None:
    limited = ["bash", "-c", f'ulimit -n {most}; exec "$@"', "limited"]
    with started("--python", torch, "--selftest", before=limited) as child:
        said, told = child.communicate()
    assert child.returncode in (2, 4)
    assert (said, told.splitlines()[-1].partition(":")[0]) == ("", "d9m")
    assert told.endswith("Too many open files\n")


def test_what_is_ignored_stays_ignored(torch: str) -> None:
    command = [*COMMAND, "--python", torch, "--settings", "--format", "json"]
    variables = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(sys.path),
        "D9M_KB": str(compiled_kb()),
    }
    with subprocess.Popen(
        ["nohup", *command], env=variables, stderr=subprocess.PIPE, stdout=subprocess.PIPE
    ) as child:
        until(lambda: _catches(child.pid, signal.SIGTERM))
        child.send_signal(signal.SIGHUP)
        assert json.loads(child.communicate(timeout=300)[0])["settings_only"]


def _catches(process: int, number: signal.Signals) -> bool:
    """Whether a process has a handler for a signal."""
    line = next(
        line
        for line in Path(f"/proc/{process}/status").read_text().splitlines()
        if "SigCgt" in line
    )
    return bool(int(line.split()[1], 16) >> (number - 1) & 1)


def _marked(mark: str) -> list[str]:
    """Processes that were started by this test."""
    found: list[str] = []
    for process in filter(str.isdigit, os.listdir("/proc")):
        try:
            if f"D9M_TEST_MARK={mark}".encode() in Path(f"/proc/{process}/environ").read_bytes():
                found.append(process)
        except OSError:
            continue
    return found


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["--device", "cuda"], 4, "no cuda device"),
        (["--framework", "jax"], 4, "not installed"),
        (["--ops", "no_such_op"], 2, "no probe here"),
        (["--quick", "--full"], 2, "exclude"),
        (["--limit", "0"], 2, "--limit"),
        (["--limit", "nan"], 2, "--limit"),
        (["--limit", "inf"], 2, "--limit"),
        (["--limit", "1e12"], 2, "--limit"),
        (["--format", "html"], 2, "html"),
    ],
)
def test_a_question_that_has_no_answer_here(
    torch: str, arguments: list[str], code: int, said: str
) -> None:
    run = d9m("--python", torch, *arguments)
    assert (run.returncode, run.stdout) == (code, "")
    assert said in run.stderr


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--list", "--settings"], "--list and --settings exclude each other"),
        (["--list", "--selftest"], "--list and --selftest exclude each other"),
        (["--settings", "--evidence", "x.json"], "--settings runs no probes"),
        (["--list", "--framework", "numpy"], "d9m has no probes of it"),
        (["--list", "--ops", "index_ad"], "did you mean"),
        (["-o", "/no/such/folder/x.json"], "there is no folder '/no/such/folder'"),
        (["--evidence", "/"], "cannot write '/': it is a folder"),
    ],
)
def test_a_question_that_cannot_be_asked_is_refused_before_anything_runs(
    arguments: list[str], said: str
) -> None:
    run = d9m("--python", "/no/such/python", *arguments)
    assert (run.returncode, run.stdout) == (2, "")
    assert said in run.stderr


@pytest.mark.parametrize(
    "arguments", [["--python", "/no/such/python"], ["--runner", "false"], ["--python", "/bin/true"]]
)
def test_an_interpreter_that_does_not_answer_is_exit_4(arguments: list[str]) -> None:
    run = d9m(*arguments)
    assert (run.returncode, run.stdout) == (4, "")
    assert run.stderr


def test_an_interpreter_without_a_framework_is_exit_4() -> None:
    run = d9m("--python", sys.executable)
    assert (run.returncode, run.stdout) == (4, "")
    assert "no framework" in run.stderr


def test_list_runs_nothing() -> None:
    run = d9m("--list", "--device", "cuda", "--framework", "torch")
    assert run.returncode == 0
    assert "torch/sdpa-flash-backward" in run.stdout
    assert max(len(line) for line in run.stdout.splitlines()) <= 80


def test_list_names_what_ops_would_run() -> None:
    found = json.loads(d9m("--list", "--ops", "index_put", "--format", "json").stdout)
    assert {each["id"] for each in found["probes"]} == {
        "torch/index-put",
        "torch/index-put-accumulate",
    }
