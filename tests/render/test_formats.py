"""Every format, on a small knowledge base of an invented framework: the whole text is the
promise.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
from pathlib import Path

import pytest

from process import d9m

HERE = Path(__file__).parent
STACK_KB = HERE.parent / "resolve" / "layers"

QUESTIONS = {
    "solved": ["advise", "--with", "frame=1.1", "--ops", "add,fold,sort"],
    "raises": ["advise", "--with", "frame=2.0", "--ops", "sums,scan", "--fact", "xla=true"],
    "unknown": ["advise", "--with", "frame=3.0", "--ops", "add", "--allow-unknown"],
    "open": ["advise", "--with", "frame=2.0", "--ops", "copy"],
    "launch": ["advise", "--with", "launch", "--with", "frame=2.1", "--ops", "add"],
    "any": ["advise", "--with", "frame", "--ops", "add"],
    "everything": ["advise", "--with", "frame=2.1"],
    "diff": ["advise", "--with", "frame=2.0", "--diff", "1.1..2.1"],
    "env-file": ["advise", "--with", "frame=2.1", "--ops", "add", "--env-file", "settings.env"],
    "show-op": ["show", "add"],
    "show-label": ["show", "ENV"],
    "show-package": ["show", "frame"],
    "list": ["list"],
    "list-sources": ["list", "sources"],
    "explain": [
        "explain",
        "RuntimeError: frame.scan has no ordered kernel, but FRAME_ORDERED is on.",
    ],
    "env": [
        "advise",
        "--with",
        "launch",
        "--with",
        "frame=1.1",
        "--ops",
        "add,copy",
        "--format",
        "env",
    ],
    "env-any": ["advise", "--with", "frame", "--ops", "add", "--format", "env"],
    "python": ["advise", "--with", "frame=2.0", "--ops", "add,copy", "--format", "python"],
    "dockerfile": [
        "advise",
        "--with",
        "frame=1.1",
        "--ops",
        "add,fold,copy",
        "--format",
        "dockerfile",
    ],
    "slurm": [
        "advise",
        "--with",
        "launch",
        "--with",
        "frame=2.1",
        "--ops",
        "add",
        "--format",
        "slurm",
    ],
    "markdown": ["advise", "--with", "frame=2.0", "--ops", "add", "--format", "markdown"],
    "clara": ["advise", "--with", "launch", "--format", "clara"],
    "megatron": ["advise", "--with", "launch", "--format", "megatron"],
}

STACK = [
    "advise",
    "--with",
    "frame=1.1",
    "--with",
    "train=2.0",
    "--with",
    "driver=4",
    "--ops",
    "add",
]
CALLS = ["--calls", "seed_all(3)", "--calls", "Runner(ordered=True)"]
LAYERS = {
    "layers-suggested": STACK,
    "layers-calls": [*STACK, *CALLS],
    "layers-spoiled": [*STACK, "--calls", "Runner(ordered=False)"],
    "layers-conflict": ["advise", "--with", "train=2.0", "--with", "serve=1.0"],
    "layers-scope-conflict": ["advise", "--with", "train=2.0", "--with", "serve=2.0", "--all"],
    "layers-batch": ["advise", "--with", "serve=2.0", "--scope", "batch"],
    "layers-hardware": [
        "advise",
        "--with",
        "frame=1.1",
        "--ops",
        "add,conv",
        "--scope",
        "hardware",
    ],
    "layers-env-file": [*STACK, "--env-file", "layers.env"],
    "layers-json-file": ["advise", "--with", "train=2.0", "--env-file", "layers.json"],
    "layers-env": [*STACK, *CALLS, "--format", "env"],
    "layers-python": [*STACK, *CALLS, "--format", "python"],
    "layers-dockerfile": [*STACK, *CALLS, "--format", "dockerfile"],
    "layers-slurm": [*STACK, *CALLS, "--format", "slurm"],
    "layers-markdown": [*STACK, *CALLS, "--format", "markdown"],
    "layers-megatron": [*STACK, *CALLS, "--format", "megatron"],
}
"""Questions about the invented stack of `tests/resolve/layers`."""

QUESTIONS |= LAYERS


def ask(arguments: list[str], **variables: str) -> subprocess.CompletedProcess[str]:
    return d9m(*arguments, cwd=HERE, **{"D9M_KB": str(HERE / "kb"), "NO_COLOR": "1", **variables})


@pytest.mark.parametrize("name", QUESTIONS)
def test_the_whole_output_is_as_reviewed(name: str) -> None:
    """Set D9M_REVIEW=1 to write the files anew, then read every word of the difference."""
    answer = ask(QUESTIONS[name], **({"D9M_KB": str(STACK_KB)} if name in LAYERS else {}))
    found = f"exit {answer.returncode}\n{answer.stdout}{answer.stderr}"
    found = re.sub(r"^(rules +)\d+ +", r"\1many  ", found, flags=re.MULTILINE)  # not records
    expected = HERE / "expected" / f"{name}.txt"
    if os.environ.get("D9M_REVIEW"):
        expected.write_text(found, encoding="utf-8")
    assert found == expected.read_text(encoding="utf-8")


BLOCKS = tuple(name for name, question in QUESTIONS.items() if "--format" in question)
"""Questions whose answers are to paste: they are as wide as their settings."""


@pytest.mark.parametrize("name", [name for name in QUESTIONS if name not in BLOCKS])
def test_text_fits_eighty_columns(name: str) -> None:
    lines = (HERE / "expected" / f"{name}.txt").read_text(encoding="utf-8").splitlines()
    assert [line for line in lines if len(line) > 80] == []


def test_the_shell_block_can_be_evaluated_and_appends_to_list_variables() -> None:
    block = ask(["advise", "--with", "frame=2.0", "--ops", "add,copy", "--format", "env"]).stdout
    shown = subprocess.run(
        [
            "sh",
            "-c",
            (
                f"FRAME_FLAGS=--mine; FRAME_TUNE=1; {block}\nenv | grep FRAME | sort; echo "
                '"tune=$FRAME_TUNE"'
            ),
        ],
        capture_output=True,
        text=True,
        check=True,
        env={"PATH": os.environ["PATH"]},
    ).stdout.splitlines()
    assert "FRAME_ORDERED=1" in shown
    assert "tune=" in shown
    exported = f"export FRAME_FLAGS=--mine\n{block}\nenv"
    appended = subprocess.run(
        ["sh", "-c", exported], capture_output=True, text=True, check=True
    ).stdout
    assert "FRAME_FLAGS=--mine --clear --order" in appended.splitlines()


def test_the_python_block_is_python_of_the_time() -> None:
    import ast

    block = ask(["advise", "--with", "frame=2.0", "--ops", "add,copy", "--format", "python"]).stdout
    ast.parse(block, feature_version=(3, 6))


def test_colour_is_only_for_terminals_or_on_request(tmp_path: Path) -> None:
    question = QUESTIONS["solved"]
    plain = ask(question).stdout
    assert "\x1b" not in plain
    coloured = ask([*question, "--color", "always"]).stdout
    assert "\x1b[" in coloured
    import re

    assert re.sub(r"\x1b\[[0-9;]*m", "", coloured) == plain
    ask([*question, "--color", "always", "-o", str(tmp_path / "answer.txt")])
    assert (tmp_path / "answer.txt").read_text(encoding="utf-8") == plain


def test_json_keeps_the_keys_of_the_contract() -> None:
    answer = json.loads(ask([*QUESTIONS["launch"], "--format", "json"]).stdout)
    assert set(answer) >= {
        "schema_version",
        "d9m",
        "environment",
        "outcome",
        "settings",
        "steps",
        "conflicts",
        "solutions",
        "ops",
        "ingredients",
        "cautions",
        "unknowns",
    }
    assert answer["settings"]["config"] == {"order.seed": 7, "order.name": "007"}
    assert answer["settings"]["flags"] == ["--ordered"]
    assert answer["settings"]["avoid"] == [
        {"kind": "flag", "name": "--fast", "why": "starts workers in any order"}
    ]
    assert answer["settings"]["code"] == [{"where": "launch()", "change": "ordered=True"}]
    assert set(answer["ops"][0]["sources"][0]) >= {
        "id",
        "title",
        "outcome",
        "default",
        "direction",
        "device",
        "when",
        "possible",
        "solutions",
        "alternatives",
        "raised_by",
        "error",
        "fixed_in",
        "workarounds",
        "costs",
        "evidence",
        "references",
    }


@pytest.mark.parametrize("kind", ["env", "dockerfile", "slurm"])
def test_a_statement_for_the_program_comes_with_the_import_of_its_name(kind: str) -> None:
    done = d9m("advise", "--tf", "2.0", "--ops", "bias_add", "--format", kind)
    place = "# also, in the program: "
    assert f"{place}from tfdeterminism import patch\n{place}patch()\n" in done.stdout
