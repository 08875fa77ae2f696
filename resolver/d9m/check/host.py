"""The machine: GPUs through NVML, CPU, threads, packages. No framework is imported."""

from __future__ import annotations

import os
import platform
from typing import Any

import msgspec

from d9m.kb.runs import Gpu


class Host(msgspec.Struct, frozen=True):
    gpus: list[Gpu]
    cpu: str
    threads: int
    packages: dict[str, str]
    container: str | None
    gpu_note: str | None = None
    """Why no GPU is listed, in words."""


def look(packages: dict[str, str], container: str | None) -> Host:
    """This machine. What cannot be read is said in `gpu_note`, never raised."""
    gpus, note = _gpus()
    return Host(gpus, _cpu(), os.cpu_count() or 1, packages, container, note)


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
    try:
        driver = _text(nvml.nvmlSystemGetDriverVersion())
        return [_gpu(nvml, place, driver) for place in range(nvml.nvmlDeviceGetCount())], None
    except nvml.NVMLError as error:
        return [], f"NVML answers only in part: {error}"
    finally:
        nvml.nvmlShutdown()


def _gpu(nvml: Any, place: int, driver: str) -> Gpu:
    handle = nvml.nvmlDeviceGetHandleByIndex(place)
    major, minor = nvml.nvmlDeviceGetCudaComputeCapability(handle)
    try:
        mig = nvml.nvmlDeviceGetMigMode(handle)[0] == nvml.NVML_DEVICE_MIG_ENABLE
    except nvml.NVMLError:
        mig = False
    try:
        attributes = nvml.nvmlDeviceGetAttributes_v2(handle)
        sm_count: int | None = attributes.multiprocessorCount
    except (nvml.NVMLError, AttributeError):
        sm_count = None
    memory = nvml.nvmlDeviceGetMemoryInfo(handle).total
    return Gpu(_text(nvml.nvmlDeviceGetName(handle)), driver, f"{major}.{minor}", sm_count, memory, mig)


def _text(value: str | bytes) -> str:
    return value.decode() if isinstance(value, bytes) else value


def _cpu() -> str:
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            names = [line.partition(":")[2].strip() for line in file if line.startswith("model name")]
    except OSError:
        names = []
    return names[0] if names else platform.processor() or platform.machine()
