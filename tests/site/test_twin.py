"""The advisor's scripts answer as the resolver does, in Node: golden cases, random questions,
conflicts.

Python writes the vectors; no browser takes part. `test_advisor.py` looks at the page itself.
"""

from __future__ import annotations

import functools
import json
import re
import shlex
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec
from questions_of_page import LEFT_OUT, compared, expected, questions
from site_build import ROOT, generator, real

from conftest import needs, sample
from d9m.authoring import cases
from d9m.browse import known_texts
from d9m.environment.version_options import VERSION_OPTIONS
from d9m.errors import UsageError
from d9m.model import op_syntax
from d9m.model.advice import Advice
from d9m.render.advice import render, text
from d9m.render.interface import Answer
from d9m.resolve import op_lookup
from golden import CASES

RANDOM = 300
"""Questions beside the golden cases; they cover facts and arguments that no case asks about."""

BLOCKS = ("env", "python", "dockerfile", "slurm", "megatron", "clara")


@functools.cache
def folder() -> dict[tuple[str, str], Any]:
    """What the page offers: name and version of each choice."""
    generator()
    from advisor.environments import choices

    return {
        (choice.name, version): choice for choice in choices(real()) for version in choice.versions
    }


def golden_questions() -> Iterator[tuple[str, dict[str, Any]]]:
    """The golden cases that a page can ask: packages or an image, no calls."""
    for path in sorted(CASES.glob("*.json")):
        asked = cases.read(path).ask
        named = _named(asked)
        offered = named and all(place in folder() for place in named)
        if asked.calls or not offered or _brings_a_package(asked, [name for name, _ in named]):
            continue
        yield (
            path.stem,
            {
                "choice": named[0][0],
                "version": named[0][1],
                "added": named[1:],
                "device": asked.device or "cuda",
                "scope": asked.scope,
                "facts": asked.facts,
                "inference": asked.inference,
                "ops": ", ".join(asked.ops or []),
            },
        )


def _brings_a_package(asked: cases.CaseQuestion, packages: Sequence[str]) -> bool:
    """The page has the packages of its form only; a name such as roi_align asks for another one."""
    try:
        items = [op_syntax.parse(op) for op in asked.ops or []]
    except UsageError:
        return False
    return any(op_lookup.brought_along(real(), item) not in (None, *packages) for item in items)


def _named(asked: cases.CaseQuestion) -> list[tuple[str, str]]:
    """Names and versions of the choices that a case is about; none where no page can ask it."""
    packages = [(name, version or "any") for name, version in asked.with_.items()]
    if asked.container and packages:
        return []
    if asked.container:
        name, _colon, tag = asked.container.rpartition("/")[2].partition(":")
        return [(name, tag)]
    return sorted(packages, key=lambda named: named[0] not in VERSION_OPTIONS)


def vector(name: str, question: dict[str, Any]) -> dict[str, Any]:
    """A question and what the resolver and the renderers say to it."""
    answer = expected(real(), question)
    if "mistake" in answer:
        return {"name": name, "question": question, "answer": {"mistake": True}}
    advice = msgspec.convert(answer, Advice)
    packages = advice.environment.packages
    imports = [word for package in packages for word in real().packages[package].imports]
    command = shlex.join(_command(question))
    shown = Answer(advice, real(), command, tuple(imports), named_ops=bool(question["ops"]))
    kinds = {step.kind for step in advice.steps}
    left_out = {"megatron": "flags" not in kinds, "clara": "config" not in kinds}
    blocks = {
        format_: render(format_, shown).body for format_ in BLOCKS if not left_out.get(format_)
    }
    return {
        "name": name,
        "question": question,
        "answer": compared(answer),
        "command": command,
        "imports": imports,
        "blocks": blocks,
        "says": text.environment(shown),
    }


def _command(question: dict[str, Any]) -> list[str]:
    words = ["d9m", "advise"]
    for name, version in [(question["choice"], question["version"]), *question["added"]]:
        option = folder()[name, version].option
        place = f"{name}:" if option == "--container" else f"{name}="
        named = "" if option not in ("--container", "--with") else place
        words += [option, f"{named}{version}"]
    ops = list(dict.fromkeys(op_syntax.split(question["ops"])))
    words += ["--ops", ",".join(ops)] if ops else []
    gpu = question.get("gpu")
    words += ["--gpu", gpu] if gpu else []
    named = [question["choice"], *(name for name, _version in question["added"])]
    packages = real().packages
    meant = {packages[name].device if name in packages else None for name in named}
    usual = "rocm" if "rocm" in meant else "cpu" if meant == {"cpu"} else "cuda"
    usual = real().gpus[""].gpus[gpu].device if gpu else usual
    words += ["--device", question["device"]] if question["device"] != usual else []
    words += ["--scope", question["scope"]] if question["scope"] != "run" else []
    for name, value in question["facts"].items():
        words += ["--fact", f"{name}={value}"]
    return [*words, "--inference"] if question["inference"] else words


def beginnings() -> Iterator[tuple[str, list[str]]]:
    """What people paste of every message, cut off after so many words, and the records that it is
    of. Many messages begin alike.
    """
    pasted: dict[str, None] = {}
    for wording in known_texts.wordings(real()):
        words = re.sub(r"\{[^{}]*\}", "Thing7", wording.text.text).replace("…", "and so on").split()
        for length in range(1, len(words) + 1):
            pasted[" ".join(words[:length])] = None
    for beginning in sample([*pasted], 5):
        yield beginning, [match.id for match in known_texts.search(real(), [beginning])]


def test_the_scripts_answer_as_the_resolver_does(tmp_path: Path) -> None:
    needs(shutil.which("node"), "Node.js", "apt-get install nodejs (18 or newer)")
    asked = [*golden_questions()]
    assert len(asked) > 1100
    assert sum(len(question["added"]) > 0 for _name, question in asked) > 200
    asked += [(f"random {at}", each) for at, each in enumerate(questions(real(), RANDOM))]
    conflicting = next(each for each in asked if "beside-megatron" in each[0])
    asked = [conflicting, *sample(asked, 10)]
    vectors = [vector(name, question) for name, question in asked]
    assert any(each["answer"].get("conflicts") for each in vectors)
    errors = [*beginnings()]
    assert len(errors) > 500
    assert any(ids for _text, ids in errors)
    for script in (ROOT / "site" / "assets" / "advisor").glob("*.js"):
        shutil.copy(script, tmp_path)
    shutil.copy(ROOT / "tests" / "vectors" / "advisor.test.js", tmp_path)
    from advisor import tables

    (tmp_path / "package.json").write_text('{"type": "module"}', "utf-8")
    (tmp_path / "tables.json").write_bytes(tables(real()))
    (tmp_path / "vectors.json").write_text(
        json.dumps({"left_out": sorted(LEFT_OUT), "questions": vectors, "errors": errors}), "utf-8"
    )
    done = subprocess.run(
        ["node", "--test", "--test-reporter=dot", "advisor.test.js"],
        capture_output=True, text=True, check=False, cwd=tmp_path,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-6000:]
