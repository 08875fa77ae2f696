"""What the scripts of this folder share: lines that call ops, and the argument that decides."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

Features = dict[str, str]
"""What a sample passes: parameter or position -> value, and ``ndim`` of its first tensor."""

VALUES = 4
"""Of an argument that decides; more of them are chance."""


def deciding(reaching: list[Features], all_: list[Features]) -> str:
    """The argument on which it depends whether an operator is reached: ``mode=bicubic|bilinear``;
    empty where every sample reaches it, ``?`` where no single argument decides. Keywords come
    first, then the number of dimensions, then arguments by place.
    """
    if len(reaching) == len(all_):
        return ""
    names = {name for features in all_ for name in features}
    reached = {id(features) for features in reaching}
    others = [features for features in all_ if id(features) not in reached]
    for name in sorted(names, key=lambda name: (name.isdigit(), name == "ndim", name)):
        with_ = {features.get(name, "") for features in reaching}
        without = {features.get(name, "") for features in others}
        if "" not in with_ and not with_ & without and len(with_) <= VALUES:
            return f"{name}={'|'.join(sorted(with_))}"
    return "?"


def called_lines(text: str, root: str) -> dict[str, list[str]]:
    """Name -> the lines that call it. Names begin with `root`."""
    found: dict[str, list[str]] = {}
    for line in text.splitlines():
        named = re.match(rf"{root}[.\w]+", line)
        if named is not None:
            call = line.removeprefix(f"{named[0]}: ")
            found.setdefault(named[0], []).append(call)
    return found


Sample = tuple[Features, dict[str, set[str]]]
"""What it passes, and direction -> the operators that it reaches."""


def ways(samples: list[Sample]) -> dict[str, dict[str, str]]:
    """Direction -> operator -> the argument that decides."""
    found: dict[str, dict[str, list[Features]]] = {}
    for said, reached in samples:
        for direction, operators in reached.items():
            for operator in operators:
                found.setdefault(direction, {}).setdefault(operator, []).append(said)
    all_ = [said for said, _reached in samples]
    return {
        direction: {name: deciding(held, all_) for name, held in sorted(reaching.items())}
        for direction, reaching in found.items()
    }


def features(line: str) -> Features:
    """What a line passes: keyword or position -> the value as it is written."""
    node = ast.parse(line.strip(), mode="eval").body
    if not isinstance(node, ast.Call):
        return {"call": line}
    found = {str(place): ast.unparse(value) for place, value in enumerate(node.args)}
    for keyword in node.keywords:
        if keyword.arg is not None:
            found[keyword.arg] = ast.unparse(keyword.value).strip("'")
    return found


Known = dict[str, Any]
"""Name that a line uses -> what it stands for."""

Reach = Callable[[str, Known, bool], dict[str, set[str]]]
"""A line, its names, and whether some are known when it is traced -> the operators by direction."""


def sample(line: str, known: Known, reached: Reach) -> Sample | None:
    """None for a call that the framework refuses, whatever is known of its arguments."""
    for hold in (False, True):
        try:
            return features(line), reached(line, known, hold)
        except Exception:  # whatever a function says to arguments that it does not take
            continue
    return None


def traced(
    call: str,
    lines: Sequence[str],
    guessed: Sequence[str],
    known: Known,
    reached: Reach,
) -> list[Sample]:
    """The samples of a function that can be traced: of all its lines, or of the first guess of its
    arguments. `call`: what these are given to.
    """
    if lines:
        written = [sample(line, known, reached) for line in lines]
        return [one for one in written if one is not None]
    for guess in guessed:
        found = sample(f"{call}{guess}", known, reached)
        if found is not None:
            return [found]
    return []


def used_names(line: str) -> set[str]:
    """The names that a line uses."""
    return {node.id for node in ast.walk(ast.parse(line)) if isinstance(node, ast.Name)}


def guesses(text: str) -> list[str]:
    """Arguments for a function without a line of its own, the likeliest first."""
    return [line[2:] for line in text.splitlines() if line.startswith("* ")]


def catalogue_names(file: Path, release: str) -> list[str]:
    """The public names of a release, as a catalogue of kb/evidence has them."""
    catalogue = json.loads(file.read_text(encoding="utf-8"))
    place = catalogue["releases"].index(release)
    found: list[str] = []
    for text, names in catalogue["names"].items():
        for span in text.split(","):
            first, _dots, until = span.partition("..")
            end = catalogue["releases"].index(until) if until else place + 1
            if catalogue["releases"].index(first) <= place < end:
                found += names
    return found


def write_trace(
    file: Path,
    package: str,
    version: str,
    ops: Mapping[str, object],
    idle: Iterable[str],
    aliases: Mapping[str, str] = MappingProxyType({}),
    seeded: Iterable[str] = (),
) -> None:
    facts = {
        "package": package,
        "version": version,
        "ops": ops,
        "aliases": dict(aliases),
        "idle": sorted(idle),
        "seeded": sorted(seeded),
    }
    text = json.dumps(facts, indent=1, sort_keys=True, ensure_ascii=False)
    file.write_text(text + "\n", encoding="utf-8")
