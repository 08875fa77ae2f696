# pyright: basic
"""Calls a saved op again and again, alone in a process: `call_again.py FOLDER REPEATS SECONDS`.

FOLDER is what `_d9m_recorder/torch/zoom.py` wrote. Statements on stdin run first, after `import
torch`. The last line of stdout is what came of it, as JSON. Python 3.8, the standard library, and
the torch of the program.
"""

from __future__ import annotations

import ctypes
import hashlib
import json
import os
import sys
import time
import zlib

import torch  # pyright: ignore[reportMissingImports]
from _d9m_recorder.core import seals

LEAST = 2
ALIGNED = 64
"""As in torch/zoom.py."""
LARGEST = 1 << 30
"""Bytes of a result that is compared element by element; of larger ones only digests are."""
UNSIGNED = {1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64}
FLOATS = (torch.float16, torch.bfloat16, torch.float32, torch.float64)


class SavedCall:
    """The op and what it was given. With `exact`, it computes in float64."""

    def __init__(self, folder, exact=False):
        self._exact = exact
        content = _content(folder, "call.json")
        if not seals.is_whole(content):
            raise ValueError("call.json is damaged")
        self.about = json.loads(content)
        self._folder = folder
        self._tensors = [self._read(number) for number in range(len(self.about["tensors"]))]
        space, _colons, name = self.about["op"].partition("::")
        packet = getattr(getattr(torch.ops, space), name)
        self.op = getattr(packet, self.about["overload"] or "default")

    def _read(self, number):
        about = self.about["tensors"][number]
        data = _content(self._folder, f"{number}.bin")
        if zlib.crc32(data) != about["checksum"]:
            raise ValueError(f"{number}.bin is damaged")
        kind = getattr(torch, about["dtype"])
        size = torch.empty(0, dtype=kind).element_size()
        flat = torch.empty(about["extent"] + ALIGNED // size + 1, dtype=kind)
        flat = flat.narrow(0, about["offset"], about["extent"])
        ctypes.memmove(flat.data_ptr(), data, len(data))
        return about, flat.double() if self._exact and kind in FLOATS else flat

    def distance(self):
        """How far the saved results are from what comes out in float64, relative to that."""
        most = 0.0
        for number, right in zip(self.about["outputs"], self.call()):
            if right.is_floating_point() and right.numel():
                saved = self._copy(number).to(right.dtype).cpu()
                size = float(right.norm())
                most = max(most, float((saved - right).norm()) / (size or 1.0))
        return most

    def _copy(self, number):
        """A tensor as it was, in new memory that lies alike."""
        about, flat = self._tensors[number]
        if about["device"] == "cpu":
            size = flat.element_size()
            base = torch.empty(about["extent"] + ALIGNED // size + 1, dtype=flat.dtype)
            base = base.narrow(0, about["offset"], about["extent"])
            base.copy_(flat)
        else:
            base = flat.to(about["device"])
        return base.as_strided(about["shape"], about["strides"])

    def prepare(self):
        about = self.about
        torch.set_num_threads(about["threads"])
        for path, value in about["deterministic"].items():
            if path == "torch.use_deterministic_algorithms":
                torch.use_deterministic_algorithms(
                    value, warn_only=about["deterministic"]["warn_only"]
                )
            elif path != "warn_only":
                owner, _dot, name = path.rpartition(".")
                found = torch
                for part in owner.split(".")[1:]:
                    found = getattr(found, part)
                made = getattr(found, name)
                if callable(made):  # such as set_default_dtype("torch.float32")
                    kind, _dot, word = str(value).partition("torch.")
                    made(getattr(torch, word) if word and not kind else value)
                elif made != value:  # some can only be read
                    setattr(found, name, value)

    def call(self):
        """Tensors: those that are returned, then those that were written."""
        copies = {}

        def value(saved):
            if isinstance(saved, list):
                return [value(element) for element in saved]
            if not isinstance(saved, dict):
                return saved
            ((kind, held),) = saved.items()
            if kind == "tensor":
                if held not in copies:
                    copies[held] = self._copy(held)
                return copies[held]
            if kind == "float":
                return float.fromhex(held)
            if kind == "complex":
                return complex(float.fromhex(held[0]), float.fromhex(held[1]))
            if kind == "device":
                return torch.device(held)
            named = getattr(torch, held)
            return torch.float64 if self._exact and named in FLOATS else named

        args = [value(saved) for saved in self.about["args"]]
        kwargs = {name: value(saved) for name, saved in self.about["kwargs"].items()}
        self._seed()
        found = self.op(*args, **kwargs)
        returned = _tensors(found)
        written = []
        for argument, given in zip(self.op._schema.arguments, args):
            alias = argument.alias_info
            if alias is not None and alias.is_write:
                written += _tensors(given)
        for argument in self.op._schema.arguments:
            alias = argument.alias_info
            if alias is not None and alias.is_write and argument.name in kwargs:
                written += _tensors(kwargs[argument.name])
        new = [one for one in returned if not any(one is other for other in written)]
        return [one.detach().cpu().contiguous() for one in [*new, *written]]

    def _seed(self):
        state = self.about.get("generator")
        if state is None:
            return
        data = torch.tensor(list(bytes.fromhex(state)), dtype=torch.uint8)
        devices = [about["device"] for about, _flat in self._tensors]
        device = torch.device(next((one for one in devices if one != "cpu"), "cpu"))
        if device.type == "cuda":
            torch.cuda.set_rng_state(data, device)
        else:
            torch.set_rng_state(data)


def _content(folder, name):
    with open(os.path.join(folder, name), "rb") as file:
        return file.read()


def _tensors(value):
    if isinstance(value, torch.Tensor):
        return [value]
    found = []
    for element in value if isinstance(value, (list, tuple)) else ():
        found += _tensors(element)
    return found


def digest(results):
    found = hashlib.sha1()  # noqa: S324  distinguished, not protected
    for result in results:
        size = result.numel() * result.element_size()
        found.update(str((result.dtype, tuple(result.shape))).encode())
        found.update((ctypes.c_char * size).from_address(result.data_ptr()) if size else b"")
    return found.hexdigest()


def bits(result):
    """A result as integers of its width, in one dimension."""
    if result.is_complex():
        result = torch.view_as_real(result)
    return result.contiguous().reshape(-1).view(UNSIGNED[result.element_size()])


def furthest(first, other):
    """The largest distance in units in the last place; None where no two numbers differ."""
    if first.is_complex():
        first, other = torch.view_as_real(first), torch.view_as_real(other)
    if first.dtype not in FLOATS:
        return None
    differs = (bits(first) != bits(other)).reshape(first.shape)
    finite = differs & torch.isfinite(first) & torch.isfinite(other)
    if not bool(finite.any()):
        return None
    one, two = bits(first[finite]).long(), bits(other[finite]).long()
    lowest = 1 << (8 * first.element_size() - 1)
    one = torch.where(one < 0, -(one + lowest) if lowest < 1 << 63 else -(one & (lowest - 1)), one)
    two = torch.where(two < 0, -(two + lowest) if lowest < 1 << 63 else -(two & (lowest - 1)), two)
    return int((one - two).abs().max())


def repeated(call, wanted, seconds):
    """Return what came of so many calls, or of fewer where the time is up."""
    first = call.call()
    digests = [digest(first)]
    small = sum(result.numel() * result.element_size() for result in first) <= LARGEST
    changed = [torch.zeros(bits(result).shape, dtype=torch.bool) for result in first]
    ulp = None
    stop = time.monotonic() + seconds
    while len(digests) < wanted and (len(digests) < LEAST or time.monotonic() < stop):
        results = call.call()
        digests.append(digest(results))
        if digests[-1] == digests[0] or not small:
            continue
        for mask, one, other in zip(changed, first, results):
            if one.shape != other.shape:
                small = False
                continue
            mask |= bits(one) != bits(other)
            distance = furthest(one, other)
            ulp = distance if ulp is None else max(ulp, distance or 0)
    total = sum(mask.numel() for mask in changed)
    share = sum(int(mask.sum()) for mask in changed) / max(1, total)
    return {
        "repeats": len(digests),
        "distinct": len(set(digests)),
        "changed": share if small else None,
        "max_ulp": ulp if small else None,
    }


def exact(folders):
    """Print the distance of each saved call from its result in float64, or why there is none."""
    found = []
    for folder in folders:
        try:
            with torch.no_grad():
                found.append(SavedCall(folder, exact=True).distance())
        except Exception as error:
            found.append(f"{type(error).__name__}: {str(error).strip().partition(chr(10))[0]}")
    sys.stdout.write("\n" + json.dumps(found) + "\n")


def main():
    if sys.argv[1] == "--exact":
        exact(sys.argv[2:])
        return
    folder, wanted, seconds = sys.argv[1], int(sys.argv[2]), float(sys.argv[3])
    try:
        call = SavedCall(folder)
        call.prepare()
        exec(sys.stdin.read(), {"torch": torch})  # noqa: S102  what the advice says to run
        with torch.no_grad():
            found = repeated(call, wanted, seconds)
    except Exception as error:
        text = str(error).strip().partition("\n")[0]
        found = {"error": f"{type(error).__name__}: {text}"}
    sys.stdout.write("\n" + json.dumps(found) + "\n")


if __name__ == "__main__":
    main()
