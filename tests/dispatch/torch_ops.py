"""Which ATen operators each public op of PyTorch ends in, forward and backward.

Runs in a Python that has PyTorch, expecttest and PyYAML, and needs nothing else:

    python tests/dispatch/torch_ops.py traced.json
    d9m kb collect traced.json --dispatch kb/evidence/dispatch-torch.json

PyTorch's own samples of each op and layer, and the calls in torch_calls.txt, are run under a
`TorchDispatchMode`: in float32 on the CPU, and again on the meta device, which takes the route of
no particular device. The profiler adds matrix products and random numbers that other operators call
inside C++, where no mode sees them. Views are left out, and so are allocations, because what is allocated inside an
op is written before it is read.

`seeded` lists the operators that draw random numbers, as their tag or their generator says.

What computes nothing is listed, too: of the names in the catalogue those that are a type (but no
layer with a `forward` of its own, and no optimizer), a module, a property or a constant, and those
that only builds for other systems have.
"""

from __future__ import annotations

import contextlib
import functools
import importlib
import signal
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

from samples import Features, called_lines, catalogue_names, deciding, write_trace

Reached = dict[str, list[Features]]
"""Operator -> samples that reach it."""

ALLOCATIONS = ("empty", "new_empty")
INNER = {"addbmm", "addmm", "addmv", "baddbmm", "bmm", "dot", "mm", "mv", "vdot"}
"""Operators that are noted where others call them inside C++, besides what draws random numbers. Of
the rest the profiler does not say the type, and most of them count.
"""
SAMPLES = 40
"""Of one op; a few have thousands."""
SECONDS = 300
"""For one op that hangs."""
SPACES = (
    "torch.distributed",
    "torch.nn.attention",
    "torch.nn.utils",
    "torch.optim",
    "torch.sparse",
    "torch.utils.checkpoint",
)
"""Modules whose names are in the catalogue, and that `import torch` may leave alone."""
CALLS = Path(__file__).with_name("torch_calls.txt")
CATALOGUE = Path(__file__).parents[2] / "kb/evidence/catalogue-torch.json"


def operator_name(operator: Any, arguments: tuple[Any, ...], keywords: dict[str, Any]) -> str:
    """``index_put[accumulate=true]`` for ``aten.index_put_.default``: with what decides whether it
    adds, and the type where it is no floating point number.
    """
    import torch

    space, _colons, name = operator._schema.name.partition("::")
    if space != "aten":
        return f"{space}::{name}"
    given = {each.name: value for each, value in zip(operator._schema.arguments, arguments)}
    given.update(keywords)
    said: list[str] = []
    if given.get("accumulate") is not None:
        said.append(f"accumulate={str(given['accumulate']).lower()}")
    if isinstance(given.get("reduce"), str):
        said.append(f"reduce={given['reduce']}")
    first = next((each for each in arguments if isinstance(each, torch.Tensor)), None)
    if first is not None and not (first.is_floating_point() or first.is_complex()):
        said.append(f"dtype={str(first.dtype).removeprefix('torch.')}")
    plain = name[:-1] if name.endswith("_") and not name.startswith("__") else name
    return plain + (f"[{','.join(said)}]" if said else "")


def logger(into: set[str]) -> Any:
    """A mode that notes every operator that computes."""
    from torch.utils._python_dispatch import TorchDispatchMode

    class Log(TorchDispatchMode):
        def __torch_dispatch__(
            self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None
        ) -> Any:
            if not func.is_view:
                name = operator_name(func, args, kwargs or {})
                if not name.startswith((*ALLOCATIONS, "detach")):
                    into.add(name)
            return func(*args, **(kwargs or {}))

    return Log()


@functools.cache
def seeded() -> frozenset[str]:
    """Operators that draw random numbers: tagged so, or with a generator among their arguments."""
    import torch

    tag = getattr(torch.Tag, "nondeterministic_seeded", None)
    found: set[str] = set()
    for schema in torch._C._jit_get_all_schemas():
        space, _colons, name = schema.name.partition("::")
        if space == "aten":
            packet = getattr(torch.ops.aten, name, None)
            tags = getattr(getattr(packet, schema.overload_name or "default", None), "tags", ())
            if tag in tags or any(each.name == "generator" for each in schema.arguments):
                found.add(name[:-1] if name.endswith("_") and name[-2] != "_" else name)
    return frozenset(found)


@contextlib.contextmanager
def logged(into: set[str]) -> Iterator[None]:
    """Note every operator that computes, those that others call inside C++ too."""
    from torch.autograd.profiler import profile

    with profile(use_kineto=False) as profiler, logger(into):
        yield
    seen = {each.partition("[")[0] for each in into}
    for event in profiler.function_events:
        space, _colons, name = event.name.partition("::")
        plain = name[:-1] if name.endswith("_") and not name.startswith("__") else name
        if space == "aten" and plain not in seen and plain in {*INNER, *seeded()}:
            into.add(plain)


def tensors(value: Any) -> Iterator[Any]:
    import torch

    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, dict):
        for each in value.values():
            yield from tensors(each)
    elif isinstance(value, (list, tuple)):
        for each in value:
            yield from tensors(each)


def on_meta(value: Any) -> Any:
    import torch

    if isinstance(value, torch.Tensor):
        return value.detach().to("meta").requires_grad_(value.requires_grad)
    if isinstance(value, dict):
        return {name: on_meta(each) for name, each in value.items()}
    if isinstance(value, (list, tuple)) and type(value) in (list, tuple):
        return type(value)(on_meta(each) for each in value)
    return value


def run(function: Callable[[], Any]) -> tuple[set[str], set[str]]:
    """Operators of one call, forward and backward. Its own errors pass through."""
    import torch

    forward: set[str] = set()
    backward: set[str] = set()
    with logged(forward):
        result = function()
    reached = [each for each in tensors(result) if each.requires_grad]
    if reached:
        gradients = [torch.ones_like(each) for each in reached]
        with logged(backward):
            torch.autograd.backward(reached, gradients)
    return forward, backward


def features(arguments: Iterable[Any], keywords: dict[str, Any]) -> Features:
    import torch

    found: Features = {}
    for place, value in enumerate(arguments):
        if isinstance(value, torch.Tensor):
            found.setdefault("ndim", str(value.dim()))
        elif isinstance(value, (bool, int, float, str)):
            found[str(place)] = str(value)
    for name, value in keywords.items():
        if isinstance(value, (bool, int, float, str)):
            found[name] = str(value)
    return found


class HangsError(Exception):
    pass


def late(*_: Any) -> None:
    raise HangsError


Sample = tuple[Features, Callable[[bool], Callable[[], Any]]]
"""What it passes, and what prepares a call of it: on the meta device or not."""


def traced(samples: Iterable[Sample]) -> dict[str, dict[str, str]] | None:
    """Direction -> operator -> the argument that decides. A sample that fails counts as none; None
    if all of them do.
    """
    found: dict[str, Reached] = {"forward": {}, "backward": {}}
    all_: list[Features] = []
    signal.signal(signal.SIGALRM, late)
    signal.alarm(SECONDS)
    try:
        for said, prepare in samples:
            ran = False
            for meta in (False, True):
                try:
                    sets = run(prepare(meta))
                except HangsError:
                    raise
                except Exception:  # what a sample cannot do on a device
                    continue
                ran = True
                for direction, names in zip(found, sets):
                    for name in names:
                        reaching = found[direction].setdefault(name, [])
                        if not reaching or reaching[-1] is not said:
                            reaching.append(said)
            if ran:
                all_.append(said)
    except HangsError:
        pass
    finally:
        signal.alarm(0)
    if not all_:
        return None
    return {
        direction: {name: deciding(reaching, all_) for name, reaching in sorted(reached.items())}
        for direction, reached in found.items()
        if reached
    }


Reaches = "dict[str, dict[str, str]] | None"


def of_ops() -> Iterator[tuple[str, Reaches]]:
    """Every public op, with the samples of all of its variants."""
    import torch
    from torch.testing._internal.common_methods_invocations import op_db

    def samples(info: Any) -> Iterator[Sample]:
        types = info.supported_dtypes("cpu")
        dtype = torch.float32 if torch.float32 in types else sorted(types, key=str)[0]
        gradient = dtype == torch.float32 and info.supports_autograd
        for sample in info.sample_inputs("cpu", dtype, requires_grad=gradient):
            given = (sample.input, *sample.args)

            def prepare(meta: bool, given: Any = given, keywords: Any = sample.kwargs) -> Any:
                if meta:
                    given, keywords = on_meta(given), on_meta(keywords)
                return lambda: info(*given, **keywords)

            yield features(given, sample.kwargs), prepare

    variants: dict[str, list[Any]] = {}
    for info in op_db:
        name = public_name(info.name)
        if name is not None:
            variants.setdefault(name, []).append(info)
    for name, infos in variants.items():
        each = SAMPLES // len(infos) + 1
        yield (
            name,
            traced(sample for info in infos for sample in islice(guarded(samples(info)), each)),
        )


def aliases() -> dict[str, str]:
    """Other public names of an op: ``torch.arccos``, and operators such as ``__rmul__``."""
    from torch.testing._internal.common_methods_invocations import op_db

    found: dict[str, str] = {}
    for info in op_db:
        name = public_name(info.name)
        others = [each.name for each in info.aliases]
        for each in (info.operator_variant, info.inplace_operator_variant):
            others.append(getattr(each, "__name__", ""))
        others += [f"__{each}__" for each in others[-2:] if each and not each.startswith("__")]
        for other in filter(None, others):
            full = public_name(other)
            if name is not None and full is not None and full != name:
                found[full] = name
    return found


def of_modules() -> Iterator[tuple[str, Reaches]]:
    """Every layer, in training."""
    import torch
    from torch.testing._internal.common_modules import module_db

    def samples(info: Any) -> Iterator[Sample]:
        for sample in info.module_inputs_func(
            info, device="cpu", dtype=torch.float32, requires_grad=True, training=True
        ):
            made, passed = sample.constructor_input, sample.forward_input

            def prepare(meta: bool, made: Any = made, passed: Any = passed) -> Any:
                module = info.module_cls(*made.args, **made.kwargs)
                given, keywords = passed.args, passed.kwargs
                if meta:
                    module = module.to("meta")
                    given, keywords = on_meta(given), on_meta(keywords)
                return lambda: module(*given, **keywords)

            yield features((*made.args, *passed.args), made.kwargs), prepare

    for info in module_db:
        space = "quantizable." if ".quantizable" in info.module_cls.__module__ else ""
        yield (
            f"torch.nn.{space}{info.module_cls.__name__}",
            traced(islice(guarded(samples(info)), SAMPLES)),
        )


def of_calls() -> Iterator[tuple[str, Reaches]]:
    """What torch_calls.txt calls; of a name that this release lacks, nothing runs."""
    import torch

    with tempfile.TemporaryDirectory() as folder:
        torch.distributed.init_process_group(
            "gloo", init_method=f"file://{folder}/group", rank=0, world_size=1
        )
        for name, lines in called_lines(CALLS.read_text(encoding="utf-8"), "torch").items():
            yield name, traced(map(sample_of, lines))
        torch.distributed.destroy_process_group()


def sample_of(line: str) -> Sample:
    def prepare(meta: bool) -> Callable[[], Any]:
        known = arguments("meta" if meta else "cpu")
        return lambda: eval(line, known)

    return {"call": line}, prepare


def arguments(device: str) -> dict[str, Any]:
    """What the lines of torch_calls.txt name, made anew."""
    import numpy
    import torch

    def floats(*shape: int) -> Any:
        return torch.ones(shape, device=device, requires_grad=True)

    def sparse(parameter: Any) -> Any:
        parameter.grad = parameter.grad.to_sparse()
        return parameter

    plain = torch.ones(3, 4, device=device)
    parameter = torch.nn.Parameter(plain.clone())
    parameter.grad = torch.ones(3, 4, device=device)
    known: dict[str, Any] = {
        "torch": torch,
        "numpy": numpy,
        "d": device,
        "x": floats(3, 4),
        "y": floats(3, 4),
        "n": plain,
        "v": floats(4),
        "w": floats(4),
        "m": torch.eye(2, device=device, requires_grad=True),
        "t": floats(2, 2, 4),
        "u": floats(2, 4, 4, 4),
        "i": torch.ones(3, 4, dtype=torch.int64, device=device),
        "b": torch.ones(3, 4, dtype=torch.bool, device=device),
        "z": torch.ones(3, dtype=torch.complex64, device=device, requires_grad=True),
        "p": parameter,
        "sparse": sparse,
        "closure": lambda: (parameter * parameter).sum(),
    }
    if device == "cpu":
        known["s"] = plain.to_sparse()
        known["c"] = plain.to_sparse_csr()
        known["q"] = torch.quantize_per_tensor(plain, 0.1, 0, torch.quint8)
        known["r"] = torch.quantize_per_channel(
            plain, torch.ones(4), torch.zeros(4), 1, torch.quint8
        )
    return known


def idle(release: str) -> list[str]:
    """Names of the catalogue that compute nothing: a type, a module, a property, a constant; and
    what only builds for other systems have.
    """
    names = catalogue_names(CATALOGUE, release)
    return sorted(name for name in names if not computes(name))


def computes(name: str) -> bool:
    """Whether a name can be called to compute."""
    import torch

    value: Any = torch
    for part in name.split(".")[1:]:
        value = getattr(value, part, None)
    if isinstance(value, type) and issubclass(value, torch.nn.Module):
        return value.forward is not torch.nn.Module.forward
    if isinstance(value, type):
        return issubclass(value, torch.optim.Optimizer) and value is not torch.optim.Optimizer
    return callable(value)


def guarded(samples: Iterator[Any]) -> Iterator[Any]:
    """Samples up to the first that cannot be made."""
    try:
        yield from samples
    except HangsError:
        raise
    except Exception:  # a sample that this build cannot make
        return


def public_name(name: str) -> str | None:
    """``torch.nn.functional.conv1d`` for ``nn.functional.conv1d``, ``torch.Tensor.item`` for
    ``item``; None for a name that PyTorch keeps to itself.
    """
    import torch

    for space in ("torch.", "torch.Tensor."):
        full = f"{space}{name}"
        value: Any = torch
        for part in full.split(".")[1:]:
            value = getattr(value, part, None)
        private = any(part.startswith("_") and not part.endswith("__") for part in full.split("."))
        if value is not None and not private and not name.startswith("ops."):
            return full
    return None


def main(file: Path) -> None:
    import torch

    warnings.simplefilter("ignore")
    for space in SPACES:
        with contextlib.suppress(ImportError):
            importlib.import_module(space)
    release = torch.__version__.partition("+")[0]
    ops: dict[str, dict[str, dict[str, str]]] = {}
    torch.manual_seed(0)
    for source in (of_calls(), of_ops(), of_modules()):
        for name, reached in source:
            print(name, "" if reached is not None else "did not run", flush=True)
            if reached is not None and not ops.get(name):
                ops[name] = reached
    write_trace(file, "torch", release, ops, idle(release), aliases(), seeded())


if __name__ == "__main__":
    main(Path(sys.argv[1]))
