"""The compiled knowledge base: one file, of which a question reads only what it needs.

Layout: a line with the length and checksum of the index, the index (JSON), then
the values (JSON each). The index holds, for each table, the place of every value;
large tables keep their places in a value of their own. A question about two ops
of a knowledge base of 30 000 records reads some kilobytes.
"""

from __future__ import annotations

import os
import zlib
from collections.abc import Iterable
from pathlib import Path
from typing import Any, TypeAlias

import msgspec

from d9m.failures import DataError
from d9m.kb.tables import FORMAT, TABLES, KnowledgeBase, Meta

FILE = "knowledge.d9m"

_MAGIC = b"d9m-kb"

Span: TypeAlias = tuple[int, int, int]
"""Offset after the index, length, CRC-32 of the bytes."""


class Index(msgspec.Struct, frozen=True):
    meta: Meta
    spans: dict[str, Span]
    """Table -> where its own places stand."""


def write(kb: KnowledgeBase, path: Path) -> int:
    """Write `kb` to `path`, whole or not at all. Returns the bytes written.

    The same records give the same bytes.
    """
    body = bytearray()

    def add(value: Any) -> Span:
        data = msgspec.json.encode(value)
        span = (len(body), len(data), zlib.crc32(data))
        body.extend(data)
        return span

    spans = {table: add({key: add(kb.get(table, key)) for key in kb.keys(table)}) for table in TABLES}
    index = msgspec.json.encode(Index(kb.meta, spans))
    head = b"%s %d %d %d\n" % (_MAGIC, len(index), zlib.crc32(index), len(body))
    partial = path.with_name(f"{path.name}.{os.getpid()}")
    try:
        partial.write_bytes(head + index + body)
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)
    return len(head) + len(index) + len(body)


class _File:
    """Tables read from a compiled file, value by value."""

    def __init__(self, path: str, start: int, spans: dict[str, Span]) -> None:
        self._path = path
        self._start = start
        self._spans = spans
        self._places: dict[str, dict[str, Span]] = {}
        self._handle = open(path, "rb")  # noqa: SIM115 - lives as long as the process asks questions

    def get(self, table: str, key: str) -> Any:
        span = self._places_of(table).get(key)
        return None if span is None else _decode(self._bytes(span), TABLES[table], self._path)

    def keys(self, table: str) -> Iterable[str]:
        return self._places_of(table).keys()

    def _places_of(self, table: str) -> dict[str, Span]:
        if table not in self._places:
            self._places[table] = _decode(self._bytes(self._spans[table]), dict[str, Span], self._path)
        return self._places[table]

    def _bytes(self, span: Span) -> bytes:
        offset, length, checksum = span
        self._handle.seek(self._start + offset)
        data = self._handle.read(length)
        if len(data) != length or zlib.crc32(data) != checksum:
            raise DataError(f"{self._path}: the knowledge base is damaged", tip=_REPAIR)
        return data


_REPAIR = "install d9m again, or compile it anew: d9m kb build"


def read(path: str) -> KnowledgeBase:
    """Open a compiled knowledge base. Raises DataError if it is missing, damaged or of another format."""
    try:
        with open(path, "rb") as file:
            head = file.readline(100)
            magic, *numbers = head.split()
            length, checksum, body = (int(number) for number in numbers)
            data = file.read(length)
            whole = len(head) + length + body == os.fstat(file.fileno()).st_size
    except OSError as error:
        raise DataError(f"{path}: cannot be read: {error.strerror}", tip=_REPAIR) from None
    except ValueError:
        raise DataError(f"{path}: not a compiled knowledge base", tip=_REPAIR) from None
    if magic != _MAGIC or not whole or zlib.crc32(data) != checksum:
        raise DataError(f"{path}: the knowledge base is damaged", tip=_REPAIR)
    index = _decode(data, Index, path)
    if index.meta.format != FORMAT:
        raise DataError(f"{path}: made for another d9m (format {index.meta.format}, not {FORMAT})", tip=_REPAIR)
    return KnowledgeBase(index.meta, _File(path, len(head) + length, index.spans))


def _decode(data: bytes, type_: Any, path: str) -> Any:
    try:
        return msgspec.json.decode(data, type=type_)
    except msgspec.DecodeError as error:
        raise DataError(f"{path}: the knowledge base is damaged ({error})", tip=_REPAIR) from None
