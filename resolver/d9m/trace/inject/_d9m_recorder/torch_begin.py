# pyright: basic
"""PyTorch: which hooks there are at which level, and what the header says of it."""

from __future__ import annotations

import glob
import os

from . import torch_batches, torch_settings
from .torch_steps import Steps
from .torch_tensors import Tensors


def begin(torch, session, watcher) -> None:
    """Called when `import torch` has ended, or at once where that was before."""
    framework = Torch(torch, session, watcher)
    session.frameworks.append(framework)
    framework.begin()


class Torch:
    """What a session asks of its framework."""

    def __init__(self, torch, session, watcher) -> None:
        self.torch = torch
        self.session = session
        self.watcher = watcher
        self.tensors = Tensors(torch, session)
        self.steps = Steps(torch, session, self.tensors)
        self._settings = None

    def begin(self) -> None:
        for statement in self.session.settings.python:
            exec(statement, {"torch": self.torch})  # noqa: S102  what the advice says to run
        self._settings = torch_settings.deterministic(self.torch), self.torch.get_num_threads()
        self.steps.begin()
        self.watcher.when_imported(
            "torch.utils.data.dataloader",
            lambda module: torch_batches.begin(module, self.session, self.tensors, self.steps),
        )

    def about(self) -> dict:
        torch = self.torch
        deterministic, threads = self._settings = self._now()
        return {
            "packages": {"torch": str(torch.__version__)},
            "device": device(torch),
            "gpu": gpu(torch),
            "threads": threads,
            "deterministic": deterministic,
        }

    def _now(self):
        return torch_settings.deterministic(self.torch), self.torch.get_num_threads()

    def write_settings(self) -> None:
        """A record, if settings have changed since they were last written."""
        now = self._now()
        if self.session.stream.begun and now != self._settings:
            self._settings = now
            self.session.record("t", *now)

    def generators(self) -> dict:
        return torch_settings.generators(self.torch, self.session.digester)

    def step_ended(self) -> None:
        """Nothing is kept from step to step."""

    def end(self) -> None:
        self.steps.end()

    def forked(self) -> None:
        self.session.on = self.session.settings.holds(self.session.step)


def device(torch) -> str:
    """The kind of device that the program is likely to use. Nothing is initialised to know."""
    if torch.version.cuda and (torch.cuda.is_initialized() or _exists("nvidiactl", "dxg")):
        return "cuda"
    if getattr(torch.version, "hip", None) and (torch.cuda.is_initialized() or _exists("kfd")):
        return "rocm"
    mps = getattr(torch.backends, "mps", None)
    return "mps" if mps is not None and mps.is_available() else "cpu"


def _exists(*names: str) -> bool:
    return any(os.path.exists("/dev/" + name) for name in names)


def gpu(torch) -> str | None:
    """Its model; of the first one, where there are several."""
    if torch.cuda.is_initialized():
        return torch.cuda.get_device_name(torch.cuda.current_device())
    for path in sorted(glob.glob("/proc/driver/nvidia/gpus/*/information")):
        with open(path) as file:
            for line in file:
                name, _colon, value = line.partition(":")
                if name.strip() == "Model":
                    return value.strip()
    return None
