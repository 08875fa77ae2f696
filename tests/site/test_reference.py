"""The references say what the code does: commands, fields, exit codes, and how an answer is
derived.
"""

from __future__ import annotations

import functools
import re
import subprocess
import sys
from typing import Any

import msgspec
import pytest
from site_build import KB, ROOT, generator, real, variables

from d9m.api import advise
from d9m.browse import changes, explain, listing, show
from d9m.cli.application import COMMANDS
from d9m.environment.environment import Setup
from d9m.errors import ExitCode
from d9m.kb.kinds import KINDS
from d9m.model.versions import candidates

GROUP = ("lint", "audit", "collect", "build", "stats", "mutate", "schema")


@functools.cache
def pages() -> dict[str, str]:
    generator()
    from pages import commands, contributing, evaluation, structs

    rooms = (commands, contributing, evaluation, structs)
    return {path.rpartition("/")[2]: text for room in rooms for path, text in room.pages(real())}


def literal(text: str) -> str:
    """Markdown as the text that it shows."""
    plain = text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")
    return re.sub(r"\\(.)", r"\1", re.sub(r"</?code>", "`", plain))


def sections(page: str) -> dict[str, str]:
    """Heading -> what stands under it."""
    parts = re.split(r"^#{2,3} (.*)$", pages()[page], flags=re.MULTILINE)
    return {
        literal(head.partition(" {")[0]): literal(body)
        for head, body in zip(parts[1::2], parts[2::2])
    }


@pytest.mark.parametrize("command", [*COMMANDS, *(f"kb {each}" for each in GROUP)])
def test_a_command_is_told_with_every_option_that_its_help_shows(command: str) -> None:
    asked = [sys.executable, "-m", "d9m", *command.split(), "--help"]
    help_ = subprocess.run(
        asked, env=variables(KB, COLUMNS="300"), capture_output=True, text=True, check=True
    ).stdout
    told = sections("commands.md")[f"d9m {command}"]
    options = set(re.findall(r"^  (?:-\w, )?(--[a-z-]+)", help_, re.MULTILINE)) - {"--help"}
    assert options == set(re.findall(r"^\| `(--[a-z-]+)", told, re.MULTILINE))
    for line in re.findall(
        r"^  (?:-\w, )?--(?!help)[^\n]*?  +(?! )([^\[\n][^\n]*?)(?:  \[.*)?$", help_, re.MULTILINE
    ):
        assert line in told


def test_every_command_of_the_readme_is_an_example() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    blocks = "".join(re.findall(r"^```sh\n(.*?)^```", readme, re.MULTILINE | re.DOTALL))
    lines = [
        line
        for line in blocks.splitlines()
        if re.match(r"(eval \"\$\(|torchrun .*)?d9m [a-z]", line)
    ]
    assert len(lines) > len(COMMANDS)
    for line in lines:
        assert pages()["commands.md"].count(f"\n{line}\n") == 1, line


def test_the_exit_codes_are_those_that_the_program_prints() -> None:
    table = re.findall(r"^\| (\d) \| (.*) \|$", sections("commands.md")["Exit codes"], re.MULTILINE)
    assert {int(code): meaning for code, meaning in table} == {
        int(code): code.meaning for code in ExitCode
    }


def fields(page: str) -> dict[str, dict[str, str]]:
    """Type -> field -> what its row says."""
    found = {
        head: re.findall(r"^\| `(\w+)` \| (.*) \|$", body, re.MULTILINE)
        for head, body in sections(page).items()
    }
    return {head: dict(rows) for head, rows in found.items() if rows}


ANSWERS = {
    "d9m advise": lambda: advise(
        real(), Setup((("torch", "2.4"), ("lightning", "2.4"))), None, calls=["seed_everything"]
    ),
    "d9m advise --diff A..B": lambda: changes.compare(
        real(), Setup((("torch", None),)), None, "2.4..2.6", "run"
    ),
    "d9m explain": lambda: explain.explain(
        real(), "index_add_cuda_ does not have a deterministic implementation"
    ),
    "d9m show": lambda: show.show(real(), ["TDO", "torch.cumsum"]),
    "d9m list KIND": lambda: listing.listing(real(), "sources", None, None),
}


@pytest.mark.parametrize("command", ANSWERS)
def test_the_json_has_the_fields_that_the_reference_tells(command: str) -> None:
    met: set[str] = set()
    _compare(
        msgspec.json.decode(msgspec.json.encode(ANSWERS[command]())),
        command,
        fields("json.md"),
        met,
    )
    assert command in met


def _compare(value: Any, type_: str, known: dict[str, dict[str, str]], met: set[str]) -> None:
    """Fail for an object with other keys than its type; follow the links of its fields."""
    met.add(type_)
    assert value.keys() == known[type_].keys(), type_
    for name, told in known[type_].items():
        inner = re.search(r"\[(\w+)\]\(#", told.partition(" | ")[0])
        values = value[name] if isinstance(value[name], list) else [value[name]]
        values = list(value[name].values()) if "object of [" in told and value[name] else values
        for each in (
            values if inner and "object of object" not in told and "or [" not in told else ()
        ):
            if each is not None:
                _compare(each, inner[1], known, met)


def test_every_field_of_a_report_is_told() -> None:
    from d9m.check.result import Report

    assert list(fields("json.md")["d9m check"]) == [
        each.encode_name for each in msgspec.structs.fields(Report)
    ]


def test_every_field_of_a_comparison_is_told() -> None:
    from d9m.trace.findings import Findings

    assert list(fields("json.md")["d9m diff, d9m hunt"]) == [
        field.encode_name for field in msgspec.structs.fields(Findings)
    ]


def test_every_field_of_every_record_is_told_with_its_docstring() -> None:
    told = fields("records.md")
    for kind in KINDS:
        assert list(told[f"kb/{kind.name}/"]) == [
            each.encode_name for each in msgspec.structs.fields(kind.type)
        ]
    assert "First release that contains it." in told["kb/pull_requests/"]["version"]
    assert "`any_value`" not in told["SettingChange"]
    assert "any fixed value does as well" in told["SettingChange"]["any_value"]


def test_versions_mean_what_the_specification_says() -> None:
    rows = re.findall(
        r"^\| (.*?) \| .* \| ?(.*?) ?\|$", sections("evaluation.md")["Releases"], re.MULTILINE
    )
    released = real().releases("torch")
    checked = [
        (version, how, candidates("torch", version, released).how)
        for written, how in rows
        for version in re.findall(r"`([^`]+)`", written)
    ]
    assert {told.strip("*") or "any" for _version, told, _how in checked} == {
        "any",
        "exact",
        "between",
    }
    for version, told, how in checked:
        assert how.startswith(told.strip("*") or "any"), version


def test_the_specification_orders_outcomes_as_answers_do() -> None:
    text = pages()["evaluation.md"]
    answered = advise(real(), Setup((("torch", "2.4"),)))
    worst = {op.outcome for op in answered.ops}
    listed = text.partition("Outcomes, from best to worst: ")[2].partition(".")[0]
    order = re.findall("`([a-z-]+)`", listed)
    assert worst <= set(order)
    assert answered.outcome == max(worst, key=order.index)


def test_contributing_is_the_file_of_the_repository() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    shown = pages()["contributing.md"].partition("\n# Contributing\n")[2]
    assert [line for line in shown.splitlines() if line] == [
        line.rstrip() for line in text.splitlines()[1:] if line
    ]
    assert not re.search(r"\]\((?!https?:)", text), (
        "a relative link of the repository leads nowhere on the site"
    )
