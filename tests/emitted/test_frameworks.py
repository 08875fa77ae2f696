"""What d9m tells people to run, run in the frameworks it is told for."""

from __future__ import annotations

import ast
import json
import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from api_names import LOOK_UP, lifetimes, package_of, used
from environments import FRAMEWORKS, InstalledFramework, UnavailableError
from programs import EmittedProgram, blocks, examples, statements
from runs import run, said

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


def told(
    programs: tuple[EmittedProgram, ...], framework: InstalledFramework
) -> list[EmittedProgram]:
    """Programs for this release.

    Those for releases that are not among the ordinary ones run in another one
    too, if it has all their names: that they run is worth showing. Programs that
    need another framework as well are left out: no environment here has two.
    """
    ordinary = {
        each.release for each in FRAMEWORKS if each.package == framework.package and not each.extra
    }
    others = {each.package for each in FRAMEWORKS} - {framework.package}
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
    framework: InstalledFramework, programs: list[EmittedProgram], folder: Path
) -> list[str]:
    """What went wrong, in as many processes at a time as there are processors."""

    def failure(each: EmittedProgram) -> str | None:
        ran = run(
            str(framework.interpreter),
            each.text + SHOW_VARIABLES,
            folder / each.name,
            each.required,
        )
        if ran.returncode != 0:
            return f"{each.origin}\n{each.text}\n{said(ran)}"
        variables = json.loads(ran.stdout.partition("VARIABLES ")[2])
        wrong = {
            name: variables.get(name)
            for name, value in each.sets.items()
            if variables.get(name) != value
        }
        return f"{each.origin}: {wrong} instead of {each.sets}" if wrong else None

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        return [each for each in pool.map(failure, programs) if each]


def test_every_block_for_this_release_runs(framework: InstalledFramework, tmp_path: Path) -> None:
    mine = told(blocks(), framework)
    assert mine
    assert not (failed := failures(framework, mine, tmp_path)), "\n".join(failed)


def test_every_example_for_this_release_runs(framework: InstalledFramework, tmp_path: Path) -> None:
    mine = told(examples(), framework)
    assert mine
    assert not (failed := failures(framework, mine, tmp_path)), "\n".join(failed)


def test_every_statement_for_this_release_runs(
    framework: InstalledFramework, tmp_path: Path
) -> None:
    """All in one process: nothing here needs a fresh one, and importing a framework takes
    seconds.
    """
    mine = told(statements(), framework)
    assert mine
    ran = run(str(framework.interpreter), "\n".join(each.text for each in mine), tmp_path)
    assert ran.returncode == 0, said(ran)


def test_a_block_below_the_import_of_the_framework_refuses_to_run(
    framework: InstalledFramework, tmp_path: Path
) -> None:
    for each in [each for each in told(blocks(), framework) if each.above_import][:1]:
        refused = run(
            str(framework.interpreter),
            f"import {framework.package}\n{each.text}",
            tmp_path,
            each.required,
        )
        assert refused.returncode != 0, each.origin
        assert f"RuntimeError: {framework.package} is already imported" in refused.stderr, said(
            refused
        )


def test_the_table_of_names_is_right_about_this_release(
    framework: InstalledFramework, tmp_path: Path
) -> None:
    names = [name for name in lifetimes() if package_of(name) in (framework.package, "numpy")]
    looked = run(str(framework.interpreter), LOOK_UP, tmp_path, arguments=[json.dumps(names)])
    assert looked.returncode == 0, said(looked)
    found = json.loads(looked.stdout.splitlines()[-1])
    version = {package: text.split("+")[0] for package, text in found["versions"].items()}
    assert version[framework.package] == framework.release
    expected = {name for name in names if lifetimes()[name].covers(version[package_of(name)])}
    assert set(found["present"]) == expected
