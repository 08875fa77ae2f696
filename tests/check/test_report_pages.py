"""Reports that were made elsewhere, in each format: what must not get lost on the way."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import msgspec
import pytest
from test_ranks import report

from d9m.check.against import read as read_digests
from d9m.check.judge.observe import ArmResult
from d9m.check.report import junit, markdown
from d9m.check.report import text as check_text
from d9m.check.result import AgainstResult, OddResult, RankDevice, Report, exit_code, summary
from d9m.check.settings import SettingCheck
from d9m.errors import DataError
from d9m.render import as_json
from golden import knowledge_base

KB = knowledge_base()
ODD = OddResult("torch/op-0", "float32", "default", [2], 4)
MISSING = SettingCheck("NAME", "1", None, "missing", "export NAME=1")
MADE = SettingCheck("NAME", "1", "1", "ok", "")
TOO_LATE = SettingCheck("OTHER", "1", "2", "too-late", "restart it with: export OTHER=1")


def made(**changes: Any) -> Report:
    found = report("a")
    return msgspec.structs.replace(found, summary=summary(found.probes), **changes)


def against(
    same: Sequence[str] = (), differing: Sequence[str] = (), missing: Sequence[str] = ()
) -> AgainstResult:
    return AgainstResult("file.json", "GPU", {}, list(same), list(differing), list(missing))


def withheld() -> Report:
    found = made()
    probes = [
        msgspec.structs.replace(each, verdict="inconclusive", reason="why") for each in found.probes
    ]
    return msgspec.structs.replace(found, probes=probes, summary=summary(probes))


def verdict_of(found: Report) -> str:
    """The first paragraph, without its line breaks."""
    text = check_text.render(KB, found).plain()
    return " ".join(text.partition("some GPU")[0].split())


def changed(found: Report, **changes: Any) -> Report:
    """The report, with its one probe changed."""
    probes = [msgspec.structs.replace(found.probes[0], **changes)]
    return msgspec.structs.replace(found, probes=probes, summary=summary(probes))


@pytest.mark.parametrize(
    ("found", "code", "words"),
    [
        (made(), 0, "No nondeterminism seen: no result differed between runs."),
        (
            changed(made(), verdict="fixed-by-advice"),
            0,
            "The one nondeterministic op is deterministic with the advised settings.",
        ),
        (made(settings=[MISSING]), 1, "1 setting is missing."),
        (made(settings=[MISSING, TOO_LATE]), 1, "1 setting is missing. 1 setting came too late."),
        (
            changed(made(), verdict="not-fixed"),
            1,
            "1 op is nondeterministic with the advised settings.",
        ),
        (changed(made(), verdict="value-mismatch"), 1, "1 op gives wrong values."),
        (changed(made(), verdict="raises"), 0, "1 op raises an error with the advised settings."),
        (
            changed(made(), verdict="uninitialised-read"),
            0,
            "1 op reads uninitialised memory.",
        ),
        (changed(made(), kb="contradicts"), 1, "1 result contradicts our records."),
        (made(odd=[ODD]), 1, "1 device differs from devices of its kind."),
        (
            made(settings_only=True, settings=[MADE]),
            0,
            "Every setting that is visible from outside is set; nothing was run.",
        ),
        (made(settings_only=True), 4, "No setting is advised here; nothing was run."),
        (
            made(against=against(same=["a"])),
            0,
            "No nondeterminism seen: no result differed between runs.",
        ),
        (
            made(against=against(same=["a"], missing=["b"])),
            3,
            "1 result of the reference was not compared.",
        ),
        (
            made(against=against(missing=["a", "b"])),
            4,
            "No result could be compared with the reference.",
        ),
        (
            made(newer={"torch": "2.15"}),
            3,
            "No nondeterminism seen: no result differed between runs.",
        ),
        (
            made(interrupted=True),
            3,
            "The check was interrupted; this is what it found until then.",
        ),
        (withheld(), 4, "The probes that ran are not enough for a verdict."),
        (
            msgspec.structs.replace(withheld(), settings=[MISSING]),
            4,
            "1 setting is missing. The probes that ran are not enough for a verdict.",
        ),
        (
            msgspec.structs.replace(made(), probes=[], summary=summary([])),
            4,
            "No probe could run here.",
        ),
    ],
)
def test_the_first_sentences_say_what_the_exit_code_says(
    found: Report, code: int, words: str
) -> None:
    assert exit_code(found) == code
    assert verdict_of(found) == words
    assert f"**{words}**" in markdown.render(KB, found)
    assert words in junit.render(KB, found)


def test_an_unchecked_release_is_named_in_every_format() -> None:
    found = made(newer={"torch": "2.15"})
    found = msgspec.structs.replace(
        found, host=msgspec.structs.replace(found.host, packages={"torch": "99.0"})
    )
    for text in (
        check_text.render(KB, found).plain(),
        markdown.render(KB, found),
        junit.render(KB, found),
    ):
        assert "PyTorch 99.0 is newer than 2.15" in " ".join(text.split())


def test_notes_are_told_in_every_format() -> None:
    found = made(notes=["the CPU was probed instead"], interrupted=True)
    for text in (
        check_text.render(KB, found).plain(),
        markdown.render(KB, found),
        junit.render(KB, found),
    ):
        assert "the CPU was probed instead" in text
        assert "interrupted" in text.lower()


def test_a_device_unlike_its_twins_fails_in_every_format() -> None:
    found = made(odd=[ODD], ranks=[RankDevice(2, "node", 0, "some GPU")])
    for text in (check_text.render(KB, found).plain(), markdown.render(KB, found)):
        assert (
            "rank 2 (some GPU, 0 of node): results differ from 3 devices of its kind in op-0"
            in " ".join(text.split())
        )
    suite = ElementTree.fromstring(junit.render(KB, found))
    assert (suite.get("failures"), suite.get("tests")) == ("1", "2")
    assert [
        case.get("name") for case in suite.iter("testcase") if case.find("failure") is not None
    ] == ["torch/op-0 float32 default"]


def test_what_failed_for_one_reason_is_one_line() -> None:
    probe = withheld().probes[0]
    several = [msgspec.structs.replace(probe, id=f"torch/op-{number}") for number in range(9)]
    lines = check_text.render(KB, msgspec.structs.replace(withheld(), probes=several)).plain()
    assert "  ! 9 ops: why" in lines
    assert lines.count("why") == 1


def test_settings_alone_say_nothing_of_probes() -> None:
    found = made(settings_only=True, settings=[MISSING], probes=[])
    assert "probes" not in check_text.render(KB, found).plain()
    assert "identical" not in markdown.render(KB, found)


def arm(differing: int, **more: Any) -> ArmResult:
    fields = {
        "processes": 3,
        "distinct": differing + 1,
        "changed": 0.0,
        "max_ulp": None,
        "raised": None,
        "seconds": 1.0,
    }
    return ArmResult(repeats=96, differing=differing, **{**fields, **more})


def test_a_row_says_what_differed_and_what_the_record_says() -> None:
    arms = {"default": arm(90), "as-is": arm(31), "advised": arm(30)}
    found = changed(
        made(),
        verdict="not-fixed",
        kb="contradicts",
        expected="raises",
        arms=arms,
        cost=1.4,
        op="torch.histc",
    )
    lines = check_text.render(KB, found).plain().splitlines()
    row = next(at for at, line in enumerate(lines) if line.startswith("  ✗ histc"))
    assert lines[row].split() == ["✗", "histc", "31", "of", "95", "30", "of", "95", "1.4×"]
    assert " ".join(" ".join(lines[row + 1 : row + 3]).split()) == (
        "our record says that it raises an error with the advised settings: please send us this run"
    )
    assert lines[row + 3] == "      → d9m check --ops torch/op-0 --evidence op-0.json"


def test_what_only_many_threads_show_is_said_below_its_row() -> None:
    arms = {"default": arm(95), "as-is": arm(0), "advised": arm(0)}
    text = check_text.render(KB, changed(made(), verdict="fixed-by-advice", arms=arms)).plain()
    assert "✓ op                    0 of 95     0 of 95" in text
    assert "without settings, with more threads than cores: 95 of 95" in text


@pytest.mark.parametrize(
    ("cost", "range_", "said"),
    [
        (1.4, (0.8, 1.3), "1×"),
        (1.4, (1.2, 1.6), "1.4×"),
        (1.4, None, "1.4×"),
        (0.05, (0.01, 0.1), "0.1×"),
        (0.03, (0.01, 0.1), "<0.1×"),
    ],
)
def test_a_cost_within_the_noise_is_none_and_no_call_takes_no_time(
    cost: float, range_: tuple[float, float] | None, said: str
) -> None:
    arms = {"default": arm(95), "as-is": arm(95), "advised": arm(0)}
    found = changed(made(), verdict="fixed-by-advice", arms=arms, cost=cost, cost_range=range_)
    row = next(
        line
        for line in check_text.render(KB, found).plain().splitlines()
        if line.startswith("  ✓ op ")
    )
    assert row.split()[-1] == said


@pytest.mark.parametrize("width", [40, 60, 80, 120, 200])
def test_a_report_keeps_to_the_width_of_the_page(width: int) -> None:
    arms = {"default": arm(90), "as-is": arm(31), "advised": arm(30)}
    found = changed(
        made(settings=[MISSING, TOO_LATE]),
        verdict="not-fixed",
        arms=arms,
        op="torch." + "long_name_" * 4,
    )
    lines = check_text.render(KB, found, width=width).plain().splitlines()
    assert max(map(len, lines)) <= max(60, min(width, 120))


def test_nothing_that_a_terminal_would_obey_is_shown() -> None:
    evil = "\x1b[2J\x1b]0;x\x07\u202e\x9b"
    arms = {"default": arm(0), "as-is": arm(0), "advised": arm(0, raised=evil)}
    found = changed(made(settings=[SettingCheck("NAME", "1", evil, "wrong", "export NAME=1")]),
                    verdict="raises", reason=evil, arms=arms)  # fmt: skip
    for text in (
        check_text.render(KB, found).plain(),
        check_text.render(KB, found, verbose=True).plain(),
        junit.render(KB, found),
        as_json.render(found),
    ):
        assert not set(evil) - set("[2J]0;x") & set(text)
    assert msgspec.json.decode(as_json.render(found), type=Report) == found


def test_an_outcome_that_no_record_has_is_refused() -> None:
    text = as_json.render(changed(made(), expected="solved"))
    assert msgspec.json.decode(text, type=Report).probes[0].expected == "solved"
    with pytest.raises(msgspec.ValidationError):
        msgspec.json.decode(text.replace('"solved"', '"dissolved"'), type=Report)


def test_a_report_without_the_arm_of_no_settings_can_be_read() -> None:
    """Its bounds count, and nothing says how many programs were started."""
    text = check_text.render(KB, changed(made(), arms={})).plain()
    assert "1 op was identical in every repeat." in " ".join(text.split())


@pytest.mark.parametrize("version", [1, 2, 4])
@pytest.mark.parametrize("rest", ["", ', "summary": {}', ', "probes": [{"new": 1}]'])
def test_a_file_of_another_schema_version_is_refused_whatever_it_holds(
    tmp_path: Path, version: int, rest: str
) -> None:
    file = tmp_path / "old.json"
    file.write_text(f'{{"schema_version": {version}{rest}}}')
    with pytest.raises(DataError, match=f"schema_version {version}; this d9m reads 3") as said:
        read_digests(str(file))
    assert "d9m check --" in said.value.tip
