"""A rule: a code, a reason to read, and a check that yields findings."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeAlias

import msgspec

from d9m.authoring.lint.index import RecordIndex
from d9m.kb.validate import Path
from d9m.kb.yaml_files import Fault, Loaded


class Finding(msgspec.Struct, frozen=True):
    """One thing that a rule objects to, at a field of a record."""

    at: Loaded
    path: Path
    message: str
    value: str = ""
    allowed: str = ""
    tip: str = ""


Check: TypeAlias = Callable[[RecordIndex], Iterator[Finding]]


class Rule(msgspec.Struct, frozen=True):
    """One demand on records. `why` is the paragraph that the site and `--explain` show."""

    code: str
    title: str
    why: str
    check: Check

    def faults(self, index: RecordIndex) -> Iterator[Fault]:
        for finding in self.check(index):
            field = ".".join(map(str, finding.path))
            line = finding.at.line(*finding.path)
            yield Fault(
                finding.at.file,
                line,
                self.code,
                finding.message,
                field,
                finding.value,
                finding.allowed,
                finding.tip,
            )


def rule(code: str, title: str, why: str) -> Callable[[Check], Rule]:
    """Make a check a rule: ``@rule("code", "Title", "why")``. White space in `why` is joined."""
    return lambda check: Rule(code, title, " ".join(why.split()), check)
