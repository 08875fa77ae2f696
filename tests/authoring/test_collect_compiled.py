"""What Inductor makes of operators is followed through its functions, and kept by release."""

from __future__ import annotations

from pathlib import Path

import pytest
from shipped_files import wheel

from d9m.authoring.collect.inductor import add_lowerings, lowerings
from d9m.errors import DataError
from d9m.model.compiled_facts import CompiledCatalogue, Lowering
from d9m.model.wheel_facts import read

FLAG = "are_deterministic_algorithms_enabled"
LOWERING = """
from .utils import use_scatter_fallback

@register_lowering(aten.index_put, type_promotion_kind=None)
def index_put(x, indices, values, accumulate=False):
    return index_put_impl_(clone(x), indices, values, accumulate)

def index_put_impl_(self, indices, values, accumulate):
    if torch.are_deterministic_algorithms_enabled():
        return index_put_fallback(self, indices, values, accumulate)
    return ir.Scatter(scatter_mode="atomic_add" if accumulate else None)

def index_put_fallback(self, indices, values, accumulate): ...

def scatter_fallback(op): return use_scatter_fallback(op)

@register_lowering(aten.scatter_reduce_)
def scatter_reduce_(self, dim, index, src, reduce):
    if scatter_fallback(aten.scatter_reduce_) is not None:
        return None
    return ir.Scatter(scatter_mode=reduce_mode(reduce))

def reduce_mode(reduce):
    if reduce == "sum":
        return "atomic_add"

@register_lowering(aten.scatter)
def scatter(x, dim, index, src, **kwargs): return scatter_reduce_(x, dim, index, src, **kwargs)

@register_lowering(aten.cumsum)
def cumsum(x, axis=None): return ir.Scan.create(x, axis)

@register_lowering(aten.where)
def where(x):
    return x.mode == "atomic_add"
"""
FILES = {
    "torch/_inductor/lowering.py": LOWERING,
    "torch/_inductor/utils.py": (
        "def use_scatter_fallback(op):\n    return torch.are_deterministic_algorithms_enabled()\n"
    ),
    "torch/_inductor/ir.py": (
        "class Scan:\n    @classmethod\n    def create(cls, x, axis):\n        return SplitScan\n"
    ),
    "torch/_inductor/kernel/mm.py": (
        "@register_lowering(aten.mm)\ndef tuned_mm(a, b): return autotune_select_algorithm(a, b)\n"
    ),
    "torch/_inductor/select_algorithm.py": (
        "def autotune_select_algorithm(*args):\n    if config.deterministic: return first(args)\n"
    ),
    "torch/_inductor/decomposition.py": (
        "inductor_decompositions = get_decompositions([aten.taken, aten.cleared, aten.copied])\n"
        "decomps_to_exclude: list = [aten.cleared]\n"
        "@register_decomposition([aten.put])\n"
        "def put(self, index, source, accumulate=False):\n"
        "    return torch.index_put(self, index, source, accumulate)\n"
        "@register_extra_random_decomp([aten.bernoulli_])\ndef bernoulli_(self, p=0.5): ...\n"
    ),
    "torch/_decomp/decompositions.py": (
        "@register_decomposition(aten.taken)\n"
        "def taken(x, i): return x.index_put_(i, x, accumulate=True)\n"
        "@register_decomposition(aten.cleared)\n"
        "def cleared(x, i): return x.index_put_(i, x, accumulate=True)\n"
        "@register_decomposition(aten.left)\n"
        "def left(x, i): return x.index_put_(i, x, accumulate=True)\n"
        "@register_decomposition(aten.copied)\n"
        "def copied(x, i): return x.index_put_(i, x).scatter(0, i, x)\n"
        "@register_decomposition(aten.pooled)\n"
        "def pooled(x, i): return aten.scatter_reduce(x, 0, i, x, 'sum')\n"
    ),
    "torch/_decomp/__init__.py": (
        "def _core_aten_decompositions_post_autograd():\n"
        "    return get_decompositions([aten.pooled])\n"
    ),
}
FOUND = {
    Lowering("index_put", "atomic-add", FLAG),
    Lowering("put", "atomic-add", FLAG, "index_put"),
    Lowering("taken", "atomic-add", FLAG, "index_put"),
    Lowering("scatter_reduce", "atomic-add", FLAG),
    Lowering("scatter", "atomic-add", FLAG),
    Lowering("pooled", "atomic-add", FLAG, "scatter_reduce"),
    Lowering("cumsum", "split-scan"),
    Lowering("mm", "tuned", "config.deterministic"),
    Lowering("bernoulli", "own-random", "config.fallback_random"),
}


def changed(file: str, old: str, new: str) -> dict[str, str]:
    assert old in FILES[file]
    return {**FILES, file: FILES[file].replace(old, new)}


def test_operators_are_followed_to_the_functions_with_an_effect() -> None:
    assert lowerings(FILES) == FOUND


def test_a_way_on_which_nothing_asks_is_open() -> None:
    asked = "torch.are_deterministic_algorithms_enabled()"
    open_put = lowerings(changed("torch/_inductor/lowering.py", f"if {asked}", "if False"))
    assert FOUND - open_put == {each for each in FOUND if "index_put" in (each.op, each.through)}
    assert Lowering("taken", "atomic-add", "", "index_put") in open_put
    open_scatter = lowerings(changed("torch/_inductor/utils.py", asked, "False"))
    assert {each.op for each in open_scatter - FOUND} == {"scatter", "scatter_reduce", "pooled"}


def test_a_rewriting_that_asks_is_gated_though_its_kernel_is_not() -> None:
    texts = changed("torch/_inductor/utils.py", "torch.are_deterministic_algorithms_enabled()", "0")
    file = "torch/_decomp/decompositions.py"
    asking = "def pooled(x, i):\n    if torch.are_deterministic_algorithms_enabled(): return 0\n   "
    texts[file] = texts[file].replace("def pooled(x, i):", asking)
    assert Lowering("pooled", "atomic-add", FLAG, "scatter_reduce") in lowerings(texts)


def test_a_scan_that_asks_and_a_chooser_that_does_not() -> None:
    scan = changed("torch/_inductor/ir.py", "return SplitScan", f"return SplitScan or {FLAG}()")
    assert Lowering("cumsum", "split-scan", FLAG) in lowerings(scan)
    chooser = changed("torch/_inductor/select_algorithm.py", "config.deterministic", "False")
    assert Lowering("mm", "tuned") in lowerings(chooser)


def test_releases_are_kept_together_by_what_held_in_them(tmp_path: Path) -> None:
    file = tmp_path / "compiled-torch.json"
    plain = {name: text.encode() for name, text in FILES.items()}
    ungated = changed(
        "torch/_inductor/utils.py", "torch.are_deterministic_algorithms_enabled()", "0"
    )
    older = {name: text.encode() for name, text in ungated.items()}
    for version, content in (("2.1.0", plain), ("2.0.0", older)):
        path = wheel(tmp_path / f"torch-{version}-cp38-cp38-linux_x86_64.whl", content)
        file.write_bytes(add_lowerings(file, path).encoded())
    found: CompiledCatalogue = read(file, CompiledCatalogue)
    assert found.releases == ["2.0.0", "2.1.0"]
    assert found.at("2.1.0") == FOUND
    assert Lowering("scatter", "atomic-add") in found.lowerings["2.0.0..2.1.0"]
    assert Lowering("cumsum", "split-scan") in found.lowerings["2.0.0.."]
    assert set(found.wheels) == {"2.0.0", "2.1.0"}


def test_a_wheel_without_inductor_is_refused(tmp_path: Path) -> None:
    path = wheel(tmp_path / "torch-1.13.1-cp38-cp38-linux_x86_64.whl", {"torch/__init__.py": b""})
    with pytest.raises(DataError, match=r"holds no torch/_inductor/lowering\.py"):
        add_lowerings(tmp_path / "compiled-torch.json", path)
    with pytest.raises(DataError, match="no such file"):
        add_lowerings(tmp_path / "compiled-torch.json", tmp_path / "absent.whl")
