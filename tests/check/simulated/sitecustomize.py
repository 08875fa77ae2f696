# ruff: noqa: N802  the names are the library's
"""A machine with two NVIDIA GPUs, where there is none: Python reads this first wherever it is on
the path.

The driver's files are there, NVML's library answers, and PyTorch takes "cuda" for a device that
computes as the CPU does. ``D9M_TEST_NVML``: what is wrong with NVML, if anything."""

import os
import types

exists = os.path.exists
os.path.exists = lambda path: path == "/dev/nvidiactl" or exists(path)

NO_PERMISSION, NOT_SUPPORTED, UNKNOWN, DRIVER_NOT_LOADED = 4, 3, 999, 9
FAULT = os.environ.get("D9M_TEST_NVML", "")


class Library:
    """libnvidia-ml.so.1 as its header describes it: results go where the arguments point, errors
    are numbers.
    """

    def nvmlInitWithFlags(self, _flags):
        return {"permission": NO_PERMISSION, "driver": DRIVER_NOT_LOADED}.get(FAULT, 0)

    def nvmlShutdown(self):
        return 0

    def nvmlSystemGetDriverVersion(self, text, _length):
        text.value = b"570.86.15"
        return 0

    def nvmlDeviceGetCount_v2(self, count):
        count._obj.value = 2
        return UNKNOWN if FAULT == "count" else 0

    def nvmlDeviceGetHandleByIndex_v2(self, index, _handle):
        return UNKNOWN if FAULT == "second" and index.value == 1 else 0

    def nvmlDeviceGetName(self, _handle, text, _length):
        text.value = b"NVIDIA H200"
        return 0

    def nvmlDeviceGetCudaComputeCapability(self, _handle, major, minor):
        major._obj.value, minor._obj.value = 9, 0
        return 0

    def nvmlDeviceGetMemoryInfo(self, _handle, told):
        told._obj.total = 150 << 30
        return NOT_SUPPORTED if FAULT == "shared" else 0

    def nvmlDeviceGetMigMode(self, _handle, current, _pending):
        current._obj.value = int(FAULT == "mig")
        return NOT_SUPPORTED if FAULT == "shared" else 0

    def nvmlDeviceGetAttributes_v2(self, _handle, told):
        told._obj.multiprocessorCount = 16
        return 0 if FAULT == "mig" else NOT_SUPPORTED


try:
    import pynvml
except ImportError:
    pass
else:
    if FAULT != "library":
        pynvml.nvmlLib = Library()

try:
    import torch
    from torch.overrides import TorchFunctionMode
except ImportError:
    pass
else:

    class Cuda(TorchFunctionMode):
        """Whatever is asked of the GPU happens on the CPU."""

        def __torch_function__(self, func, _types, args=(), kwargs=None):
            named = {name: self.place(each) for name, each in (kwargs or {}).items()}
            return func(*map(self.place, args), **named)

        @staticmethod
        def place(value):
            return "cpu" if isinstance(value, str) and value == "cuda" else value

    Cuda().__enter__()
    seen = types.SimpleNamespace(
        name="NVIDIA H200", multi_processor_count=132, total_memory=150 << 30, major=9, minor=0
    )
    torch.cuda.is_available = lambda: "D9M_TEST_BLIND" not in os.environ
    torch.cuda.get_device_properties = lambda _place: seen
    torch.cuda.synchronize = lambda: None
    torch.version.cuda = "12.8"
