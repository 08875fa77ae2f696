"""Read an ELF library of a Linux wheel."""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator
from typing import NamedTuple

from d9m.authoring.collect.image import Binary, Content, Machine, Section, entries, text_at

MAGIC = b"\x7fELF\x02\x01"
"""64 bits, little-endian: all that wheels hold."""

_MACHINES: dict[int, Machine] = {62: "x86-64", 183: "arm64"}
_PROGBITS, _IN_MEMORY, _EXECUTABLE = 1, 2, 4
_NOT_TEXT = re.compile(
    r"\.nv|__nv|\.eh_|\.gcc_except|\.note|\.gnu|\.rel|\.got|\.dyn|\.init|\.fini|\.bss|\.tbss"
)
"""Sections without anything to read: device code above all, which is most of a library."""

_PLT_ENTRY = 16
_JUMP = re.compile(rb"\xff\x25", re.DOTALL)
"""``jmp [rip+n]``: a stub goes where an entry of the offset table says."""


class _Header(NamedTuple):
    name: int
    type: int
    flags: int
    address: int
    offset: int
    size: int
    link: int
    info: int
    align: int
    entry: int


def read(content: Content, function: str) -> Binary:
    """Sections, and the addresses at which `function` (part of a symbol's name; may be empty) is
    called.

    Raises struct.error for a library that is cut off.
    """
    machine, table, count, names = _file_header(content)
    headers = [_Header(*each) for each in entries(content, "<IIQQQQIIQQ", table, 64 * count)]
    named: dict[str, _Header] = {}
    sections: list[Section] = []
    for header in headers:
        name = text_at(content, headers[names].offset + header.name).decode("latin-1")
        named[name] = header
        if header.type == _PROGBITS and header.flags & _IN_MEMORY and not _NOT_TEXT.match(name):
            runs = bool(header.flags & _EXECUTABLE)
            sections.append(Section(name, header.address, header.offset, header.size, runs))
    kind = _MACHINES.get(machine, "")
    symbols = _symbols(content, named, function)
    called = {value for value in symbols.values() if value}
    called.update(_stubs(content, named, set(symbols)) if kind == "x86-64" else ())
    return Binary(kind, sections, frozenset(called))


def _file_header(content: Content) -> tuple[int, int, int, int]:
    """Machine; offset and length of the table of sections; which of them holds their names."""
    (machine,) = struct.unpack_from("<H", content, 0x12)
    (table,) = struct.unpack_from("<Q", content, 0x28)
    count, names = struct.unpack_from("<HH", content, 0x3C)
    return machine, table, count, names


def _symbols(content: Content, named: dict[str, _Header], function: str) -> dict[int, int]:
    """Number and value of each symbol with that name; the value is 0 where another library defines
    it.
    """
    if not function or ".dynsym" not in named or ".dynstr" not in named:
        return {}
    texts, table = named[".dynstr"], named[".dynsym"]
    wanted: set[int] = set()
    end = texts.offset + texts.size
    place = content.find(function.encode(), texts.offset, end)
    while place >= 0:
        wanted.add(content.rfind(b"\0", texts.offset, place) + 1 - texts.offset)
        place = content.find(function.encode(), place + 1, end)
    symbols = enumerate(entries(content, "<IBBHQQ", table.offset, table.size))
    return {number: symbol[4] for number, symbol in symbols if symbol[0] in wanted}


def _stubs(content: Content, named: dict[str, _Header], symbols: set[int]) -> Iterator[int]:
    """Addresses of the stubs through which those symbols are called."""
    slots = set(_slots(content, named, symbols))
    for name in (".plt", ".plt.sec", ".plt.got"):
        if name not in named:
            continue
        plt = named[name]
        code = bytes(content[plt.offset : plt.offset + plt.size])
        for jump in _JUMP.finditer(code, 0, max(0, len(code) - 4)):
            (distance,) = struct.unpack_from("<i", code, jump.end())
            if plt.address + jump.end() + 4 + distance in slots:
                yield plt.address + jump.start() - jump.start() % _PLT_ENTRY


def _slots(content: Content, named: dict[str, _Header], symbols: set[int]) -> Iterator[int]:
    """Entries of the offset table that the linker fills with those symbols."""
    for name in (".rela.plt", ".rela.dyn"):
        if name in named:
            table = named[name]
            for slot, target, _addend in entries(content, "<QQq", table.offset, table.size):
                if target >> 32 in symbols:
                    yield slot
