"""The questions from public threads have the form that their benchmark needs. How d9m answers them
is not tested.
"""

from __future__ import annotations

import shlex
import sys
from collections import Counter
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent / "benchmarks"))

from golden import records
from questions import HALVES, QUESTIONS, Asking, areas, grade

LEAST = {
    "distributed": 25,
    "hardware": 28,
    "jax": 12,
    "libraries": 47,
    "pytorch": 66,
    "serving": 27,
    "symptoms": 52,
    "tensorflow": 36,
}
"""Questions that each area had when it was complete. More may come, none may go unnoticed."""
FRESH = "fresh"
"""An area that came later: all of it is held out, whatever its repositories."""
COMMANDS = {"advise", "check", "explain", "list", "show"}
AREAS = areas()
ASKINGS = [asking for askings in AREAS.values() for asking in askings]


@pytest.mark.parametrize("area", LEAST)
def test_an_area_keeps_its_questions(area: str) -> None:
    assert len(AREAS[area]) >= LEAST[area]


def test_no_thread_repository_is_in_both_halves() -> None:
    found: dict[str, set[str]] = {}
    for half in HALVES:
        split = {area: each for area, each in areas([half]).items() if area != FRESH}
        found[half] = {_origin(one.url) for one in _all(split)}
    assert not found["tune"] & found["held_out"]
    assert {path.name for path in QUESTIONS.iterdir() if path.is_dir()} == set(HALVES)


def _all(found: dict[str, list[Asking]]) -> list[Asking]:
    return [asking for askings in found.values() for asking in askings]


def _origin(url: str) -> str:
    """The repository of a thread on GitHub, in lower case; elsewhere the thread."""
    parts = url.split("/")
    return "/".join(parts[3:5]).lower() if parts[2] == "github.com" else url


def test_the_records_that_answer_exist() -> None:
    known = {one.id for one in records().loaded} | {one.file[:-5] for one in records().loaded}
    named = {(asking.id, gold) for asking in ASKINGS for gold in asking.gold or ()}
    assert [each for each in sorted(named) if each[1] not in known] == []


@pytest.mark.parametrize(
    "asking", [each for each in ASKINGS if each.again], ids=lambda asking: asking.id
)
def test_a_second_wording_takes_the_place_of_the_first(asking: Asking) -> None:
    first, again = asking.arguments, asking.in_other_words().arguments
    assert [one for one, other in zip(first, again, strict=True) if one != other] == [
        word for word in first if word not in again
    ]
    assert asking.again in again


def test_ids_and_commands_occur_once() -> None:
    ids = Counter(asking.id for asking in ASKINGS)
    commands = Counter(shlex.join(asking.arguments) for asking in ASKINGS)
    assert [repeated for repeated, times in (ids + commands).items() if times > 1] == []


@pytest.mark.parametrize("asking", ASKINGS, ids=lambda asking: asking.id)
def test_a_question_can_be_put_and_judged(asking: Asking) -> None:
    assert asking.url.startswith("https://")
    assert asking.because.startswith("https://")
    assert " " in asking.because, "a link alone says nothing"
    assert asking.asked.strip()
    assert asking.right.strip().endswith(".")
    assert asking.arguments[0] in COMMANDS
    assert all(asking.arguments), "an empty word in the command"
    assert asking.choices
    assert all(choice and all(words.strip() for words in choice) for choice in asking.choices)
    assert all(words.strip() for words in asking.never)
    assert asking.exit
    assert set(asking.exit) <= {0, 1, 2, 3}


def _asking(**changes: object) -> Asking:
    known = {
        "id": "one",
        "url": "https://a",
        "asked": "?",
        "versions": "",
        "command": "advise",
        "right": "Both.",
    }
    judged = {
        "says": ("raises", ("2.6", "upgrade")),
        "never": ("can differ",),
        "exit": (1,),
        "because": "https://a b",
    }
    return Asking(**(known | judged | changes))


@pytest.mark.parametrize(
    ("code", "output", "expected"),
    [
        (1, "cumsum RAISES\n  an error; upgrade", "right"),
        (1, "it raises", "partly"),
        (0, "raises; fix available since 2.6", "partly"),
        (1, "raises, or can\n differ; upgrade", "wrong"),
        (1, "nothing of that", "wrong"),
        (2, "", "not understood"),
    ],
)
def test_grades(code: int, output: str, expected: str) -> None:
    assert grade(_asking(), code, output)[0] == expected


def test_faults_are_named() -> None:
    assert grade(_asking(), 0, "can differ")[1] == [
        "missing: raises",
        "missing: 2.6 | upgrade",
        "must not be there: can differ",
        "exit code 0, not 1",
    ]
