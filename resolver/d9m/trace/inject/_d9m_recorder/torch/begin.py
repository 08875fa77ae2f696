# pyright: basic
"""PyTorch: which hooks there are at which level, and what the header says of it."""

from __future__ import annotations

import glob
import os
import sys

from . import batches, compiled, modules, settings
from .forward import ForwardSteps
from .memory import Memories
from .mode import Window, make_mode
from .ops import Ops
from .place import Places
from .samples import SampledMemories
from .steps import Steps
from .tensors import Tensors, quiet


def begin(torch, session, watcher) -> None:
    """Called when `import torch` has ended, or at once where that was before."""
    framework = Torch(torch, session, watcher)
    session.frameworks.append(framework)
    framework.begin()


class Torch:
    """PyTorch, as a session sees it."""

    def __init__(self, torch, session, watcher) -> None:
        self.torch = torch
        self.session = session
        self.watcher = watcher
        session.quiet = quiet(torch)
        self.tensors = Tensors(torch, session)
        self.steps = Steps(torch, session, self.tensors)
        self._switches = settings.Switches(torch)
        self._settings = None
        self._forward = ForwardSteps(torch, session, self.steps)
        self._traced = OpLevel(self) if session.settings.level == "op" else None

    def begin(self) -> None:
        self.session.settings.make(torch=self.torch)
        self._settings = self._now()
        self.steps.begin()
        if self.session.settings.compiled == "eager":
            compiled.run_op_by_op(self.torch, self.steps)
        self.watcher.when_imported(
            "torch.utils.data.dataloader",
            lambda module: batches.begin(module, self.session, self.steps),
        )
        settings = self.session.settings
        if settings.level == "module" or settings.step_by == "forward":
            modules.begin(self.torch, self.session, self.steps)
        if settings.step_by == "auto":
            self._forward.begin(self.watcher)
        if self.session.settings.level != "step":
            wrote = self.tensors.digest if self._traced is None else self._traced.memories.wrote
            self.watcher.when_imported(
                "torch._inductor.output_code",
                lambda module: compiled.begin(module, self.session, self.steps, wrote),
            )
        if self._traced is not None:
            self._traced.begin()

    def about(self) -> dict:
        torch = self.torch
        deterministic, threads = self._settings = self._now()
        return {
            "packages": {"torch": str(torch.__version__)},
            "device": device(torch),
            "gpu": gpu(torch),
            "instructions": settings.instructions(torch),
            "threads": threads,
            "deterministic": deterministic,
        }

    def _now(self):
        return self._switches.now(), self.torch.get_num_threads()

    def write_settings(self) -> None:
        """A record, if settings have changed since they were last written."""
        now = self._now()
        if self.session.stream.begun and now != self._settings:
            self._settings = now
            self.session.record("t", *now)

    def generators(self) -> dict:
        return settings.generators(self.torch, self.session.digester)

    def step_ended(self) -> None:
        self._forward.step_ended()
        if self._traced is not None:
            self._traced.step_ended()

    def end(self) -> None:
        self._forward.end()
        self.steps.end()
        if self._traced is not None:
            self._traced.end()

    def forked(self) -> None:
        if self._traced is not None:
            self._traced.window.leave()


class OpLevel:
    """Recording of ops: a mode, while a step is recorded."""

    def __init__(self, framework) -> None:
        torch, session = framework.torch, framework.session
        self.torch = torch
        self.session = session
        self._steps = framework.steps
        memories = SampledMemories if session.settings.samples else Memories
        self.memories = memories(torch, session, framework.tensors)
        self.places = Places(torch, framework.steps)
        self.ops = Ops(torch, session, self.memories, self.places)
        self.mode = make_mode(torch, self.ops, framework.watcher)
        self.window = Window(torch, self.mode)
        framework.steps.text = self.memories.state

    def begin(self) -> None:
        if not hasattr(type(self.mode).__mro__[1], "ignore_compile_internals"):
            if "torch._dynamo" in sys.modules:  # what was compiled by then is not known
                self._make_way()
            else:
                compiled.before_compiling(self.torch, self._steps, self._make_way)
        self._fit()

    def _make_way(self) -> None:
        """Before torch 2.9, nothing is compiled under a mode, and that may last beyond it."""
        self.session.unseen("compiler")
        self.ops.working = False
        self.window.leave()

    def _fit(self) -> None:
        """Have the mode where it is wanted, and nowhere else."""
        if not (self.session.on and self.ops.working):
            self.window.leave()
        elif not self.window.enter():
            self.session.unseen("mode")

    def step_ended(self) -> None:
        self.memories.sweep()
        self.places.forget()
        self._fit()

    def end(self) -> None:
        self.window.leave()
        self.memories.end()


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
