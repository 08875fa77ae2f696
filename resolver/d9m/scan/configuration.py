"""Settings of a project for its scans: ``[tool.d9m.scan]`` of pyproject.toml, or d9m.toml."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import cast

import msgspec

from d9m import files
from d9m.environment.environment import DEVICES, Setup, device_named, fact, fact_value
from d9m.errors import D9mError, UsageError, nearest, quote, reason
from d9m.kb.store import KnowledgeBase
from d9m.scan.finding import Severity
from d9m.scan.selection import check_codes

_SEVERITIES = ("error", "missing", "place")


class Configuration(msgspec.Struct, frozen=True, kw_only=True):
    """The project's configuration file; the command line wins."""

    file: str = ""
    """Empty: there is none."""
    folder: str = "."
    """Patterns and paths count from here."""
    strict: bool = False
    paths: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    entry_points: tuple[str, ...] = ()
    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    per_file_ignores: tuple[tuple[str, tuple[str, ...]], ...] = ()
    severity: dict[str, Severity] = {}
    baseline: str | None = None
    environment: Setup | None = None


def find_configuration(kb: KnowledgeBase, folder: str) -> Configuration:
    """The configuration of the nearest folder that has one, from `folder` up to the top of its
    repository. Raises UsageError for a faulty one.
    """
    here = os.path.realpath(folder)
    while True:
        for name, keys in (("d9m.toml", ()), ("pyproject.toml", ("tool", "d9m"))):
            path = os.path.join(here, name)
            if os.path.isfile(path):
                found = _open(kb, path, keys)
                if found is not None:
                    return found
        above = os.path.dirname(here)
        if above == here or os.path.exists(os.path.join(here, ".git")):
            return Configuration()
        here = above


def _open(kb: KnowledgeBase, path: str, keys: Sequence[str]) -> Configuration | None:
    shown = os.path.relpath(path)
    try:
        text = files.text(path, most=1 << 24)
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{shown}: cannot be read: {reason(error)}") from None
    if keys and "d9m" not in text:
        return None
    try:
        tree: object = msgspec.toml.decode(text)
    except files.UNREADABLE as error:
        line = re.search(r"line (\d+)", str(error))
        what = re.sub(r"\s*\(at .*?\)", "", str(error))
        raise UsageError(f"{shown}:{line[1] if line else 1}: not TOML: {what}") from None
    for key in keys:
        tree = cast("dict[str, object]", tree).get(key) if isinstance(tree, dict) else None
        if tree is None:
            return None
    return _Reader(kb, shown, text, ".".join(keys)).read(tree, os.path.dirname(path))


class _Reader:
    """One file as it is read; faults are collected, so that all of them are named at once."""

    def __init__(self, kb: KnowledgeBase, file: str, text: str, prefix: str) -> None:
        self._kb = kb
        self._file = file
        self._lines = text.splitlines()
        self._prefix = prefix
        self._faults: list[str] = []

    def read(self, tree: object, folder: str) -> Configuration:
        tables = self._table(tree, self._prefix, "", ("scan", "environment"))
        scan = self._table(tables.get("scan", {}), self._name("scan"), "scan", tuple(_KEYS))
        environment = tables.get("environment")
        values: dict[str, object] = {}
        for key, value in scan.items():
            try:
                values |= self._value(key, value)
            except D9mError as error:
                self._note(key, error)
        setup = None if environment is None else self._environment(environment)
        if self._faults:
            raise UsageError("\n".join(self._faults))
        found = Configuration(file=self._file, folder=folder, environment=setup)
        return msgspec.structs.replace(found, **values)

    def _name(self, table: str) -> str:
        return f"{self._prefix}.{table}" if self._prefix else table

    def _note(self, key: str, error: D9mError) -> None:
        self._faults.append(f"{self._file}:{self._line(key)}: {key}: {error.text()}")

    def _line(self, key: str) -> int:
        """The line of a key; the first that has it at its beginning, or in an inline table."""
        for pattern in (rf"\s*[\"']?{re.escape(key)}[\"']?\s*[=.]", rf".*\b{re.escape(key)}\b"):
            for number, line in enumerate(self._lines, start=1):
                if re.match(pattern, line):
                    return number
        return 1

    def _table(
        self, value: object, name: str, key: str, allowed: Sequence[str]
    ) -> Mapping[str, object]:
        if not isinstance(value, dict):
            self._faults.append(f"{self._file}:{self._line(key)}: [{name}] is not a table")
            return {}
        table = cast("dict[str, object]", value)
        for unknown in [word for word in table if word not in allowed]:
            error = UsageError(
                f"unknown key {quote(unknown)}" + (f" in [{name}]" if name else ""),
                nearest=nearest(unknown, allowed),
                allowed=allowed,
            )
            self._faults.append(f"{self._file}:{self._line(unknown)}: {error.text()}")
        return {word: table[word] for word in table if word in allowed}

    def _value(self, key: str, value: object) -> dict[str, object]:
        field = key.replace("-", "_")
        if key == "strict":
            return {field: _truth(value)}
        if key == "baseline":
            return {field: _text(value)}
        if key == "per-file-ignores":
            return {field: tuple(self._ignores(value))}
        if key == "severity":
            return {field: self._severities(value)}
        texts = _texts(value)
        if key in ("select", "ignore"):
            check_codes(texts)
        return {field: texts}

    def _ignores(self, value: object) -> Iterable[tuple[str, tuple[str, ...]]]:
        for pattern, codes in _mapping(value).items():
            texts = _texts(codes)
            check_codes(texts)
            yield pattern, texts

    def _severities(self, value: object) -> dict[str, Severity]:
        found: dict[str, Severity] = {}
        for code, severity in _mapping(value).items():
            check_codes([code])
            found[code] = cast(Severity, _one_of(severity, _SEVERITIES))
        return found

    def _environment(self, value: object) -> Setup:
        names = (*self._kb.meta.aliases, "device", "container", "facts")
        table = self._table(value, self._name("environment"), "environment", names)
        parts: dict[str, object] = {}
        packages: list[tuple[str, str | None]] = []
        for key, entry in table.items():
            try:
                if key == "facts":
                    parts[key] = tuple(self._facts(entry))
                elif key == "device":
                    parts[key] = device_named(_text(entry, DEVICES))
                elif key == "container":
                    parts[key] = _text(entry)
                else:
                    packages.append((key, _text(entry)))
            except D9mError as error:
                self._note(key, error)
        return msgspec.structs.replace(Setup(tuple(packages)), **parts)

    def _facts(self, value: object) -> Iterable[tuple[str, str]]:
        for name, text in _mapping(value).items():
            known = fact(self._kb, name)
            yield name, fact_value(name, known, _text(text))


_KEYS = (
    "strict",
    "paths",
    "exclude",
    "entry-points",
    "select",
    "ignore",
    "per-file-ignores",
    "severity",
    "baseline",
)


def _one_of(value: object, allowed: Sequence[str]) -> str:
    text = _text(value, allowed)
    if text not in allowed:
        raise UsageError(
            f"{quote(text)} is unknown", nearest=nearest(text, allowed), allowed=allowed
        )
    return text


def _text(value: object, allowed: Sequence[str] = ()) -> str:
    if not isinstance(value, str):
        raise UsageError(f"expected a text, found {quote(str(value))}", allowed=allowed)
    return value


def _truth(value: object) -> bool:
    if not isinstance(value, bool):
        raise UsageError(f"expected true or false, found {quote(str(value))}")
    return value


def _texts(value: object) -> tuple[str, ...]:
    if not isinstance(value, list):
        raise UsageError(f"expected a list of texts, found {quote(str(value))}")
    return tuple(_text(item) for item in cast("list[object]", value))


def _mapping(value: object) -> Mapping[str, object]:
    if not isinstance(value, dict):
        raise UsageError(f"expected a table, found {quote(str(value))}")
    return cast("dict[str, object]", value)
