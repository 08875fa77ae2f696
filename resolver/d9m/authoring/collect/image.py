"""A shared library as far as a reader of texts and calls needs it: sections, and where one function
is called at.
"""

from __future__ import annotations

import mmap
import struct
from collections.abc import Iterator
from typing import Literal, TypeAlias

import msgspec

Content: TypeAlias = mmap.mmap | bytes

Machine: TypeAlias = Literal["x86-64", "arm64", ""]
"""Whose instructions can be read; empty for any other."""


class Section(msgspec.Struct, frozen=True):
    name: str
    address: int
    offset: int
    size: int
    code: bool = False


class Binary(msgspec.Struct, frozen=True):
    """One library. `called_at`: addresses that a call of the wanted function may name (itself, or
    its stubs).
    """

    machine: Machine
    sections: list[Section]
    called_at: frozenset[int] = frozenset()

    def code(self) -> list[Section]:
        return [each for each in self.sections if each.code]

    def data(self) -> list[Section]:
        return [each for each in self.sections if not each.code]

    def offset(self, address: int) -> int | None:
        """Place in the file of an address in memory."""
        for section in self.sections:
            if section.address <= address < section.address + section.size:
                return section.offset + address - section.address
        return None


def entries(content: Content, layout: str, offset: int, size: int) -> Iterator[tuple[int, ...]]:
    """The records of a table in a file. Raises struct.error where the table is cut off."""
    piece = content[offset : offset + size]
    if len(piece) < size:
        raise struct.error("a table reaches beyond the end of the file")
    step = struct.calcsize(layout)
    return struct.iter_unpack(layout, piece[: size - size % step])


def text_at(content: Content, offset: int, longest: int = 4096) -> bytes:
    """The text that starts here and ends with a zero byte."""
    end = content.find(b"\0", offset, offset + longest)
    return bytes(content[offset : end if end >= 0 else offset])
