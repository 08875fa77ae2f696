# pyright: basic
"""Calls that are saved with their values, so that the op can be called again alone.

A wanted call is `{"rank", "op", "overload", "phase", "node", "module", "nth"}`: the nth call, from
0, of this op at this place among the recorded steps. What it was given goes into the folder
`zoom/NUMBER` of the recording, by its place among the wanted ones: the memory of each tensor as it
lies, and `call.json`. Nothing there is code.
"""

from __future__ import annotations

import ctypes
import json
import os
import sys
import zlib

from ..core import header, private, seals
from . import settings
from .tensors import silent

MOST = 256 << 20
"""Bytes of the tensors of one call."""
ALIGNED = 64
"""Torch aligns memory to so many bytes. Where a tensor lies between can decide an op's bits."""


class UnsavedError(Exception):
    """The call cannot be saved; the text says why."""


class Zoom:
    """The wanted calls of this process."""

    def __init__(self, torch, session) -> None:
        self._torch = torch
        self._settings = session.settings
        self._folder = os.path.join(session.settings.folder, "zoom")
        self._wanted: dict = {}
        """Place -> {nth call there: [(rank, number of the request)]}."""
        for number, call in enumerate(session.settings.zoom):
            wanted = self._wanted.setdefault(_place_of(call), {})
            wanted.setdefault(call["nth"], []).append((call["rank"], number))
        self._sites: dict = {}
        self._counts: dict = {}

    def learn(self, site: int, op, overload, phase, node, module) -> None:
        """A site was described for the first time."""
        place = op, overload, phase, node, module
        if place in self._wanted:
            self._sites[site] = place

    def called(self, site: int, random, args, kwargs, device) -> None:
        """An op is about to be called."""
        place = self._sites.get(site)
        if place is None:
            return
        count = self._counts.get(place, 0)
        self._counts[place] = count + 1
        for rank, number in self._wanted[place].get(count, ()):
            if rank == header.rank():
                self._save(place, number, random, args, kwargs, device)

    def _save(self, place, number: int, random, args, kwargs, device) -> None:
        try:
            private.make_folder(self._folder)
            folder = os.path.join(self._folder, str(number))
            os.mkdir(folder, private.FOLDER)
        except FileExistsError:  # another process of this rank came first
            return
        saved = _Call(self._torch, folder)
        about = {"op": place[0], "overload": place[1], "env": header.environment(self._settings)}
        saved.add(about, lambda: saved.described(args, kwargs, random, device))
        saved.write(about)


def _place_of(call: dict):
    return call["op"], call["overload"], call["phase"], call["node"], call["module"]


class Keep:
    """Saves each call in a module, with its results, as long as they fit the recording's size."""

    def __init__(self, torch, session) -> None:
        self._torch = torch
        self._session = session
        self._module = f".{session.settings.keep}."
        self._left = session.settings.max_size
        self._count = 0
        self._begun = None

    def before(self, plan, place, args, kwargs) -> None:
        self._begun = None
        if self._module not in f".{place[2]}." or plan.random or self._left <= 0:
            return
        name = f"kept-{os.getpid()}-{self._count}"
        self._count += 1
        folder = os.path.join(self._session.settings.folder, "zoom", name)
        private.make_folder(os.path.dirname(folder))
        private.make_folder(folder)
        saved = _Call(self._torch, folder)
        about = {"op": plan.name, "overload": plan.overload}
        about["env"] = header.environment(self._session.settings)
        self._begun = name, saved, about
        saved.add(about, lambda: saved.described(args, kwargs, False, None))

    def after(self, outputs) -> None:
        """The call returned or wrote `outputs`."""
        if self._begun is None:
            return
        name, saved, about = self._begun
        saved.add(about, lambda: {"outputs": saved.results(outputs)})
        self._left -= saved.size
        saved.write(about)
        self._session.record("w", name)


class _Call:
    """Writes what one call was given."""

    def __init__(self, torch, folder: str) -> None:
        self._torch = torch
        self._folder = folder
        self._tensors: list = []
        self._known: dict = {}
        self.size = 0
        self._generator = None

    def described(self, args, kwargs, random, device) -> dict:
        torch = self._torch
        found = {
            "args": [self._value(value) for value in args],
            "kwargs": {name: self._value(value) for name, value in kwargs.items()},
        }
        if random:
            found["generator"] = self._state(device)
        found["tensors"] = self._tensors
        found["python"] = sys.executable
        found["threads"] = torch.get_num_threads()
        found["deterministic"] = settings.Switches(torch).now()
        return found

    def results(self, outputs) -> list:
        """Save what the call returned and wrote: it may be the memory of what it was given."""
        self._known.clear()
        return [self._tensor(output) for output in outputs]

    def add(self, about: dict, act) -> None:
        """Add to `about` what `act` saves and returns, or why it could not."""
        try:
            with silent(self._torch)(), self._torch.no_grad():
                about.update(act())
        except UnsavedError as reason:
            about["reason"] = str(reason)

    def write(self, about: dict) -> None:
        path = os.path.join(self._folder, "call.json")
        with open(path, "wb", opener=private.open_file) as file:
            file.write(seals.document(json.dumps(about)))

    def _state(self, device) -> str:
        generator = self._generator
        if generator is None:
            generator = settings.default_generator(self._torch, self._torch.device(device))
        if generator is None:
            raise UnsavedError("its generator cannot be read")
        return bytes(generator.get_state().tolist()).hex()

    def _value(self, value):
        torch = self._torch
        if isinstance(value, torch.Tensor):
            return {"tensor": self._tensor(value)}
        if value is None or isinstance(value, (bool, int, str)):
            return value
        if isinstance(value, float):
            return {"float": value.hex()}
        if isinstance(value, complex):
            return {"complex": [value.real.hex(), value.imag.hex()]}
        if isinstance(value, (list, tuple)):
            return [self._value(element) for element in value]
        if isinstance(value, torch.device):
            return {"device": str(value)}
        if isinstance(value, (torch.dtype, torch.layout, torch.memory_format)):
            return {"torch": str(value).replace("torch.", "")}
        if isinstance(value, torch.Generator):
            self._generator = value
            return None
        raise UnsavedError(f"one of its arguments is a {type(value).__name__}")

    def _tensor(self, tensor) -> int:
        torch = self._torch
        if tensor.layout is not torch.strided or tensor.is_quantized or tensor.is_meta:
            raise UnsavedError("one of its inputs is not a plain tensor in memory")
        if type(tensor) not in (torch.Tensor, torch.nn.Parameter):
            raise UnsavedError(f"one of its inputs is a {type(tensor).__name__}")
        if tensor.is_conj() or tensor.is_neg():
            raise UnsavedError("one of its inputs is a conjugate or a negative view")
        shape, strides = list(tensor.shape), list(tensor.stride())
        key = tensor.data_ptr(), str(tensor.dtype), tuple(shape), tuple(strides)
        if key in self._known:
            return self._known[key]
        extent = 1 + sum((size - 1) * stride for size, stride in zip(shape, strides))
        extent = extent if tensor.numel() else 0
        self.size += extent * tensor.element_size()
        if self.size > MOST:
            raise UnsavedError(f"its inputs hold more than {MOST >> 20} MB")
        number = self._known[key] = len(self._tensors)
        flat = tensor.detach().as_strided((extent,), (1,)).cpu()
        count = extent * tensor.element_size()
        data = (ctypes.c_char * count).from_address(flat.data_ptr()) if count else b""
        offset = tensor.data_ptr() % ALIGNED if extent and tensor.device.type == "cpu" else 0
        self._tensors.append(
            {
                "dtype": str(tensor.dtype).replace("torch.", ""),
                "shape": shape,
                "strides": strides,
                "extent": extent,
                "device": str(tensor.device),
                "offset": offset // tensor.element_size(),
                "checksum": zlib.crc32(data),
            }
        )
        path = os.path.join(self._folder, f"{number}.bin")
        with open(path, "wb", opener=private.open_file) as file:
            file.write(data)
        return number
