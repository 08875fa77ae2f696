"""What only a machine with GPUs goes through, on one that plays it: see `simulated`. No GPU
computes here.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import types
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import msgspec
import pytest
from forked_interpreter import forked_python
from machines import brief, d9m, job, probe, python_with, readings

from conftest import needs
from d9m.authoring.lint import lint
from d9m.check.plan import catalogue
from d9m.check.plan.arms import Arm
from d9m.check.ranks import group_run, meeting
from d9m.check.ranks.meeting import Rank
from d9m.check.report import junit, markdown
from d9m.check.report import text as check_text
from d9m.check.report.labels import counted
from d9m.check.result import Report
from d9m.check.workers import launch
from d9m.errors import UsageError
from d9m.model.runs import Run
from golden import KB, knowledge_base

SIMULATED = os.pathsep.join([str(Path(__file__).with_name("simulated")), *sys.path])


@pytest.fixture(scope="module")
def torch() -> str:
    return forked_python("torch-2.13.0")


@pytest.fixture(scope="module")
def files(
    torch: str, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Path, Path, subprocess.CompletedProcess[str]]:
    folder = tmp_path_factory.mktemp("gpu")
    out, evidence = folder / "report.json", folder / "evidence.json"
    options = ["--python", torch, "--quick", "--ops", "torch/cumsum,torch/index-put,torch/var"]
    ran = d9m(
        *options, "--format", "json", "-o", str(out), "--evidence", str(evidence), command=brief(2),
        env={"PYTHONPATH": SIMULATED, "PYTHONHASHSEED": "0", "CUBLAS_WORKSPACE_CONFIG": ":4096:8"},
    )  # fmt: skip
    return out, evidence, ran


@pytest.fixture(scope="module")
def report(files: tuple[Path, Path, subprocess.CompletedProcess[str]]) -> Report:
    return msgspec.json.decode(files[0].read_bytes(), type=Report)


def nvml(fault: str) -> tuple[list[dict[str, Any]], str | None]:
    """The GPUs that d9m finds with this fault of NVML, and what it says of them."""
    needs(find_spec("pynvml"), "NVML's bindings", "pip install d9m[gpu]")
    program = (
        "import msgspec; from d9m.check import host; told = "
        "{'torch': {'device': 'NVIDIA H200', 'sm_count': 132}}\n"
        "print(msgspec.json.encode(host.look({}, None, 'cuda', told, 2)).decode())"
    )
    variables = {"PATH": os.environ["PATH"], "PYTHONPATH": SIMULATED, "D9M_TEST_NVML": fault}
    ran = subprocess.run(
        [sys.executable, "-c", program], env=variables, capture_output=True, text=True, check=True
    )
    found = json.loads(ran.stdout)
    assert found["device"] == "cuda"
    return found["gpus"], found["gpu_note"]


H200 = {
    "name": "NVIDIA H200",
    "driver": "570.86.15",
    "compute_capability": "9.0",
    "sm_count": 132,
    "memory": 150 << 30,
    "mig": False,
}


def test_every_gpu_is_described() -> None:
    assert nvml("") == ([H200, H200], None)


def test_a_gpu_that_is_parted_says_so() -> None:
    assert nvml("mig") == ([{**H200, "mig": True, "sm_count": 16}] * 2, None)


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        ("permission", "NVML does not answer: Insufficient Permissions"),
        ("driver", "NVML does not answer: Driver Not Loaded"),
        ("library", "NVML does not answer: NVML Shared Library Not Found"),
        ("count", "NVML answers only in part: Unknown Error"),
    ],
)
def test_an_nvml_that_is_broken_is_said_plainly(fault: str, said: str) -> None:
    assert nvml(fault) == ([], said)


def test_a_gpu_that_does_not_answer_leaves_the_others() -> None:
    assert nvml("second") == ([H200], "NVML answers only in part: GPU 1: Unknown Error")


def test_a_gpu_without_separate_memory_is_described() -> None:
    gpus, note = nvml("shared")
    assert gpus == [{**H200, "memory": None}] * 2
    assert note is not None
    assert "GPU 0, memory: Not Supported" in note


def test_the_gpu_is_what_is_probed_where_there_is_one(report: Report) -> None:
    assert report.device == "cuda"
    assert {each.device for each in report.probes} == {"cuda"}
    assert [each.name for each in report.host.gpus] == ["NVIDIA H200", "NVIDIA H200"]
    assert report.frameworks["torch"]["sm_count"] == 132
    assert {each.id for each in report.probes} == {
        "torch/cumsum",
        "torch/index-put",
        "torch/var",
    }, "no CPU runs var"


def test_an_environment_with_settings_of_gpus_is_a_separate_arm(report: Report) -> None:
    for each in report.probes:
        assert list(each.arms) == [
            "default",
            "as-is",
            "advised",
            "default-again",
            "advised-no-fill",
        ]
        assert each.arms["as-is"].same_as is None
        assert each.arms["as-is"].processes == 2


def test_a_report_on_gpus_reads_in_every_format(report: Report) -> None:
    kb = knowledge_base()
    plain, page = check_text.render(kb, report, verbose=True).plain(), markdown.render(kb, report)
    assert "2 × NVIDIA H200 (driver 570.86.15) · " in plain
    assert "the CPU" not in plain.partition("Settings")[0]
    assert max(len(line) for line in plain.splitlines()) <= 80
    assert page.splitlines()[4].startswith("2 × NVIDIA H200 (driver 570.86.15) · ")
    names = {
        case.get("name")
        for case in ElementTree.fromstring(junit.render(kb, report)).iter("testcase")
    }
    assert "torch/cumsum forward float32 cuda" in names
    assert msgspec.json.decode(msgspec.json.encode(report), type=Report) == report


def test_without_nvml_the_framework_names_the_gpu(report: Report) -> None:
    note = "NVML does not answer: Insufficient Permissions"
    blind = msgspec.structs.replace(
        report, host=msgspec.structs.replace(report.host, gpus=[], gpu_note=note)
    )
    text, page = (
        check_text.render(knowledge_base(), blind).plain(),
        markdown.render(knowledge_base(), blind),
    )
    assert "\nNVIDIA H200 · " in text
    assert note in text
    assert page.splitlines()[4].startswith("NVIDIA H200 · ")
    assert note in page


def test_cpu_probes_on_a_machine_with_a_gpu_do_not_say_that_there_is_none(report: Report) -> None:
    text = check_text.render(
        knowledge_base(), msgspec.structs.replace(report, device="cpu")
    ).plain()
    assert "No GPU was used" in text
    assert "No GPU here" not in text


def test_evidence_of_gpus_is_a_record(files: tuple[Path, Path, Any], tmp_path: Path) -> None:
    found = msgspec.json.decode(files[1].read_bytes(), type=Run)
    assert (found.device, found.gpus[0].sm_count, found.frameworks["torch"]["cuda"]) == (
        "cuda",
        132,
        "12.8",
    )
    shutil.copytree(KB, tmp_path / "kb")
    shutil.copy(
        files[1], tmp_path / "kb" / "evidence" / "runs" / "torch-2.13.0-h200-of-a-test.json"
    )
    assert [each for each in lint(tmp_path / "kb") if each.file.startswith("evidence/runs/")] == []


def test_a_gpu_that_the_framework_does_not_see_is_absent(torch: str) -> None:
    options = ["--python", torch, "--quick", "--ops", "torch/cumsum", "--device", "cuda"]
    ran = d9m(*options, env={"PYTHONPATH": SIMULATED, "D9M_TEST_BLIND": "1"})
    assert (ran.returncode, ran.stdout) == (4, "")
    assert "RuntimeError: torch 2.13.0" in ran.stderr
    assert "sees no cuda device" in ran.stderr


def test_each_algorithm_of_nccl_is_an_arm_on_gpus_and_none_on_cpus() -> None:
    default = Arm("default", {"OTHER": "1"}, ["NCCL_ALGO", "NCCL_PROTO"])
    arms = group_run._varied(default, "cuda")
    assert {"NCCL_ALGO=Ring", "NCCL_ALGO=Tree", "NCCL_ALGO=NVLS"} <= {each.name for each in arms}
    for each in arms:
        assert each.env == {"OTHER": "1", "NCCL_ALGO": each.name.partition("=")[2]}
        assert each.unset == ["NCCL_PROTO"]
    assert group_run._varied(default, "cpu") == []


def test_what_the_algorithms_gave_is_told(report: Report) -> None:
    probe = report.probes[0]
    quiet = probe.arms["default"]
    raised = msgspec.structs.replace(quiet, raised="no such algorithm")
    arms = {**probe.arms, "NCCL_ALGO=Ring": quiet, "NCCL_ALGO=Tree": raised}
    tried = msgspec.structs.replace(report, probes=[msgspec.structs.replace(probe, arms=arms)])
    text = check_text.render(knowledge_base(), tried).plain()
    assert f"NCCL_ALGO=Ring {counted(quiet)}, NCCL_ALGO=Tree raises" in " ".join(text.split())


@pytest.mark.parametrize(
    ("visible", "local", "own"),
    [
        ("", 1, {}),
        ("MIG-a1,MIG-b2", 1, {"CUDA_VISIBLE_DEVICES": "MIG-b2"}),
        ("GPU-a1", 1, {}),
    ],
)
def test_what_the_launcher_hides_stays_hidden(
    visible: str, local: int, own: dict[str, str]
) -> None:
    assert (
        meeting.own_device(Rank(local, 2, local), "cuda", {"CUDA_VISIBLE_DEVICES": visible}) == own
    )


def test_a_rank_without_a_device_is_refused() -> None:
    with pytest.raises(
        UsageError, match="CUDA_VISIBLE_DEVICES=4,6 leaves no device for LOCAL_RANK=2"
    ):
        meeting.own_device(Rank(2, 3, 2), "cuda", {"CUDA_VISIBLE_DEVICES": "4,6"})


ASKED = {
    "jax-0.10.2": (
        "raise RuntimeError('preallocates: ' + os.environ['XLA_PYTHON_CLIENT_PREALLOCATE'])"
    ),
    "tensorflow-2.21.0": """
class Gpu:
    name = "/physical_device:GPU:0"

grown, config = [], tf.config.experimental
config.list_physical_devices = lambda kind: [Gpu]
config.set_memory_growth = lambda device, wanted: grown.append((device.name, wanted))
made = Framework("cuda", None)
del config.get_device_details  # as before 2.3
raise RuntimeError("grows: %s, %s" % (grown, made.facts()["device"]))
""",
}
"""What is run after an adapter, to tell what it asks of a GPU's memory."""


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("jax-0.10.2", "preallocates: false"),
        ("tensorflow-2.21.0", "grows: [('/physical_device:GPU:0', True)], /physical_device:GPU:0"),
    ],
)
def test_a_gpu_is_not_filled_by_the_first_probe(name: str, said: str) -> None:
    framework = name.partition("-")[0]
    asked = job(
        [probe("none", "None")], framework, adapter=f"{catalogue.adapter(framework)}\n{ASKED[name]}"
    )
    assert said in readings(launch.interpreter(python_with(name)), asked)["worker"].failed


class Store:
    """What the ranks share; all of them are there."""

    def set(self, *_said: str) -> None: ...

    def get(self, _name: str) -> bytes:
        return b""

    def set_timeout(self, _pace: object) -> None: ...


@pytest.mark.parametrize(("device", "backend"), [("cuda", "nccl"), ("cpu", "gloo")])
def test_ranks_meet_through_nccl_on_gpus(
    device: str, backend: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    met: list[tuple[str, int, int, float]] = []
    dist = types.ModuleType("torch.distributed")
    dist.TCPStore = lambda *given: given
    dist.PrefixStore = lambda _prefix, _store: Store()
    dist.init_process_group = lambda backend, rank, world_size, timeout, **_named: met.append(
        (backend, rank, world_size, timeout.total_seconds())
    )
    torch = types.ModuleType("torch")
    torch.distributed = dist
    monkeypatch.setitem(sys.modules, "torch", torch)
    monkeypatch.setitem(sys.modules, "torch.distributed", dist)
    for name, value in {"MASTER_ADDR": "here", "MASTER_PORT": "29500"}.items():
        monkeypatch.setenv(name, value)
    scope: dict[str, Any] = {}
    exec(catalogue.group("torch"), scope)
    asked = {"rank": 1, "size": 2, "meeting": 0, "patience": 300.0, "limit": 60.0, "probes": [{}]}
    scope["Group"](types.SimpleNamespace(device=device), asked)
    assert met == [(backend, 1, 2, 70.0)], "who is silent for longer than a probe may take is gone"
