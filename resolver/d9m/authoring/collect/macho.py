"""Read a Mach-O library of a macOS wheel."""

from __future__ import annotations

import struct
from collections.abc import Iterator

from d9m.authoring.collect.image import Binary, Content, Machine, Section, entries, text_at

MAGIC = b"\xcf\xfa\xed\xfe"
"""64 bits, one architecture."""

_MACHINES: dict[int, Machine] = {0x01000007: "x86-64", 0x0100000C: "arm64"}
_SEGMENT, _SYMBOLS, _INDIRECT = 0x19, 0x2, 0xB
_STUBS, _CODE = 0x8, 0x80000400
_TEXTS = ("__cstring", "__const", "__data")


def read(content: Content, function: str) -> Binary:
    """Sections, and the addresses at which `function` (part of a symbol's name; may be empty) is
    called.

    Raises struct.error for a library that is cut off.
    """
    cpu, count = struct.unpack_from("<4xI8xI", content, 0)
    sections: list[Section] = []
    stubs: list[tuple[Section, int, int]] = []
    symbols: dict[int, int] = {}
    indirect: list[int] = []
    place = 32
    for _ in range(count):
        command, size = struct.unpack_from("<II", content, place)
        if command == _SEGMENT:
            for section, flags, first, step in _sections(content, place):
                if flags & 0xFF == _STUBS:
                    stubs.append((section, first, step))
                elif section.code or section.name in _TEXTS:
                    sections.append(section)
        elif command == _SYMBOLS and function:
            symbols = _symbols(content, *struct.unpack_from("<4I", content, place + 8), function)
        elif command == _INDIRECT:
            table, number = struct.unpack_from("<II", content, place + 56)
            indirect = [each[0] for each in entries(content, "<I", table, 4 * number)]
        place += size
    called = {value for value in symbols.values() if value}
    called.update(_stub_addresses(stubs, indirect, symbols))
    return Binary(_MACHINES.get(cpu, ""), sections, frozenset(called))


def _sections(content: Content, segment: int) -> Iterator[tuple[Section, int, int, int]]:
    """Section, flags, and for stubs: number of the first in the table of indirect symbols, size of
    one.
    """
    (count,) = struct.unpack_from("<I", content, segment + 64)
    for number in range(count):
        name, address, size, offset, flags, first, step = struct.unpack_from(
            "<16s16xQQI12xIII", content, segment + 72 + 80 * number
        )
        section = Section(
            name.rstrip(b"\0").decode("latin-1"), address, offset, size, bool(flags & _CODE)
        )
        yield section, flags, first, step


def _symbols(
    content: Content, table: int, count: int, texts: int, _size: int, function: str
) -> dict[int, int]:
    """Number and value of each symbol with that name; the value is 0 where another library defines
    it.
    """
    wanted = function.encode()
    found: dict[int, int] = {}
    for number, symbol in enumerate(entries(content, "<IBBHQ", table, 16 * count)):
        name, _type, _section, _flags, value = symbol
        if wanted in text_at(content, texts + name):
            found[number] = value
    return found


def _stub_addresses(
    stubs: list[tuple[Section, int, int]], indirect: list[int], symbols: dict[int, int]
) -> Iterator[int]:
    for section, first, step in stubs:
        for number in range(section.size // step if step else 0):
            if first + number < len(indirect) and indirect[first + number] in symbols:
                yield section.address + number * step
