"""Reports that were made elsewhere, in each format: what must not get lost on the way."""

from __future__ import annotations

from typing import Any
from xml.etree import ElementTree

import msgspec
import pytest
from test_ranks import report

from d9m.check.report import OddResult, Report, exit_code, summary
from d9m.check.settings import SettingCheck
from d9m.render.check import junit, markdown
from d9m.render.check import text as check_text

ODD = OddResult("torch/op-0", "float32", "default", [2], 4)
MISSING = SettingCheck("NAME", "1", None, "missing", "export NAME=1")


def made(**changes: Any) -> Report:
    found = report("a")
    return msgspec.structs.replace(found, summary=summary(found.probes), **changes)


def withheld() -> Report:
    found = made()
    probes = [
        msgspec.structs.replace(each, verdict="inconclusive", reason="why") for each in found.probes
    ]
    return msgspec.structs.replace(found, probes=probes, summary=summary(probes))


@pytest.mark.parametrize(
    ("found", "code", "words"),
    [
        (made(), 0, "SETTINGS HOLD  nothing varied"),
        (made(settings=[MISSING]), 1, "FINDINGS  1 setting to change"),
        (made(odd=[ODD]), 1, "FINDINGS  1 device unlike its twins"),
        (made(settings_only=True), 0, "SETTINGS HOLD  nothing was run"),
        (made(interrupted=True), 3, "MOSTLY  nothing varied"),
        (withheld(), 4, "NO VERDICT  what ran does not say enough"),
        (
            msgspec.structs.replace(made(), probes=[], summary=summary([])),
            4,
            "NOTHING RUN  no probe could run here",
        ),
    ],
)
def test_the_first_line_says_what_the_exit_code_says(found: Report, code: int, words: str) -> None:
    assert exit_code(found) == code
    assert check_text.render(found).plain().splitlines()[0] == words
    word, _gap, rest = words.partition("  ")
    assert f"**{word}** {rest}" in markdown.render(found)


def test_notes_are_told_in_every_format() -> None:
    found = made(notes=["the CPU was probed instead"], interrupted=True)
    for text in (check_text.render(found).plain(), markdown.render(found), junit.render(found)):
        assert "the CPU was probed instead" in text
        assert "interrupted" in text.lower()


def test_a_device_unlike_its_twins_fails_in_every_format() -> None:
    found = made(odd=[ODD], ranks=[])
    assert "rank 2 of 4 like devices" in markdown.render(found)
    suite = ElementTree.fromstring(junit.render(found))
    assert (suite.get("failures"), suite.get("tests")) == ("1", "2")
    assert [
        case.get("name") for case in suite.iter("testcase") if case.find("failure") is not None
    ] == ["torch/op-0 float32 default"]


def test_what_failed_for_one_reason_is_one_line() -> None:
    probe = withheld().probes[0]
    several = [msgspec.structs.replace(probe, id=f"torch/op-{number}") for number in range(9)]
    lines = check_text.render(msgspec.structs.replace(withheld(), probes=several)).plain()
    assert "[failed]    9 probes  why" in lines
    assert lines.count("why") == 1


def test_settings_alone_say_nothing_of_probes() -> None:
    assert "probes" not in markdown.render(made(settings_only=True, settings=[MISSING]))
