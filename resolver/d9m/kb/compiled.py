"""Read and write the compiled knowledge base: one file, of which a question reads only what it
needs.

Layout: a line with the format, the length and checksum of the index and the length of the rest; the
index (JSON); the values (JSON each), one table after the other, in the order of their keys. Shards
of a few keys hold the positions of a table's values. They are values too; a list of fixed width,
which is searched by bisection, holds the positions of the shards. So a question reads hardly more
of 30 000 records than of 300.
"""

from __future__ import annotations

import functools
import itertools
import os
import zlib
from collections.abc import Iterable
from pathlib import Path
from typing import Any, BinaryIO, TypeAlias

import msgspec

from d9m.errors import DataError
from d9m.files import UNREADABLE
from d9m.kb.store import KnowledgeBase, Meta, Table, Value

FILE = "knowledge.d9m"

FORMAT = 3
"""The first line stays as it is in every format; a file of another format is refused."""

_MAGIC = b"d9m-kb"

Span: TypeAlias = tuple[int, int, int]
"""Offset after the index, length, checksum."""

KEYS_A_SHARD = 8
"""A shard takes less time to decode than one record does."""

_WIDTH = 8
"""Bytes of a number in a list of shards."""


class Shard(msgspec.Struct, frozen=True, array_like=True):
    """The position of a few values: one after the other, in the order of their keys."""

    start: int
    """Offset of the first, after the index."""
    values: dict[str, tuple[int, int]]
    """Key -> length, checksum."""


class FileIndex(msgspec.Struct, frozen=True):
    meta: Meta
    tables: dict[str, tuple[int, int]]
    """Table -> the position of its list of shards, and how many there are."""


def write(kb: KnowledgeBase, path: Path) -> int:
    """Write `kb` to `path`, whole or not at all. Returns the bytes written.

    The same records give the same bytes.
    """
    body = bytearray()

    def add(value: Any) -> Span:
        data = msgspec.json.encode(value)
        span = (len(body), len(data), _checksum(data))
        body.extend(data)
        return span

    def add_table(table: Table[Any]) -> tuple[int, int]:
        keys = sorted(table)
        shards: list[Shard] = []
        for first in range(0, len(keys) or 1, KEYS_A_SHARD):
            start = len(body)
            values: dict[str, tuple[int, int]] = {}
            for key in keys[first : first + KEYS_A_SHARD]:
                _offset, length, checksum = add(table[key])
                values[key] = (length, checksum)
            shards.append(Shard(start, values))
        spans = list(map(add, shards))
        start = len(body)
        for span in spans:
            for number in span:
                body.extend(number.to_bytes(_WIDTH, "big"))
        return start, len(shards)

    tables = {table.name: add_table(table) for table in kb.tables()}
    index = msgspec.json.encode(FileIndex(kb.meta, tables))
    head = b"%s %d %d %d %d\n" % (_MAGIC, FORMAT, len(index), zlib.crc32(index), len(body))
    partial = path.with_name(f"{path.name}.{os.getpid()}")
    try:
        partial.write_bytes(head + index + body)
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)
    return len(head) + len(index) + len(body)


def _checksum(data: bytes) -> int:
    """24 bits of a CRC-32: of 20 000 values the other eight are 27 kB of the wheel, which nothing
    compresses.
    """
    return zlib.crc32(data) >> 8


class _File:
    """Tables read from a compiled file, value by value."""

    def __init__(
        self, path: str, start: int, length: int, tables: dict[str, tuple[int, int]]
    ) -> None:
        self._path = path
        self._start = start
        self._length = length
        self._tables = tables
        self._shards: dict[tuple[str, int], dict[str, Span]] = {}

    @functools.cached_property
    def _handle(self) -> BinaryIO:
        return open(self._path, "rb")  # lives as long as the process asks questions

    def get(self, table: str, key: str, type_: type[Value]) -> Value | None:
        span = self._shard(table, self._shard_of(table, key)).get(key)
        return None if span is None else _decode(self._bytes(span), type_, self._path)

    def keys(self, table: str) -> Iterable[str]:
        _place, shards = self._tables[table]
        return itertools.chain.from_iterable(self._shard(table, number) for number in range(shards))

    def _shard_of(self, table: str, key: str) -> int:
        """The last shard that does not begin after a key."""
        _place, shards = self._tables[table]
        low, high = 0, shards - 1
        while low < high:
            middle = (low + high + 1) // 2
            if next(iter(self._shard(table, middle)), "") <= key:
                low = middle
            else:
                high = middle - 1
        return low

    def _shard(self, table: str, number: int) -> dict[str, Span]:
        if (table, number) not in self._shards:
            start, _shards = self._tables[table]
            self._handle.seek(self._start + start + 3 * _WIDTH * number)
            offset, length, checksum = (
                int.from_bytes(self._handle.read(_WIDTH), "big") for _ in range(3)
            )
            shard = _decode(self._bytes((offset, length, checksum)), Shard, self._path)
            spans: dict[str, Span] = {}
            start = shard.start
            for key, (length, checksum) in shard.values.items():
                spans[key] = (start, length, checksum)
                start += length
            self._shards[table, number] = spans
        return self._shards[table, number]

    def _bytes(self, span: Span) -> bytes:
        offset, length, checksum = span
        data = b""
        if 0 <= offset <= offset + length <= self._length:
            self._handle.seek(self._start + offset)
            data = self._handle.read(length)
        if len(data) != length or _checksum(data) != checksum:
            raise DataError(f"{self._path}: the knowledge base is damaged", tip=_REPAIR)
        return data


_REPAIR = "install d9m again, or compile it anew: d9m kb build"


def read(path: str) -> KnowledgeBase:
    """Open a compiled knowledge base. Raises DataError if it is missing, damaged or of another
    format.
    """
    try:
        with open(path, "rb") as file:
            head = file.readline(100)
            length, checksum, body = _numbers(head, path)
            whole = len(head) + length + body == os.fstat(file.fileno()).st_size
            data = file.read(length) if whole else b""
    except OSError as error:
        raise DataError(f"{path}: cannot be read: {error.strerror}", tip=_REPAIR) from None
    if not whole or zlib.crc32(data) != checksum:
        raise DataError(f"{path}: the knowledge base is damaged", tip=_REPAIR)
    index = _decode(data, FileIndex, path)
    kb = KnowledgeBase(index.meta, _File(path, len(head) + length, body, index.tables))
    if index.tables.keys() != {table.name for table in kb.tables()}:
        raise DataError(f"{path}: made for another d9m (other tables)", tip=_REPAIR)
    for start, shards in index.tables.values():
        if start < 0 or shards < 1 or start + 3 * _WIDTH * shards > body:
            raise DataError(f"{path}: the knowledge base is damaged", tip=_REPAIR)
    return kb


def _numbers(head: bytes, path: str) -> tuple[int, int, int]:
    """Length and checksum of the index, and length of the rest, from the first line."""
    magic, *fields = head.removesuffix(b"\n").split(b" ")
    if magic != _MAGIC:
        raise DataError(f"{path}: not a compiled knowledge base", tip=_REPAIR)
    numbers = [int(each) for each in fields if each.isdigit()]
    if numbers and numbers[0] != FORMAT:
        raise DataError(
            f"{path}: made for another d9m (format {numbers[0]}, not {FORMAT})", tip=_REPAIR
        )
    if len(fields) != 4 or len(numbers) != 4:
        raise DataError(f"{path}: the knowledge base is damaged", tip=_REPAIR)
    return numbers[1], numbers[2], numbers[3]


def _decode(data: bytes, type_: type[Value], path: str) -> Value:
    try:
        return msgspec.json.decode(data, type=type_)
    except UNREADABLE as error:
        raise DataError(f"{path}: the knowledge base is damaged ({error})", tip=_REPAIR) from None
