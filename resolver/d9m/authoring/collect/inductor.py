"""Lowerings of each operator in Inductor, from the Python files of a wheel of PyTorch.

An operator is rewritten to others (``torch/_decomp``, ``torch/_inductor/decomposition.py``) or
lowered to a kernel (``torch/_inductor/lowering.py``). A call graph of these files says which
operators end in a function with an effect, and whether every way there asks for a switch first.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from fnmatch import fnmatch
from pathlib import Path

from d9m.authoring.collect.functions import Definition, Functions, Place, operators, used
from d9m.authoring.collect.reach import Graph
from d9m.authoring.collect.wheel import Wheel
from d9m.errors import DataError
from d9m.model.compiled_facts import CompiledCatalogue, Effect, Lowering
from d9m.model.wheel_facts import opened

_LOWERINGS = "torch/_inductor/lowering.py"
_REWRITES = "torch/_inductor/decomposition.py"
_CHOOSER = "torch/_inductor/select_algorithm.py"
_REPLACED = "torch/_inductor/fx_passes/replace_random.py"
_RANDOM = "torch/_decomp/decompositions_for_rng.py"
_CORE = "torch/_decomp/__init__.py"
_FILES = (
    *(_LOWERINGS, _REWRITES, _CHOOSER, _REPLACED, _RANDOM, _CORE),
    *("torch/_inductor/ir.py", "torch/_inductor/utils.py", "torch/_inductor/kernel/*.py"),
    *("torch/_decomp/decompositions.py", "torch/_refs/__init__.py"),
    "torch/_refs/nn/functional/__init__.py",
)
_REWRITING = ("torch/_decomp/", "torch/_refs/", _REWRITES)

_FLAG = "are_deterministic_algorithms_enabled"
_MODE = "config.deterministic"
_OWN_RANDOM = "config.fallback_random"
_ADDING = {"index_put": "accumulate", "_unsafe_index_put": "accumulate", "scatter": "reduce"}
"""Operator that writes -> argument with which it adds."""


def add_lowerings(catalogue: Path, path: Path) -> CompiledCatalogue:
    """The catalogue in a file, or a new one, with what a wheel of PyTorch says.

    Raises DataError for a damaged wheel, and for one that has no Inductor.
    """
    if not path.is_file():
        raise DataError(f"{path}: no such file")
    with Wheel(path) as wheel:
        texts: dict[str, str] = {}
        for member in wheel.members():
            if any(fnmatch(member, pattern) for pattern in _FILES):
                texts[member] = wheel.text(member)
        if _LOWERINGS not in texts:
            raise DataError(f"{path.name}: holds no {_LOWERINGS}", tip="torch has it since 2.0")
        known = opened(catalogue, CompiledCatalogue, "torch")
        release = wheel.version.partition("+")[0]
        return known.with_release(release, (path.name, wheel.checksum()), lowerings(texts))


def lowerings(texts: dict[str, str]) -> set[Lowering]:
    """Every effect on every operator, from the texts of Inductor's files."""
    functions = Functions(texts)
    graph = _graph(functions)
    return {
        *_effects(functions, graph, "atomic-add", _adds, _FLAG),
        *_effects(functions, graph, "split-scan", _scans, _FLAG),
        *_tuned(functions, graph),
        *(Lowering(op, "own-random", _OWN_RANDOM) for op in _random(functions)),
    }


def _graph(functions: Functions) -> Graph:
    """Operators lead to the functions that are registered for them, and these to what they call and
    to what they rewrite to.
    """
    graph = Graph()
    lowered = _registered(functions, "register_lowering", ())
    rewritten = _rewritten(functions)
    for op, places in rewritten.items():
        graph.add(op, places)
    for op, places in lowered.items():
        if all("NotImplemented" in functions.text(place) for place in rewritten.get(op, ())):
            graph.add(op, places)
    for place in functions.places():
        graph.add(place, functions.called(place))
        if place[0].startswith(_REWRITING):
            named = used(functions.definition(place)) & {*lowered, *rewritten}
            given = set(_adding_arguments(functions.definition(place)))
            graph.add(place, {op for op in named if op not in _ADDING or _ADDING[op] in given})
    return graph


def _registered(
    functions: Functions, registrar: str, files: tuple[str, ...]
) -> dict[str, set[Place]]:
    """Operator -> functions that a decorator registers for it, in files that begin so."""
    found: dict[str, set[Place]] = {}
    for place in functions.places():
        for decorator in functions.definition(place).decorator_list:
            named = registrar in ast.unparse(decorator).partition("(")[0]
            if named and (not files or place[0].startswith(files)):
                for op in operators(decorator):
                    found.setdefault(op, set()).add(place)
    return found


def _rewritten(functions: Functions) -> dict[str, set[Place]]:
    """Operator -> functions that rewrite it: Inductor's own, or one of those that all of PyTorch
    shares, where Inductor takes it.
    """
    shared = _registered(functions, "register_decomposition", _REWRITING[:2])
    own = _registered(functions, "register_", (_REWRITES,))
    taken: set[str] = set()
    for file, start in ((_CORE, "core_aten"), (_CORE, "_core_aten")):
        for name in functions.named(file, start):
            taken |= operators(functions.definition((file, name)))
    taken |= functions.assigned(_REWRITES, "inductor_decompositions")
    taken |= functions.assigned(_REWRITES, "extra_random_decomps")
    taken -= functions.assigned(_REWRITES, "decomps_to_exclude")
    return {**{op: shared[op] for op in taken & shared.keys()}, **own}


def _effects(
    functions: Functions,
    graph: Graph,
    effect: Effect,
    has: Callable[[Definition], bool],
    question: str,
) -> Iterator[Lowering]:
    """Operators that reach a function that has the effect."""
    asking = {place for place in functions.places() if _asks(functions, place, question)}
    having = {place for place in functions.places() if has(functions.definition(place))}
    open_ = graph.leading_to(having - asking, around=asking)
    for op, way in graph.leading_to(having).items():
        if isinstance(op, str):
            behind = [node for node in way if isinstance(node, str)]
            gate = "" if op in open_ else question
            yield Lowering(op, effect, gate, behind[-1] if behind else "")


def _asks(functions: Functions, place: Place, question: str) -> bool:
    """Whether a function asks itself, or has another one ask whether to fall back."""
    return question in functions.text(place) or any(
        called != place and called[1].endswith("fallback") and _asks(functions, called, question)
        for called in functions.called(place)
    )


def _tuned(functions: Functions, graph: Graph) -> Iterator[Lowering]:
    """The chooser asks, in every case or in none."""
    asks = any(
        place[0] == _CHOOSER and _MODE in functions.text(place) for place in functions.places()
    )
    for lowering in _effects(functions, graph, "tuned", _chooses, _MODE):
        yield Lowering(lowering.op, "tuned", _MODE if asks else "", lowering.through)


def _random(functions: Functions) -> set[str]:
    """Operators that draw from Inductor's own generator."""
    found = {
        *_registered(functions, "register_graph_pattern", (_REPLACED,)),
        *_registered(functions, "register_extra_random", (_REWRITES,)),
    }
    for file in (_REWRITES, _RANDOM):
        found |= functions.assigned(file, "extra_random_decomps")
    return found


def _adds(definition: Definition) -> bool:
    """Whether a function chooses atomic additions; to compare with their name is not to choose."""
    named: set[ast.AST] = set()
    compared: set[ast.AST] = set()
    for node in ast.walk(definition):
        if isinstance(node, ast.Constant) and node.value == "atomic_add":
            named.add(node)
        elif isinstance(node, ast.Compare):
            compared.update(ast.walk(node))
    return bool(named - compared)


def _scans(definition: Definition) -> bool:
    return "SplitScan" in _names(definition)


def _chooses(definition: Definition) -> bool:
    return "autotune_select_algorithm" in _names(definition)


def _names(definition: Definition) -> set[str]:
    return {node.id for node in ast.walk(definition) if isinstance(node, ast.Name)}


def _adding_arguments(definition: Definition) -> Iterator[str]:
    """Arguments that may say in some call that values are added."""
    for node in ast.walk(definition):
        if isinstance(node, ast.Call):
            given = {keyword.arg or "": keyword.value for keyword in node.keywords}
            if ast.unparse(node.func).rstrip("_").endswith("index_put") and len(node.args) > 3:
                given["accumulate"] = node.args[3]
            for name in {*given} & {*_ADDING.values()}:
                value = given[name]
                if not isinstance(value, ast.Constant) or value.value not in (False, None):
                    yield name
