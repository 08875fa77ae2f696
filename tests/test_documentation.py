"""README, CONTRIBUTING and CHANGELOG say what is so: their commands and code run, their example
lints.
"""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from d9m.about import __version__
from d9m.authoring import cases
from d9m.authoring.lint import as_text, lint
from d9m.cli.advise_command import FORMATS
from d9m.errors import ExitCode
from golden import KB, TESTS, knowledge_base, unfounded
from process import d9m

ROOT = TESTS.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
CONTRIBUTING = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
CHANGELOG = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")


def blocks(text: str, language: str) -> list[str]:
    found = re.findall(rf"^( *)```{language}\n(.*?)^ *```", text, re.MULTILINE | re.DOTALL)
    return [textwrap.dedent(block) for _indent, block in found]


def commands(text: str) -> Iterator[list[str]]:
    """The arguments of every `d9m` command that stands on a line of its own."""
    for line in "\n".join(blocks(text, "sh")).splitlines():
        command = line.partition("  #")[0].partition(" <")[0].strip()
        if command.startswith('eval "$('):
            command = command.removeprefix('eval "$(').removesuffix(')"')
        if command.startswith("d9m "):
            yield shlex.split(command)[1:]


def ask(arguments: list[str], folder: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    log = "index_add_cuda_ does not have a deterministic implementation"
    return d9m(*arguments, stdin=log, cwd=folder, PATH="/usr/bin:/bin", **variables)


OF_A_MACHINE = (["advise"], ["check", "--quick"], ["check", "--against", "h200.json"])
"""Commands whose answer depends on what is installed there."""

OF_A_PROGRAM = ("hunt", "run", "lock", "verify", "trace", "diff")
"""Commands that run a program, or read what was recorded of one. tests/trace runs them."""


def needs_a_program(command: list[str]) -> bool:
    return command[0] in OF_A_PROGRAM or "@A" in command


EVERYWHERE_ALIKE = [
    command
    for command in commands(README)
    if command not in OF_A_MACHINE and not needs_a_program(command)
]


@pytest.mark.parametrize("arguments", EVERYWHERE_ALIKE, ids=" ".join)
def test_every_command_of_the_readme_answers(arguments: list[str], tmp_path: Path) -> None:
    (tmp_path / "job.env").write_text("CUBLAS_WORKSPACE_CONFIG=:4096:8\n")
    done = ask(arguments, tmp_path)
    assert done.returncode in (0, 1), done.stderr
    assert done.stderr == ""


def test_the_readme_shows_commands_of_every_kind() -> None:
    kinds = {"advise", "explain", "show", "list", "check", "scan", *OF_A_PROGRAM}
    assert {each[0] for each in commands(README)} == kinds


def test_the_answer_that_the_readme_shows_is_the_answer(tmp_path: Path) -> None:
    (shown,) = blocks(README, "text")
    answer = ask(
        ["advise", "--torch", "2.4", "--ops", "nn.Linear,index_add,cumsum"], tmp_path
    ).stdout
    for part in shown.split("...\n"):
        assert part in answer


@pytest.mark.parametrize("code", blocks(README, "python"))
def test_the_code_of_the_readme_runs(code: str, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, cwd=tmp_path
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_the_readme_has_the_exit_codes_that_the_program_prints() -> None:
    table = re.findall(r"^\| (\d) \| (.*) \|$", README, re.MULTILINE)
    assert table == [(str(int(code)), code.meaning) for code in ExitCode]


def test_the_install_page_names_the_python_and_the_libraries_of_pyproject() -> None:
    told = (ROOT / "site" / "docs" / "install.md").read_text(encoding="utf-8")
    declared = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    needs = re.search(r"^dependencies = \[\n(.*?)^\]", declared, re.MULTILINE | re.DOTALL)
    python = re.search(r'^requires-python = ">=([\d.]+)"', declared, re.MULTILINE)
    assert needs
    assert python
    (libraries,) = re.findall(rf"needs Python {python[1]} or newer; .*?\((.*?)\)", told)
    named = set(re.findall(r"[a-z]+", libraries.lower()))
    assert named - {"and", "on", "python"} == set(
        re.findall(r'^ *"([\w-]+)', needs[1], re.MULTILINE)
    )


def test_the_readme_names_every_format() -> None:
    assert [each for each in FORMATS if each not in re.findall(r"\w+", README)] == []


@pytest.fixture
def with_example(tmp_path: Path) -> Path:
    """The knowledge base, with the example of CONTRIBUTING in its place."""
    op, source = blocks(CONTRIBUTING, "yaml")
    place = re.search(r"^\d\. .* writes `kb/(\S+)`", CONTRIBUTING, re.MULTILINE)
    assert place is not None
    kb = tmp_path / "kb"
    shutil.copytree(KB, kb)
    (kb / place[1]).write_text(source, encoding="utf-8")
    catalogue = (kb / "ops" / "tensorflow.yaml").read_text(encoding="utf-8")
    (kb / "ops" / "tensorflow.yaml").write_text(
        catalogue.replace("\nops:\n", f"\nops:\n  {op}", 1), encoding="utf-8"
    )
    return kb


def test_the_example_of_a_record_has_no_fault(with_example: Path) -> None:
    faults = lint(with_example)
    assert not faults, as_text(faults)


@pytest.mark.parametrize(
    ("release", "verdict"),
    [("2.9", "example (backward) is nondeterministic"), ("2.10", "example is deterministic")],
)
def test_the_example_of_a_record_answers_as_written(
    with_example: Path, tmp_path: Path, release: str, verdict: str
) -> None:
    (name,) = yaml.safe_load(blocks(CONTRIBUTING, "yaml")[0])
    kb = str(with_example)
    answer = ask(["advise", "--tf", release, "--ops", name], tmp_path, D9M_KB=kb).stdout
    assert answer.startswith(verdict)
    assert name in ask(["show", name], tmp_path, D9M_KB=kb).stdout


PLACEHOLDERS = ("CODE", "KIND", "RULE", "example")


@pytest.mark.parametrize("text", [README, CONTRIBUTING], ids=["README", "CONTRIBUTING"])
def test_every_place_that_is_named_exists(text: str) -> None:
    named = re.findall(r"`((?:kb|tests|resolver|site|\.ci)/[\w./-]*)`", text)
    linked = re.findall(r"\]\((?!https?:)([^)#]+)\)", text)
    places = {each for each in (*named, *linked) if not any(word in each for word in PLACEHOLDERS)}
    assert [each for each in places if not (ROOT / each).exists()] == []
    assert places


def test_the_example_of_a_golden_case_is_one(tmp_path: Path) -> None:
    (case,) = blocks((TESTS / "README.md").read_text(encoding="utf-8"), "json")
    file = tmp_path / "example.json"
    file.write_text(case, encoding="utf-8")
    example = cases.read(file)
    assert cases.failures(knowledge_base(), example) == []
    assert [unfounded(row.because) for row in example.expect] == [None]


def test_the_changelog_speaks_of_this_version() -> None:
    assert f"## [{__version__}]" in CHANGELOG
