# pyright: basic, reportMissingImports=false, reportMissingModuleSource=false
# ruff: noqa: UP032
"""The worker's interface to PyTorch. Sent as text: standard library and torch only, Python 3.6."""

import ctypes

import torch


class Framework:
    def __init__(self, device, threads):
        self.device = "cuda" if device == "rocm" else device
        if self.device != "cpu" and not self._there(self.device):
            raise RuntimeError("torch {} sees no {} device".format(torch.__version__, device))
        if threads:
            torch.set_num_threads(threads)
        self.names = {
            "torch": torch,
            "F": torch.nn.functional,
            "nn": torch.nn,
            "filled": self.filled,
        }

    @staticmethod
    def _there(device):
        for place in (getattr(torch, device, None), getattr(torch.backends, device, None)):
            if place is not None and hasattr(place, "is_available") and place.is_available():
                return True
        return False

    def facts(self):
        """Return what this build is and where it runs, as far as it says."""
        found = {
            "framework": "torch",
            "version": str(torch.__version__),
            "threads": torch.get_num_threads(),
        }
        found["cpu_capability"] = getattr(
            getattr(torch.backends, "cpu", None), "get_cpu_capability", lambda: None
        )()
        if self.device == "cuda":
            seen = torch.cuda.get_device_properties(0)
            found.update(
                device=seen.name, sm_count=seen.multi_processor_count, memory=seen.total_memory
            )
            found["compute_capability"] = "{}.{}".format(seen.major, seen.minor)
            found["cuda"], found["hip"] = torch.version.cuda, getattr(torch.version, "hip", None)
            found["cudnn"] = torch.backends.cudnn.version()
            try:
                found["nccl"] = ".".join(map(str, torch.cuda.nccl.version()))
            except Exception:
                found["nccl"] = None
        return found

    def counters(self, count):
        return torch.arange(count, dtype=torch.int64)

    def real(self, values):
        return values.double()

    def table(self, values):
        return torch.tensor(values, dtype=torch.float64)

    def order(self, values):
        return torch.sort(values)[1]

    def placed(self, value, dtype):
        return self._typed(value, dtype).to(self.device)

    def exactly(self, value, dtype):
        """The same value, computed with at double precision on the CPU."""
        value = self._typed(value, dtype)
        return value.double() if value.is_floating_point() else value

    @staticmethod
    def _typed(value, dtype):
        return value.to(getattr(torch, dtype)) if value.is_floating_point() else value

    def filled(self, module, place):
        """A module with the same weights everywhere, in the case's type and place."""
        for number, weight in enumerate(module.parameters()):
            steps = torch.arange(weight.numel(), dtype=torch.int64) * 7919 + 104729 * (number + 1)
            weight.data = place(((steps % 2001).double() / 8192.0 - 0.12207).reshape(weight.shape))
        return module

    def take(self, value, order, dim):
        return torch.index_select(value, dim, order.to(value.device))

    def parts(self, value):
        if torch.is_tensor(value):
            return [value]
        found = []
        for item in value if isinstance(value, (tuple, list)) else ():
            found += self.parts(item)
        return found

    def shapes(self, value):
        return [tuple(each.shape) for each in self._differentiable(value)]

    def _differentiable(self, value):
        return [each for each in self.parts(value) if each.is_floating_point()]

    def untracked(self, call, values):
        with torch.no_grad():
            return call(values)

    def gradients(self, call, values, names, upstream):
        leaves = [values[name].detach().requires_grad_() for name in names]
        found = self._differentiable(call(dict(values, **dict(zip(names, leaves)))))
        return torch.autograd.grad(found, leaves, upstream)

    def wait(self, value):
        if self.device != "cpu":
            getattr(torch, self.device).synchronize()

    def raw(self, value):
        """Type and bytes of every tensor in the result."""
        found = []
        for part in self.parts(value):
            tensor = part.detach()
            if tensor.layout != torch.strided:
                tensor = tensor.to_dense()
            if getattr(tensor, "is_quantized", False):
                tensor = tensor.int_repr()
            tensor = tensor.cpu().contiguous()
            kind = str(tensor.dtype).replace("torch.", "")
            size = tensor.numel() * tensor.element_size()
            found.append((kind, ctypes.string_at(tensor.data_ptr(), size)))
        return found

    def stir(self, turn):
        """Leave other leftovers in freed memory: who reads what was never written reads something
        else.
        """
        held, value = (
            [],
            turn % 2 * (turn + 0.5),
        )  # who reads it may only ask whether it is zero, as LAPACK's pivots do
        for size in (5, 6, 8, 10, 12, 14):
            for _ in range(2 + turn % 5):
                held.append(torch.full((1 << size,), value, device=self.device))

    def distance(self, value, exact):
        """Largest error over the largest true value, and a fingerprint of the truth."""
        error, largest, total = 0.0, 0.0, 0.0
        for one, true in zip(self.parts(value), self.parts(exact)):
            one, true = one.detach().cpu().double().reshape(-1), true.detach().double().reshape(-1)
            both = torch.isfinite(one) & torch.isfinite(true)
            if one.numel() != true.numel() or not torch.equal(
                torch.isfinite(one), torch.isfinite(true)
            ):
                return {"error": None, "norm": 0.0}
            if both.any():
                largest = max(largest, float(true[both].abs().max()))
                error = max(error, float((one[both] - true[both]).abs().max()))
                total += float((true[both] ** 2).sum())
        return {"error": error / largest if largest else error, "norm": total**0.5}
