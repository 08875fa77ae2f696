"""The types of what is to be done, as an answer holds them: settings one by one and in total, and
their conflicts.
"""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

import msgspec

from d9m.model.records import Scope
from d9m.model.when import Clause

PlainValue: TypeAlias = str | int | float | bool
"""The value of a setting that is already made: text of a variable, or of its type in JSON."""


Kind = Literal["env", "append", "unset", "python", "flags", "config", "install", "code", "avoid"]
"""Which part of the settings a step belongs to."""


def as_text(value: PlainValue) -> str:
    """The value as records write it: ``True`` is "true"."""
    return str(value).lower() if isinstance(value, bool) else str(value)


class Edit(msgspec.Struct, frozen=True):
    """A change at a call site."""

    where: str
    change: str


class Avoided(msgspec.Struct, frozen=True):
    kind: str
    name: str
    why: str


class Settings(msgspec.Struct, frozen=True):
    """Merged and free of contradictions, by kind. Python statements follow the imports that they
    need.
    """

    env: dict[str, str] = {}
    append: dict[str, list[str]] = {}
    unset: list[str] = []
    python: list[str] = []
    flags: list[str] = []
    config: dict[str, Any] = {}
    install: list[str] = []
    code: list[Edit] = []
    avoid: list[Avoided] = []


class Step(msgspec.Struct, frozen=True):
    """One setting, in the order in which a person would make them."""

    kind: Kind
    name: str
    value: str | None
    read_at: str
    when: list[Clause] | None
    """Where it is needed, if what was given does not decide it."""
    why: str
    solutions: list[str]
    """Labels of the solutions (or ids of the ingredients) that ask for it."""
    accepts: list[str] = []
    """Every value that would do, the chosen one included."""
    any_value: bool = False
    """`value` is a suggestion: any other fixed one does as well, but for those that it refuses."""
    refuses: list[str] = []
    imports: list[str] = []
    before_import: bool = False
    separator: str | None = None
    text: str | None = None
    """The line to write where that is not plain from name and value."""
    where: str | None = None
    """For ``code``: the call to edit."""
    value_type: Literal["string", "integer", "boolean"] = "string"
    setting_kind: str = "env"
    note: str | None = None
    """Half a line for the reader; `why` always says something."""
    covered_by: str | None = None
    """The user's call that makes it already, surely and in time."""

    def satisfied_by(self, value: str) -> bool:
        """Whether a value would do, spelled as in `accepts`; `resolve.values` knows others."""
        if self.kind == "append":
            return set(self.accepts) <= set(value.split(self.separator))
        if self.any_value:
            return bool(value) and value not in self.refuses
        return not self.accepts or value in self.accepts


class Conflict(msgspec.Struct, frozen=True):
    """One setting for which several ask different values."""

    name: str
    between: list[str]
    choices: list[str]
    costs: list[str]
    """The cost of each choice, in the order of `choices`."""
    scope: Scope = "run"
    """The scope whose settings take part: that of the question, or another one."""
