"""A shell completes commands and options."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from process import d9m, environment


def completed(words: str) -> set[str]:
    """What bash is offered for the last word."""
    variables = environment(
        PYTHONPATH=os.environ.get("PYTHONPATH", ""),
        _D9M_COMPLETE="complete_bash",
        COMP_WORDS=words,
        COMP_CWORD=str(len(words.split()) - 1),
    )
    code = "import sys; sys.argv = ['d9m']; from d9m.cli.main import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=variables, check=False
    )
    return set(done.stdout.split())


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        ("d9m adv", {"advise"}),
        ("d9m advise --to", {"--torch"}),
        ("d9m explain --te", {"--tensorflow"}),
        ("d9m kb li", {"lint"}),
        ("d9m advise --torch 2.4", {"2.4.0", "2.4.1"}),
        ("d9m advise --ops mm,cumsum_", {"mm,cumsum_cuda_kernel"}),
        ("d9m advise --fact warn_", {"warn_only=true", "warn_only=false"}),
        ("d9m advise --format dock", {"dockerfile"}),
        ("d9m scan --explain completion", {"completion-order"}),
    ],
)
def test_commands_and_options_are_completed(words: str, offered: set[str]) -> None:
    assert completed(words) == offered


def test_the_overview_says_how_to_install_completion() -> None:
    assert "--install-completion" in d9m("--help").stdout
    assert "--install-completion" not in d9m("advise", "--help").stdout
