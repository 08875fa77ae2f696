"""What d9m tells people to run, run in the frameworks it is told for."""

from __future__ import annotations

import ast
import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from api_names import LOOK_UP, lifetimes, package_of, used
from environments import FRAMEWORKS, InstalledFramework, UnavailableError
from programs import EmittedProgram, blocks, examples, statements
from runs import ForkedInterpreter, run, said

from conftest import EVERYTHING, needs

SHOW_VARIABLES = "\nimport json, os\nprint('VARIABLES ' + json.dumps(dict(os.environ)))\n"


HERE = [each for each in FRAMEWORKS if each.stands or not each.extra]


@pytest.fixture(scope="module", params=HERE, ids=lambda each: each.name)
def framework(request: pytest.FixtureRequest) -> InstalledFramework:
    """One that is installed; where everything is wanted, it is installed now."""
    each: InstalledFramework = request.param
    if not each.stands and os.environ.get(EVERYTHING):
        try:
            each.make()
        except UnavailableError as reason:
            pytest.skip(f"{each.name}: {reason}")
    needs(each.stands, each.name, each.how)
    return each


@pytest.fixture(scope="module")
def interpreter(framework: InstalledFramework) -> Iterator[ForkedInterpreter]:
    """Its Python, with the framework imported once for all programs."""
    forked = ForkedInterpreter(str(framework.interpreter), framework.package)
    yield forked
    forked.close()


def told(
    programs: tuple[EmittedProgram, ...], framework: InstalledFramework
) -> list[EmittedProgram]:
    """Programs for this release.

    Those for releases that are not among the ordinary ones run in another one
    too, if it has all their names: that they run is worth showing. Programs that
    need another framework or library as well are left out: no environment here has two.
    """
    ordinary = {
        each.release for each in FRAMEWORKS if each.package == framework.package and not each.extra
    }
    known = {*map(package_of, lifetimes()), *(each.package for each in FRAMEWORKS)}
    others = known - {framework.package, "numpy"}
    found: list[EmittedProgram] = []
    for each in (
        program for program in programs if not others & set(map(package_of, used(program.tree)))
    ):
        releases = each.releases.get(framework.package, [])
        homeless = bool(releases) and not framework.extra and not ordinary & set(releases)
        if framework.release in releases or (homeless and has_names(framework, each)):
            found.append(each)
    return list({run_of(program): program for program in found}.values())


def run_of(program: EmittedProgram) -> str:
    """What happens when it runs: comments make no difference, nor does the loop that refuses to
    run below the import of packages which no environment here has.
    """
    return "\n".join(
        ast.dump(statement) for statement in program.tree.body if not isinstance(statement, ast.For)
    )


def has_names(framework: InstalledFramework, program: EmittedProgram) -> bool:
    needed = [name for name in used(program.tree) if package_of(name) == framework.package]
    return not program.installs and all(
        lifetimes()[name].covers(framework.release) for name in needed
    )


def failures(
    interpreter: ForkedInterpreter, programs: list[EmittedProgram], folder: Path
) -> list[str]:
    """What went wrong, each in a process of its own."""
    found: list[str] = []
    for each in programs:
        ran = interpreter.run(each.text + SHOW_VARIABLES, folder / each.name, each.required)
        if ran.returncode != 0:
            found.append(f"{each.origin}\n{each.text}\n{said(ran)}")
            continue
        variables = json.loads(ran.stdout.partition("VARIABLES ")[2])
        wrong = {
            name: variables.get(name)
            for name, value in each.sets.items()
            if variables.get(name) != value
        }
        if wrong:
            found.append(f"{each.origin}: {wrong} instead of {each.sets}")
    return found


def test_every_block_for_this_release_runs(
    framework: InstalledFramework, interpreter: ForkedInterpreter, tmp_path: Path
) -> None:
    mine = told(blocks(), framework)
    assert mine
    assert not (failed := failures(interpreter, mine, tmp_path)), "\n".join(failed)


def test_every_example_for_this_release_runs(
    framework: InstalledFramework, interpreter: ForkedInterpreter, tmp_path: Path
) -> None:
    mine = told(examples(), framework)
    assert mine
    assert not (failed := failures(interpreter, mine, tmp_path)), "\n".join(failed)


def test_a_fork_runs_a_program_as_a_fresh_interpreter_does(
    framework: InstalledFramework, interpreter: ForkedInterpreter, tmp_path: Path
) -> None:
    """The framework is not imported before the program does, and what a program does ends with
    it.
    """
    package = framework.package
    program = f"""
import os, sys
print([name for name in sys.modules if name.partition('.')[0] == {package!r}])
import {package}
print({package}.__version__, {package}.__spec__.name, __name__, sys.argv == [__file__], os.getcwd())
print(os.environ.get('GIVEN'), os.environ.get('MADE'), hasattr({package}, 'left'))
os.environ['MADE'] = {package}.left = '1'
raise RuntimeError('the end')
"""
    fresh = run(str(framework.interpreter), program, tmp_path, {"GIVEN": "1"})
    assert (fresh.returncode, fresh.stdout[:3]) == (1, "[]\n")
    for _time in range(2):
        forked = interpreter.run(program, tmp_path, {"GIVEN": "1"})
        assert (forked.returncode, forked.stdout) == (1, fresh.stdout)
        assert forked.stderr.splitlines()[-1] == fresh.stderr.splitlines()[-1]


def test_every_statement_for_this_release_runs(
    framework: InstalledFramework, interpreter: ForkedInterpreter, tmp_path: Path
) -> None:
    """All in one process: nothing here needs a fresh one."""
    mine = told(statements(), framework)
    assert mine
    ran = interpreter.run("\n".join(each.text for each in mine), tmp_path)
    assert ran.returncode == 0, said(ran)


def test_a_block_below_the_import_of_the_framework_refuses_to_run(
    framework: InstalledFramework, interpreter: ForkedInterpreter, tmp_path: Path
) -> None:
    for each in [each for each in told(blocks(), framework) if each.above_import][:1]:
        late = f"import {framework.package}\n{each.text}"
        refused = interpreter.run(late, tmp_path, each.required)
        assert refused.returncode != 0, each.origin
        assert f"RuntimeError: {framework.package} is already imported" in refused.stderr, said(
            refused
        )


def test_the_table_of_names_is_right_about_this_release(
    framework: InstalledFramework, interpreter: ForkedInterpreter, tmp_path: Path
) -> None:
    names = [name for name in lifetimes() if package_of(name) in (framework.package, "numpy")]
    looked = interpreter.run(LOOK_UP, tmp_path, arguments=[json.dumps(names)])
    assert looked.returncode == 0, said(looked)
    found = json.loads(looked.stdout.splitlines()[-1])
    version = {package: text.split("+")[0] for package, text in found["versions"].items()}
    assert version[framework.package] == framework.release
    expected = {name for name in names if lifetimes()[name].covers(version[package_of(name)])}
    assert set(found["present"]) == expected
