"""The machine: GPUs through NVML, CPU, threads, packages. No framework is imported."""

from __future__ import annotations

import contextlib
import platform
import subprocess
import sys
from collections.abc import Mapping
from typing import Any

import msgspec

from d9m.model.runs import Gpu


class Host(msgspec.Struct, frozen=True):
    gpus: list[Gpu]
    cpu: str
    threads: int
    """Cores that a process may use."""
    packages: dict[str, str]
    container: str | None
    gpu_note: str | None = None
    """Why a GPU is not listed, or not all of it, in words."""
    device: str = "cpu"
    """Device that the installed drivers run, whether or not it was probed."""


def look(
    packages: dict[str, str],
    container: str | None,
    device: str,
    frameworks: Mapping[str, Mapping[str, Any]],
    cores: int,
) -> Host:
    """Return this machine, on which `device` was found. `gpu_note` says what could not be read."""
    gpus, note = _gpus() if device == "cuda" else ([], _UNREAD.get(device))
    return Host(_completed(gpus, frameworks), _cpu(), cores, packages, container, note, device)


_UNREAD = {
    kind: f"NVML knows no {kind} device: only the framework reports it" for kind in ("rocm", "mps")
}


def _completed(gpus: list[Gpu], frameworks: Mapping[str, Mapping[str, Any]]) -> list[Gpu]:
    """NVML counts multiprocessors of MIG instances only; frameworks count them all."""
    counted = {facts.get("device"): facts.get("sm_count") for facts in frameworks.values()}
    found = list(gpus)
    for place, gpu in enumerate(gpus):
        if not gpu.sm_count:
            found[place] = msgspec.structs.replace(gpu, sm_count=counted.get(gpu.name))
    return found


def _gpus() -> tuple[list[Gpu], str | None]:
    try:
        import pynvml  # pyright: ignore[reportMissingTypeStubs, reportMissingModuleSource, reportMissingImports]
    except ImportError:
        return [], "GPUs were not looked at: pip install d9m[gpu]"
    nvml: Any = pynvml
    try:
        nvml.nvmlInit()
    except nvml.NVMLError as error:
        return [], f"NVML does not answer: {error}"
    gpus: list[Gpu] = []
    untold: list[str] = []
    try:
        driver = _text(nvml.nvmlSystemGetDriverVersion())
        for place in range(nvml.nvmlDeviceGetCount()):
            try:
                gpus.append(_gpu(nvml, place, driver, untold))
            except nvml.NVMLError as error:
                untold.append(f"GPU {place}: {error}")
        nvml.nvmlShutdown()
    except nvml.NVMLError as error:
        untold.append(str(error))
    return gpus, f"NVML answers only in part: {'; '.join(untold)}" if untold else None


def _gpu(nvml: Any, place: int, driver: str, untold: list[str]) -> Gpu:
    """Raises NVMLError for a GPU that does not even tell its name."""
    handle = nvml.nvmlDeviceGetHandleByIndex(place)
    name = _text(nvml.nvmlDeviceGetName(handle))
    major, minor = nvml.nvmlDeviceGetCudaComputeCapability(handle)
    try:
        memory: int | None = nvml.nvmlDeviceGetMemoryInfo(handle).total
    except nvml.NVMLError as error:  # GPUs that share the memory of the CPU
        memory = None
        untold.append(f"GPU {place}, memory: {error}")
    try:
        mig = nvml.nvmlDeviceGetMigMode(handle)[0] == nvml.NVML_DEVICE_MIG_ENABLE
    except nvml.NVMLError:  # GPUs that cannot be parted
        mig = False
    try:
        sm_count: int | None = nvml.nvmlDeviceGetAttributes_v2(handle).multiprocessorCount
    except (nvml.NVMLError, AttributeError):
        sm_count = None
    return Gpu(name, driver, f"{major}.{minor}", sm_count, memory, mig)


def _text(value: str | bytes) -> str:
    return value.decode() if isinstance(value, bytes) else value


def _cpu() -> str:
    """The model: bits are compared between equal ones, and macOS calls all of Apple's ``arm``."""
    if sys.platform == "darwin":
        with contextlib.suppress(OSError):
            command = ["/usr/sbin/sysctl", "-n", "machdep.cpu.brand_string"]
            done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603
            if done.stdout.strip():
                return done.stdout.strip()
    with contextlib.suppress(OSError), open("/proc/cpuinfo", encoding="utf-8") as file:
        for line in file:
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()
