"""`d9m check --against`: the bits of this machine against those of another one like it."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from forked_interpreter import forked_python
from machines import FAULTY, brief, d9m

from d9m.authoring.lint import lint
from d9m.check import against
from d9m.check.report import text as check_text
from d9m.check.result import Report, exit_code
from d9m.errors import DataError, ExitCode
from d9m.model.runs import DigestFile
from golden import KB, knowledge_base

OPS = "torch/cumsum,torch/mean"


@pytest.fixture(scope="module")
def torch() -> str:
    return forked_python("torch-2.13.0")


@pytest.fixture(scope="module")
def reference(torch: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("reference")
    ran = run(torch, "--ops", OPS, "--digests", str(folder / "torch.json"))
    assert ran["against"] is None
    (folder / "report.json").write_text(json.dumps(ran))
    return folder / "torch.json"


@pytest.fixture(scope="module")
def own(reference: Path) -> Report:
    return msgspec.json.decode(reference.with_name("report.json").read_bytes(), type=Report)


def test_a_whole_report_is_a_reference_too(reference: Path) -> None:
    found = against.read(str(reference.with_name("report.json"))).digests
    assert found.results == against.read(str(reference)).digests.results


def run(torch: str, *options: str, code: int = 0, **variables: str) -> dict[str, Any]:
    env = {"PYTHONHASHSEED": "0", **variables}
    quickly = ["--python", torch, "--quick", "--format", "json"]
    done = d9m(*quickly, *options, command=brief(1), env=env)
    assert done.returncode == code, done.stderr
    return json.loads(done.stdout)


def changed(reference: Path, folder: Path, change: Callable[[dict[str, Any]], object]) -> str:
    """The file with one thing in it that is not so."""
    content = json.loads(reference.read_text())
    change(content)
    (folder / "changed.json").write_text(json.dumps(content))
    return str(folder / "changed.json")


def test_the_same_machine_has_the_same_bits(torch: str, reference: Path) -> None:
    found = run(torch, "--against", str(reference))["against"]
    assert sorted(found["same"]) == ["torch/cumsum float32", "torch/mean float32"]
    assert (found["differing"], found["missing"], found["other"]) == ([], [], {})


def test_a_planted_ulp_is_found(torch: str, reference: Path) -> None:
    fault = {"PYTHONPATH": FAULTY, "FAULT": "cumsum:ulp"}
    report = run(torch, "--against", str(reference), code=1, **fault)
    assert report["against"]["differing"] == ["torch/cumsum float32"]
    assert report["against"]["same"] == ["torch/mean float32"]
    assert {probe["verdict"] for probe in report["probes"]} == {"no-difference-seen"}


def test_the_text_names_the_op_whose_bits_differ(own: Report, reference: Path) -> None:
    there = against.read(str(reference))
    planted = [msgspec.structs.replace(there.digests.results[0], digest="0" * 24)]
    results = [*planted, *there.digests.results[1:]]
    other = msgspec.structs.replace(there.digests, results=results)
    found = against.hold(own, against.DigestReference("file.json", other))
    report = msgspec.structs.replace(own, against=found)
    assert exit_code(report) == ExitCode.FINDINGS
    said = " ".join(check_text.render(knowledge_base(), report).plain().split())
    assert said.startswith("1 result differs from the reference.")
    assert f"in {planted[0].probe} {planted[0].dtype}" in said
    assert "1 of 2 results equal those of" in said


def test_another_release_is_refused_before_anything_runs(
    torch: str, reference: Path, tmp_path: Path
) -> None:
    file = changed(reference, tmp_path, lambda content: content["packages"].update(torch="2.12.0"))
    done = d9m("--python", torch, "--against", file)
    assert (done.returncode, done.stdout) == (4, "")
    assert "is about torch 2.12.0; here is 2.13.0" in done.stderr


def test_another_device_is_not_compared(own: Report, reference: Path) -> None:
    there = against.read(str(reference))
    other = msgspec.structs.replace(there.digests, cpu="Another CPU")
    found = against.hold(own, against.DigestReference("file.json", other))
    assert found.other == {"cpu": (own.host.cpu, "Another CPU")}
    assert (found.same, found.differing) == ([], [])
    assert len(found.missing) == 2
    report = msgspec.structs.replace(own, against=found)
    assert exit_code(report) == ExitCode.ABSENT
    said = " ".join(check_text.render(knowledge_base(), report).plain().split())
    assert said.startswith("No result could be compared with the reference.")


def test_the_file_holds_one_result_for_each_probe_that_agrees_with_itself(reference: Path) -> None:
    found = msgspec.json.decode(reference.read_bytes(), type=DigestFile)
    assert {result.probe for result in found.results} == {"torch/cumsum", "torch/mean"}
    assert all(len(result.digest) == 24 and result.repeats > 8 for result in found.results)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("5", "holds no digests"),
        ("{", "holds no digests"),
        ('{"probes": ' + "[" * 5000, "holds no digests"),
        ('{"probes": 5}', "holds no digests"),
        ('{"results": []}', "holds no digests"),
    ],
)
def test_a_file_without_digests_is_refused(tmp_path: Path, content: str, said: str) -> None:
    (tmp_path / "bad.json").write_text(content)
    with pytest.raises(DataError, match=said):
        against.read(str(tmp_path / "bad.json"))


def test_digests_without_the_release_that_gave_them_are_refused(
    reference: Path, tmp_path: Path
) -> None:
    for change in (
        lambda content: content.update(frameworks={}),
        lambda content: content["results"][0].update(probe="jax/cumsum"),
    ):
        with pytest.raises(DataError, match="does not say on which release"):
            against.read(changed(reference, tmp_path, change))


@pytest.mark.parametrize("named", ["torch/mean", None])
def test_only_what_the_question_leaves_out_is_not_missing(
    torch: str, reference: Path, tmp_path: Path, named: str | None
) -> None:
    def other_dtype(content: dict[str, Any]) -> None:
        found = next(each for each in content["results"] if each["probe"] == "torch/cumsum")
        found["dtype"] = "int7"

    file = changed(reference, tmp_path, other_dtype)
    ops = [] if named is None else ["--ops", named]
    done = d9m(
        "--python", torch, "--quick", "--format", "json", "--against", file, *ops,
        command=brief(1), env={"PYTHONHASHSEED": "0"},
    )  # fmt: skip
    found = json.loads(done.stdout)["against"]
    assert found["same"] == ["torch/mean float32"]
    assert found["missing"] == ([] if named else ["torch/cumsum int7"])


def test_a_reference_of_other_types_alone_compares_nothing(
    torch: str, reference: Path, tmp_path: Path
) -> None:
    file = changed(
        reference,
        tmp_path,
        lambda content: [each.update(dtype="int7") for each in content["results"]],
    )
    done = d9m("--python", torch, "--against", file, env={"PYTHONHASHSEED": "0"})
    assert (done.returncode, done.stdout) == (4, "")
    assert "runs on cpu and has digests in" in done.stderr


def test_a_file_that_is_cut_anywhere_is_refused(reference: Path, tmp_path: Path) -> None:
    whole = reference.read_bytes().rstrip()
    cut = tmp_path / "cut.json"
    for end in range(0, len(whole), 37):
        cut.write_bytes(whole[:end])
        with pytest.raises(DataError):
            against.read(str(cut))


def test_options_that_run_no_probe_refuse_a_reference(tmp_path: Path) -> None:
    for option in ("--against", "--digests"):
        done = d9m("--list", option, str(tmp_path / "file.json"))
        assert (done.returncode, done.stdout) == (2, "")
        assert option in done.stderr


def test_lint_reads_the_digests_that_the_knowledge_base_keeps(
    reference: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "kb" / "evidence" / "digests"
    folder.mkdir(parents=True)
    shutil.copytree(KB / "versions", tmp_path / "kb" / "versions")
    (folder / "good.json").write_text(reference.read_text())
    assert "digests" not in str(lint(tmp_path / "kb"))
    (folder / "bad.json").write_text("{}")
    assert "digests/bad.json" in str(lint(tmp_path / "kb"))
