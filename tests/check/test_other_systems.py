"""What the check says where there is no Linux, as far as a Linux can play it."""

from __future__ import annotations

import builtins
import io
import os
import platform
import subprocess
import sys
from typing import Any

import pytest

from d9m.check import host
from d9m.check.messages import SurveyJob
from d9m.check.workers import launch
from d9m.environment import survey

ABSENT = ("killpg", "sched_getaffinity", "memfd_create")


@pytest.fixture
def elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    """A system without /proc, cgroups and what only POSIX or Linux has."""
    right = builtins.open

    def opened(file: Any, *given: Any, **named: Any) -> Any:
        if str(file).startswith(("/proc/", "/sys/")):
            raise FileNotFoundError(2, "No such file or directory")
        return right(file, *given, **named)

    monkeypatch.setattr(builtins, "open", opened)
    for name in ABSENT:
        monkeypatch.delattr(os, name, raising=False)


def test_a_mac_names_its_chip(monkeypatch: pytest.MonkeyPatch) -> None:
    def run(command: list[str], **_named: Any) -> subprocess.CompletedProcess[str]:
        assert command[1:] == ["-n", "machdep.cpu.brand_string"]
        return subprocess.CompletedProcess(command, 0, "Apple M4 Pro\n", "")

    monkeypatch.setattr(sys, "platform", "darwin")
    monkeypatch.setattr(subprocess, "run", run)
    assert host.look({}, None, "mps", {}, 8).cpu == "Apple M4 Pro"


def test_a_processor_is_named_by_what_python_knows(
    monkeypatch: pytest.MonkeyPatch, elsewhere: None
) -> None:
    monkeypatch.setattr(sys, "platform", "win32")
    monkeypatch.setattr(platform, "processor", lambda: "Intel64 Family 6 Model 158, GenuineIntel")
    assert host.look({}, None, "cpu", {}, 8).cpu == "Intel64 Family 6 Model 158, GenuineIntel"


def test_a_worker_counts_what_it_can(monkeypatch: pytest.MonkeyPatch, elsewhere: None) -> None:
    monkeypatch.setattr(os, "cpu_count", lambda: 6)
    assert survey.usable_cores() == 6
    assert survey.free_memory() is None
    assert survey.cgroups("memory") == []


def test_a_worker_is_ended_without_groups_of_processes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(os, "killpg")
    asked = SurveyJob(text="", distributions=[], variables=[], drivers=[])
    started = launch.Worker(launch.interpreter(sys.executable), asked)
    started.end()
    assert started._child.poll() is not None


TWO = {
    "/proc/self/cgroup": "0::/job/step\n",
    "/sys/fs/cgroup/job/step/cpu.max": "max 100000\n",
    "/sys/fs/cgroup/job/cpu.max": "250000 100000\n",
    "/sys/fs/cgroup/job/step/memory.max": "max\n",
    "/sys/fs/cgroup/job/step/memory.current": "300\n",
    "/sys/fs/cgroup/job/memory.max": "1000\n",
    "/sys/fs/cgroup/job/memory.current": "400\n",
    "/sys/fs/cgroup/job/memory.stat": "anon 300\ninactive_file 100\n",
}
ONE = {
    "/proc/self/cgroup": "4:memory:/job\n1:cpu,cpuacct:/job\n0::/\n",
    "/sys/fs/cgroup/cpu/job/cpu.cfs_quota_us": "250000\n",
    "/sys/fs/cgroup/cpu/job/cpu.cfs_period_us": "100000\n",
    "/sys/fs/cgroup/cpu/cpu.cfs_quota_us": "-1\n",
    "/sys/fs/cgroup/cpu/cpu.cfs_period_us": "100000\n",
    "/sys/fs/cgroup/memory/job/memory.limit_in_bytes": "1000\n",
    "/sys/fs/cgroup/memory/job/memory.usage_in_bytes": "400\n",
    "/sys/fs/cgroup/memory/job/memory.stat": "inactive_file 20\ntotal_inactive_file 100\n",
}


@pytest.mark.parametrize("files", [TWO, ONE], ids=["version 2", "version 1"])
def test_a_worker_takes_no_more_than_its_cgroups_leave(
    monkeypatch: pytest.MonkeyPatch, files: dict[str, str]
) -> None:
    right = builtins.open

    def opened(file: Any, *given: Any, **named: Any) -> Any:
        if str(file) in files:
            return io.StringIO(files[str(file)])
        if str(file).startswith("/sys/fs/cgroup"):
            raise FileNotFoundError(2, "No such file or directory")
        return right(file, *given, **named)

    monkeypatch.setattr(builtins, "open", opened)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _process: set(range(384)))
    assert survey.usable_cores() == 3
    assert survey.free_memory() == 700
    monkeypatch.setattr(os, "sched_getaffinity", lambda _process: {5, 7})
    assert survey.usable_cores() == 2
