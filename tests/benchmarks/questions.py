"""How many real questions d9m answers: `python tests/benchmarks/questions.py [--half NAME]
[--area NAME] [--again] [--list] [--show ID]`.

tests/questions/ holds what people asked in public threads, in our words and split by the thread's
repository: `tune` for those who write the code that answers, `held_out` for figures alone. Each has
the command that the person would type, and what a right answer must say. Right: everything that
must be there is, nothing that must not, and the exit code fits. Wrong: a false statement, or
nothing of what must be there. Not understood: exit code 2. The rest is partly right. Strings prove
little: read what --show prints before you believe a figure.

A second table counts, of the free texts with `gold`, where the first record that answers stands in
the JSON of the answer, and how often another one is written out as the sure answer."""

from __future__ import annotations

import argparse
import json
import os
import shlex
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import msgspec

from d9m.kb import compiled
from d9m.kb.locate import VARIABLE, open_knowledge_base

TESTS = Path(__file__).parents[1]
QUESTIONS = TESTS / "questions"
RESOLVER = TESTS.parent / "resolver"

HALVES = ("tune", "held_out")
GRADES = ("right", "partly", "wrong", "not understood")
USAGE = 2
"""d9m's exit code for what it does not understand."""
SECONDS = 120
"""Longer than any answer takes, also on a busy machine."""


class Asking(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One question of one person."""

    id: str
    url: str
    asked: str
    """What the person wants to know, in our words."""
    versions: str
    """As given in the thread; empty if not."""
    command: tuple[str, ...] | str
    """The arguments of `d9m`; file names are relative to tests/questions."""
    again: str | None = None
    """The text of `d9m explain` in other words, for `--again`."""
    gold: tuple[str, ...] | None = None
    """Of a free text: the records that answer it, the best first, chosen by their titles."""
    right: str
    """What a right answer says, for a human judge."""
    says: tuple[str | tuple[str, ...], ...]
    """What the answer must contain; a list is a choice."""
    never: tuple[str, ...]
    exit: tuple[int, ...]
    because: str
    """A link to where the truth comes from, and a line on it."""

    @property
    def arguments(self) -> list[str]:
        return shlex.split(self.command) if isinstance(self.command, str) else list(self.command)

    def in_other_words(self) -> Asking:
        """Return the question with its second wording; without one, as it is."""
        if self.again is None:
            return self
        words = self.arguments
        options = {at + 1 for at, word in enumerate(words) if word.startswith("--")}
        text = next(at for at, word in enumerate(words) if at and at not in options)
        return msgspec.structs.replace(
            self, command=(*words[:text], self.again, *words[text + 1 :])
        )

    @property
    def choices(self) -> list[tuple[str, ...]]:
        return [(check,) if isinstance(check, str) else check for check in self.says]


class RecordPlace(msgspec.Struct, frozen=True):
    """Where the records that answer a free text stand in d9m's answer."""

    rank: int | None
    """Of the first that is there, from 1; a record of an op or package that is named is first."""
    is_sure: bool
    """Whether a symptom is written out as the answer."""
    is_message: bool
    """Whether the answer is a message on record."""

    @property
    def is_confidently_wrong(self) -> bool:
        return self.is_sure and self.rank != 1


class Graded(msgspec.Struct, frozen=True, kw_only=True):
    """An answer, and what it is worth."""

    asking: Asking
    place: RecordPlace | None
    grade: str
    faults: list[str]
    exit: int
    output: str
    error: str


def areas(halves: Sequence[str] = HALVES) -> dict[str, list[Asking]]:
    """Return the questions of each area, in the files' order."""
    found: dict[str, list[Asking]] = {}
    for half in halves:
        for path in sorted((QUESTIONS / half).glob("*.yaml")):
            askings = msgspec.yaml.decode(path.read_bytes(), type=list[Asking])
            found.setdefault(path.stem, []).extend(askings)
    return found


def grade(asking: Asking, code: int, output: str) -> tuple[str, list[str]]:
    """The grade of what d9m printed, and why it is no better."""
    text = _flat(output)
    missing = [choice for choice in asking.choices if not any(_flat(one) in text for one in choice)]
    false = [words for words in asking.never if _flat(words) in text]
    faults = [f"missing: {' | '.join(choice)}" for choice in missing]
    faults += [f"must not be there: {words}" for words in false]
    if code not in asking.exit:
        faults.append(f"exit code {code}, not {' or '.join(map(str, asking.exit))}")
    if code == USAGE and USAGE not in asking.exit:
        return "not understood", faults
    if false or len(missing) == len(asking.says):
        return "wrong", faults
    return ("partly" if faults else "right"), faults


def answer(asking: Asking, python: str, kb: str) -> Graded:
    """Put the question to d9m, as somebody at a terminal of 80 columns would; `kb` is compiled."""
    environment = os.environ | {
        VARIABLE: kb,
        "COLUMNS": "80",
        "PYTHONPATH": str(RESOLVER),
        "PYTHONIOENCODING": "utf-8",
    }
    done = subprocess.run(
        [python, "-m", "d9m", *asking.arguments],
        cwd=QUESTIONS,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=SECONDS,
    )
    result, faults = grade(asking, done.returncode, done.stdout)
    return Graded(
        asking=asking,
        place=_place(asking, python, environment) if asking.gold else None,
        grade=result,
        faults=faults,
        exit=done.returncode,
        output=done.stdout,
        error=done.stderr,
    )


def _place(asking: Asking, python: str, environment: dict[str, str]) -> RecordPlace:
    """Ask the same question for JSON and look up the records that answer it."""
    done = subprocess.run(
        [python, "-m", "d9m", *asking.arguments, "--format", "json"],
        cwd=QUESTIONS,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=SECONDS,
    )
    return place(asking.gold or (), json.loads(done.stdout or b"{}"))


def place(gold: Sequence[str], answered: dict[str, Any]) -> RecordPlace:
    """Return where one of some records stands in the JSON of an answer."""
    found: list[Any] = answered.get("found", [])
    subject: dict[str, Any] = answered.get("subject") or {}
    advice: dict[str, Any] = subject.get("advice") or {}
    named: set[str] = {source["id"] for op in advice.get("ops", ()) for source in op["sources"]}
    for kind in ("solutions", "ingredients"):
        named.update(each["id"] for each in advice.get(kind, ()))
    shown: list[str] = [each["id"] for each in (*found, *answered.get("candidates", []))]
    ids = {id_ if id_.startswith("symptoms/") else id_.partition("/")[2] for id_ in gold}
    ranks = [1] if ids & named else []
    ranks += [at for at, id_ in enumerate(shown, 1) if id_ in ids]
    is_sure, is_message = answered.get("is_sure", False), bool(found)
    return RecordPlace(min(ranks, default=None), is_sure, is_message)


def _flat(text: str) -> str:
    """Without the line breaks of the layout, and without case."""
    return " ".join(text.casefold().split())


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Put real questions to d9m and grade its answers.")
    parser.add_argument(
        "--area", action="append", metavar="NAME", help="only this file of tests/questions"
    )
    parser.add_argument("--half", choices=HALVES, help="only these questions")
    parser.add_argument("--again", action="store_true", help="ask in the second wording")
    parser.add_argument(
        "--list", action="store_true", help="say what each answer that is not right lacks"
    )
    parser.add_argument(
        "--show", metavar="ID", help="one question with its answer, for a human judge"
    )
    parser.add_argument("--python", default=sys.executable, help="the interpreter that runs d9m")
    parser.add_argument("--jobs", type=int, default=2, metavar="N", help="answers at a time (2)")
    chosen = parser.parse_args(arguments)

    everything = areas([chosen.half] if chosen.half else HALVES)
    if chosen.again:
        everything = {area: [each.in_other_words() for each in askings]
                      for area, askings in everything.items()}  # fmt: skip
    unknown = set(chosen.area or ()) - everything.keys()
    if unknown:
        parser.error(
            f"no such area: {', '.join(sorted(unknown))}; there are {', '.join(everything)}"
        )
    with tempfile.TemporaryDirectory() as folder:
        kb = Path(folder, compiled.FILE)
        compiled.write(open_knowledge_base(), kb)  # reading YAML takes most of a process's time
        put = partial(answer, python=chosen.python, kb=str(kb))
        if chosen.show:
            return _show(everything, chosen.show, put)
        graded: dict[str, list[Graded]] = {}
        with ThreadPoolExecutor(chosen.jobs) as pool:
            for area, askings in everything.items():
                if not chosen.area or area in chosen.area:
                    graded[area] = list(pool.map(put, askings))
    _table(graded)
    _places(graded)
    if chosen.list:
        _faults(graded)
    return 0


def _show(everything: dict[str, list[Asking]], name: str, put: Callable[[Asking], Graded]) -> int:
    for askings in everything.values():
        for asking in askings:
            if asking.id == name:
                _judge(put(asking))
                return 0
    print(f"no question has the id {name}", file=sys.stderr)
    return USAGE


def _judge(result: Graded) -> None:
    asking = result.asking
    print(f"{asking.url}\n\n  “{asking.asked}”\n")
    print(f"Versions: {asking.versions or 'not given'}")
    print(f"Right:    {asking.right}")
    print(f"Because:  {asking.because}\n")
    print(f"$ d9m {shlex.join(asking.arguments)}")
    print(result.output + result.error)
    print(f"Exit code {result.exit}: {result.grade}")
    for fault in result.faults:
        print(f"  {fault}")


def _table(graded: dict[str, list[Graded]]) -> None:
    print(f"{'area':<14}" + "".join(f"{name:>16}" for name in (*GRADES, "questions")))
    total: Counter[str] = Counter()
    for area, results in graded.items():
        counted = Counter(result.grade for result in results)
        total += counted
        print(_row(area, counted))
    print(_row("all", total))


def _places(graded: dict[str, list[Graded]]) -> None:
    """Count where the records that answer stand."""
    places = [one.place for results in graded.values() for one in results if one.place]
    messages = [one for one in places if one.is_message]
    texts = [one for one in places if not one.is_message]
    print(f"\nfree texts with gold: {len(texts)}")
    for words, most in (("first", 1), ("in three", 3), ("in five", 5)):
        print(f"  right record {words}: {sum(1 for one in texts if (one.rank or 99) <= most)}")
    print(f"  confidently wrong: {sum(one.is_confidently_wrong for one in texts)}")
    right = sum(one.rank == 1 for one in messages)
    print(f"answered as messages: {len(messages)}, right: {right}")


def _row(name: str, counted: Counter[str]) -> str:
    return (
        f"{name:<14}"
        + "".join(f"{counted[grade]:>16}" for grade in GRADES)
        + f"{counted.total():>16}"
    )


def _faults(graded: dict[str, list[Graded]]) -> None:
    for area, results in graded.items():
        for result in results:
            if result.grade != "right":
                print(f"\n{area} · {result.asking.id}: {result.grade}")
                for fault in result.faults:
                    print(f"  {fault}")


if __name__ == "__main__":
    sys.exit(main())
