"""Three whole jobs, each with one answer, reviewed line by line.

A job is a command (`jobs/NAME.json`, with the settings that its answer holds) and
what the terminal shows (`jobs/NAME.txt`). `jobs/reasons.json` takes the text apart:
each statement stands with the documents that say so, or with why it needs none.
`D9M_REVIEW=1` writes the answers anew; then read every word of the difference.
"""

from __future__ import annotations

import json
import os
import re
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from golden import flat, unfounded
from process import d9m

HERE = Path(__file__).parent
JOBS = sorted(path.stem for path in (HERE / "jobs").glob("*.txt"))
SHOWN = ("outcome", "settings", "conflicts", "scope_conflicts")


@cache
def reasons() -> list[dict[str, Any]]:
    return json.loads((HERE / "jobs/reasons.json").read_text(encoding="utf-8"))


def job(name: str) -> dict[str, Any]:
    return json.loads((HERE / f"jobs/{name}.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", JOBS)
def test_a_job_gets_the_reviewed_answer(name: str) -> None:
    expected = job(name)
    text = d9m(*expected["command"])
    found = json.loads(d9m(*expected["command"], "--format", "json").stdout)
    answer = {**expected, "exit": text.returncode, **{key: found[key] for key in SHOWN}}
    if os.environ.get("D9M_REVIEW"):
        (HERE / f"jobs/{name}.txt").write_text(text.stdout, encoding="utf-8")
        (HERE / f"jobs/{name}.json").write_text(
            json.dumps(answer, indent=2) + "\n", encoding="utf-8"
        )
    assert text.stderr == ""
    assert text.stdout == (HERE / f"jobs/{name}.txt").read_text(encoding="utf-8")
    assert answer == job(name)


def explained(text: str) -> tuple[list[int], list[str]]:
    """The reasons that a text needs, by number, and the words that none of them covers."""
    # prices are strung together by semicolons
    patterns = [
        re.compile(each.get("pattern") or re.escape(each["says"]) + ";?") for each in reasons()
    ]
    used: list[int] = []
    bare: list[str] = []
    place = 0
    while place < len(text):
        ends = [
            (match.end(), number)
            for number, each in enumerate(patterns)
            if (match := each.match(text, place))
        ]
        end, number = max(
            (each for each in ends if text[each[0] : each[0] + 1] in ("", " ")), default=(0, -1)
        )
        if end > place:
            used.append(number)
        else:
            end = text.find(" ", place) if " " in text[place:] else len(text)
            bare.append(text[place:end])
        place = end + 1
    return used, bare


@pytest.mark.parametrize("name", JOBS)
def test_every_statement_of_a_job_has_its_reason(name: str) -> None:
    _used, bare = explained(flat((HERE / f"jobs/{name}.txt").read_text(encoding="utf-8")))
    assert " ".join(bare) == ""


def test_every_reason_is_needed() -> None:
    texts = [flat((HERE / f"jobs/{name}.txt").read_text(encoding="utf-8")) for name in JOBS]
    needed = {number for text in texts for number in explained(text)[0]}
    assert [each for number, each in enumerate(reasons()) if number not in needed] == []


def test_every_reason_is_in_a_document_or_says_why_it_needs_none() -> None:
    wrong = [
        fault
        for each in reasons()
        for because in each.get("because", [])
        if (fault := unfounded(because))
    ]
    assert wrong == []
    assert [each for each in reasons() if not (each.get("because") or each.get("needs none"))] == []


def test_the_three_jobs_are_there() -> None:
    assert {
        "megatron-0.8",
        "megatron-0.15",
        "megatron-0.19",
        "clara-horovod",
        "vllm-beside-megatron",
    } <= set(JOBS)
