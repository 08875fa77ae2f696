"""Every program that d9m tells people to run is of its time, and refuses to run where it would come
too late.
"""

from __future__ import annotations

import ast
import builtins
import functools
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from api_names import lifetimes, package_of, used
from environments import FRAMEWORKS
from programs import OLDEST_PYTHON, EmittedProgram, blocks, examples, statements, uncommented
from runs import ForkedInterpreter, said

from golden import knowledge_base, unfounded


def everything() -> tuple[EmittedProgram, ...]:
    return (*blocks(), *examples(), *statements())


def text_fault(program: EmittedProgram) -> str | None:
    """What the oldest Python would say, with conditional lines left out or taken in."""
    try:
        trees = [program.tree, ast.parse(uncommented(program), feature_version=OLDEST_PYTHON)]
    except SyntaxError as error:
        return f"{program.origin}: {error}"
    missing = {name for tree in trees for name in undefined(tree)}
    return f"{program.origin}: undefined {', '.join(missing)}" if missing else None


def undefined(tree: ast.Module) -> set[str]:
    """Names that are read and nowhere bound."""
    nodes = list(ast.walk(tree))
    bound = {
        node.id
        for node in nodes
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load)
    }
    bound |= {node.name for node in nodes if isinstance(node, (ast.FunctionDef, ast.ClassDef))}
    bound |= {node.arg for node in nodes if isinstance(node, ast.arg)}
    bound |= {
        (each.asname or each.name).split(".")[0]
        for node in nodes
        if isinstance(node, (ast.Import, ast.ImportFrom))
        for each in node.names
    }
    return {node.id for node in nodes if isinstance(node, ast.Name)} - bound - set(dir(builtins))


def name_faults(program: EmittedProgram) -> list[str]:
    """Names that some release which gets this program does not have."""
    faults: list[str] = []
    for name in used(program.tree):
        lifetime = lifetimes().get(name)
        if lifetime is None and package_of(name) not in installed():
            faults.append(f"{program.origin}: {name} has no row in api_names.json")
        elif lifetime is not None:
            releases = program.releases.get(package_of(name), ())
            lacking = [each for each in releases if not lifetime.covers(each)]
            faults += [f"{program.origin}: no {name} in {', '.join(lacking)}"] if lacking else []
    return faults


@functools.cache
def installed() -> set[str]:
    """Import packages beside the frameworks that blocks have installed first; test_installs looks
    into them.
    """
    names = {name for each in blocks() if each.installs for name in used(each.tree)}
    return {package_of(name) for name in names} - {package_of(name) for name in lifetimes()}


def test_every_program_is_whole_and_in_the_syntax_of_python_3_6() -> None:
    faults = [fault for each in everything() if (fault := text_fault(each))]
    assert not faults, "\n".join(faults)


def test_every_name_exists_in_every_release_that_is_told_to_use_it() -> None:
    faults = [fault for each in everything() for fault in name_faults(each)]
    assert not faults, "\n".join(faults)


def test_every_release_of_a_framework_gets_a_program() -> None:
    """That the enumeration leaves none out."""
    for package in ("tensorflow", "torch"):
        told = {release for each in blocks() for release in each.releases.get(package, ())}
        assert told == set(knowledge_base().releases(package))


@pytest.mark.parametrize(
    "text",
    [
        "if (n := 1):\n    pass\n",
        "print(1, /)\n",
        "# only if torch >= 1.8:\n# def broken(:\n",
        "# only if torch >= 1.8:\n# torch.manual_seed(0)\n",
        "train(train_dataset)\n",
    ],
)
def test_a_text_that_no_python_3_6_could_run_is_noticed(text: str) -> None:
    assert text_fault(EmittedProgram(text, "planted"))


@pytest.mark.parametrize(
    ("text", "release", "fault"),
    [
        (
            "import torch\ntorch.set_deterministic(True)\n",
            "1.10.0",
            "no torch.set_deterministic in 1.10.0",
        ),
        (
            "import torch as t\nt.use_deterministic_algorithms(True)\n",
            "1.7.1",
            "no torch.use_deterministic_algorithms",
        ),
        (
            "from torch.utils.data import DataLoader\nDataLoader([], generator=0)\n",
            "1.5.1",
            "(generator=) in 1.5.1",
        ),
        (
            "import torch\ntorch.make_deterministic()\n",
            "2.13.0",
            "torch.make_deterministic has no row",
        ),
        ("import fwd9m\n", "2.13.0", "fwd9m has no row"),
    ],
)
def test_a_name_of_another_time_is_noticed(text: str, release: str, fault: str) -> None:
    assert [
        each
        for each in name_faults(EmittedProgram(text, "planted", {"torch": [release]}))
        if fault in each
    ]


def test_every_row_of_the_table_of_names_says_why() -> None:
    known = {each.name for each in FRAMEWORKS}
    for name, row in lifetimes().items():
        assert row.because, name
        for because in row.because:
            if "ran" in because:
                assert set(because["ran"]) <= known, f"{name}: {because['ran']}"
            elif "url" not in because:
                assert not (fault := unfounded(because)), f"{name}: {fault}"


@pytest.fixture(scope="module")
def interpreter() -> Iterator[ForkedInterpreter]:
    forked = ForkedInterpreter(sys.executable)
    yield forked
    forked.close()


def test_a_block_refuses_to_run_without_a_variable_that_only_the_shell_can_set(
    interpreter: ForkedInterpreter, tmp_path: Path
) -> None:
    asking = [each for each in blocks() if each.required]
    assert asking
    for each in asking:
        for name in each.required:
            rest = {other: value for other, value in each.required.items() if other != name}
            for variables in (rest, *({**rest, name: value} for value in each.refused[name])):
                refused = interpreter.run(each.text, tmp_path, variables)
                assert refused.returncode != 0, each.origin
                assert f"RuntimeError: set {name}=" in refused.stderr, (
                    f"{each.origin}\n{said(refused)}"
                )


def test_a_notebook_is_warned_of_a_seed_that_its_kernel_had_to_have(
    interpreter: ForkedInterpreter, tmp_path: Path
) -> None:
    """Its kernel started long before the first cell, so an error could not be followed."""
    asking = [each for each in blocks() if "PYTHONHASHSEED" in each.required]
    assert asking
    notebook = "import sys, types\nsys.modules['ipykernel'] = types.ModuleType('ipykernel')\n"
    for each in asking[:5]:
        others = {k: v for k, v in each.required.items() if k != "PYTHONHASHSEED"}
        warned = interpreter.run(notebook + each.text, tmp_path, others)
        assert "warning: set PYTHONHASHSEED=0 before Python starts" in warned.stderr, said(warned)
        assert "RuntimeError: set PYTHONHASHSEED" not in warned.stderr, said(warned)


def test_a_block_refuses_to_run_with_a_variable_that_only_the_shell_can_unset(
    interpreter: ForkedInterpreter, tmp_path: Path
) -> None:
    for each in blocks():
        for name in each.forbidden:
            refused = interpreter.run(each.text, tmp_path, {**each.required, name: "1"})
            assert f"RuntimeError: unset {name}" in refused.stderr, (
                f"{each.origin}\n{said(refused)}"
            )


def test_a_block_that_comes_too_late_after_an_import_refuses_to_run(
    interpreter: ForkedInterpreter, tmp_path: Path
) -> None:
    """With an empty module under the framework's name; the real ones are in test_frameworks."""
    early = [each for each in blocks() if each.above_import]
    assert early
    for each in early:
        for package in each.releases or ("torch",):
            imported = (
                f"import sys, types\nsys.modules[{package!r}] = types.ModuleType({package!r})\n"
            )
            refused = interpreter.run(imported + each.text, tmp_path, each.required)
            assert f"RuntimeError: {package} is already imported" in refused.stderr, (
                f"{each.origin}\n{said(refused)}"
            )
