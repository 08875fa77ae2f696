"""Lists in the docstring of the switch: is each op known, with a source, and judged as the list
says?
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator

from d9m.authoring.audit.operators import find_item, outcomes_of
from d9m.authoring.audit.shipped import AuditDifference, Known, Shipped
from d9m.environment.environment import Setup, describe
from d9m.kb.store import KnowledgeBase
from d9m.model.records import Outcome
from d9m.model.wheel_facts import ListedOp

EXPECTED: dict[str, frozenset[Outcome]] = {
    "deterministic": frozenset({"deterministic", "solved"}),
    "throws": frozenset({"raises"}),
    "throws-cublas": frozenset({"raises", "solved"}),
}
"""Section of a list -> outcomes, one of which some source of the op must have."""

_ARGUMENT = re.compile(r"``?(\w+)='?(\w+)'?``?")
"""``accumulate=False``, as a line says when it is meant."""

_MODE = re.compile(r"- ``(\w+)``")
"""One of several modes, each a separate item."""


def differences(known: Known, shipped: Shipped) -> Iterator[AuditDifference]:
    """`line-unknown`, `line-without-source` and `line-disagrees`."""
    found: dict[tuple[str, str, str, str], set[str]] = {}
    for package, releases in shipped.packages.items():
        listed = [version for version in releases if version in known.kb.releases(package)]
        for version, release in ((version, releases[version]) for version in listed):
            for section, line in release.lists():
                for asked in _asked(known.kb, line):
                    code, detail = _judged(known, package, version, section, asked, _device(line))
                    if code:
                        found.setdefault((package, code, f"{section}:{asked}", detail), set()).add(
                            version
                        )
    for (package, code, subject, detail), versions in found.items():
        yield AuditDifference(
            code, subject, shipped.spans(package, versions), f"{package}: {detail}"
        )


def _asked(kb: KnowledgeBase, line: ListedOp) -> Iterator[str]:
    """The line as items of a question: one for each value that it names."""
    stated = [("mode", mode) for mode in _MODE.findall(line.condition)]
    stated += [each for each in _ARGUMENT.findall(line.condition) if each[0] in kb.meta.facts]
    values: dict[str, list[str]] = {}
    for name, value in stated:
        values.setdefault(name, []).append(f":{name}={value}")
    direction = (
        ":backward"
        if "differentiate" in line.condition or "requires grad" in line.condition
        else ""
    )
    for chosen in itertools.product(*values.values()):
        yield f"{line.op}{''.join(chosen)}{direction}"


def _device(line: ListedOp) -> str:
    """The device that a line means; CUDA where it means several."""
    named = [name for name in ("CUDA", "CPU", "MPS") if name in line.condition]
    return named[0].lower() if named else "cuda"


def _judged(
    known: Known, package: str, version: str, section: str, asked: str, device: str
) -> tuple[str, str]:
    """Code and detail of a difference; empty where records and list agree."""
    environment = describe(known.kb, Setup(((package, version),), device=device))
    item = find_item(known, environment, asked)
    if item is None:
        return "line-unknown", "no name of the catalogue"
    outcomes = outcomes_of(known, environment, item)
    if not outcomes:
        return "line-without-source", "no source applies"
    expected = EXPECTED.get(section, frozenset())
    if expected and not expected & outcomes:
        return "line-disagrees", f"records say {', '.join(sorted(outcomes))}"
    return "", ""
