"""Help names every option of the contract, and fits a terminal of eighty columns."""

from __future__ import annotations

import os
import re
import subprocess
import sys

import pytest

from d9m.cli.application import COMMANDS
from process import d9m

OPTIONS = {
    "advise": (
        "--tf --tensorflow --torch --pytorch --jax --with --container --from --gpu --ops "
        "--op --device --quiet --inference --fact --scope --env-file --from-env --diff "
        "--format --output --all --allow-unknown --exit-zero --color --help"
    ),
    "check": "--ops --device --format --output --color --help",
    "diff": "--rank --process --align --all --verbose --format --output --color --help",
    "hunt": (
        "--steps --runs --compare --time --until-found --set --before --keep --replay "
        "--step-by --compiled --max-size --all --verbose --format --output --color --help"
    ),
    "explain": "--tf --torch --with --from --gpu --format --output --color --help",
    "show": "--format --output --color --help",
    "list": "--package --grep --evidence --format --output --color --help",
    "kb new": "--help",
    "kb lint": "--explain --format --output --help",
    "kb audit": "--format --help",
    "kb build": "--output --help",
    "kb collect": "--platform --catalogue --compiled --kernels --output --help",
    "kb fresh": "--format --output --help",
    "kb stats": "--format --help",
    "kb mutate": "--cases --sample --seed --format --help",
    "kb schema": "--output --help",
}

PAGES = ["--help", "--explain-exit", "kb --help", *(f"{command} --help" for command in OPTIONS)]


@pytest.mark.parametrize("page", PAGES)
@pytest.mark.parametrize("columns", ["80", "300"])
def test_help_fits_eighty_columns_on_any_terminal(page: str, columns: str) -> None:
    done = d9m(*page.split(), COLUMNS=columns)
    assert (done.returncode, done.stderr) == (0, "")
    assert [line for line in done.stdout.splitlines() if len(line) > 80] == []


@pytest.mark.parametrize("command", OPTIONS)
def test_help_names_every_option_of_the_contract(command: str) -> None:
    shown = set(re.findall(r"--[a-z-]+", d9m(*command.split(), "--help").stdout))
    assert set(OPTIONS[command].split()) <= shown


def test_the_overview_has_a_whole_sentence_for_every_command() -> None:
    shown = " ".join(d9m("--help").stdout.split())
    assert [
        name for name, (_module, does) in COMMANDS.items() if f"{name} {does}" not in shown
    ] == []


def test_without_arguments_the_overview_is_shown_as_an_error() -> None:
    done = d9m()
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == d9m("--help").stdout


@pytest.mark.parametrize("short", ["-h"])
def test_short_options_work(short: str) -> None:
    assert d9m(short).stdout == d9m("--help").stdout
    assert d9m("advise", short).stdout == d9m("advise", "--help").stdout


@pytest.mark.parametrize("page", ["--help", *(f"{command} --help" for command in OPTIONS)])
def test_a_python_that_drops_docstrings_shows_what_each_command_does(page: str) -> None:
    program = "import sys; sys.argv[0] = 'd9m'; from d9m.cli.main import main; main()"
    done = subprocess.run(
        [sys.executable, "-OO", "-c", program, *page.split()],
        capture_output=True, text=True, check=False, env={**os.environ, "COLUMNS": "80"},
    )  # fmt: skip
    assert done.returncode == 0
    usage, does, *_rest = re.split(r"\n\s*\n", done.stdout)
    assert usage.startswith("Usage: ")
    assert does.startswith("  ")
    assert not does.lstrip().startswith("-")
