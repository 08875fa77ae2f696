"""Wheels and libraries small enough to write by hand, for the tests of collectors."""

from __future__ import annotations

import struct
import zipfile
from pathlib import Path

FUNCTION = b"_ZN2at7Context21alertNotDeterministicERKx"


def wheel(path: Path, members: dict[str, bytes]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return path


def elf(texts: list[bytes], called: list[bytes]) -> bytes:
    """A Linux library that holds `texts` and calls `FUNCTION`, through a stub, with each of
    `called`.
    """
    rodata = b"\0" + b"".join(text + b"\0" for text in [*texts, *called])
    dynstr = b"\0other\0" + FUNCTION + b"\0"
    dynsym = struct.pack("<IBBHQQ", 0, 0, 0, 0, 0, 0)
    dynsym += struct.pack("<IBBHQQ", 1, 0, 0, 0, 0, 0) + struct.pack("<IBBHQQ", 7, 0, 0, 0, 0, 0)
    slots = {1: 0x9000, 2: 0x9008}
    rela = b"".join(
        struct.pack("<QQq", slot, symbol << 32 | 7, 0) for symbol, slot in slots.items()
    )
    plt = bytes(16)
    for slot in slots.values():
        place = 0x2000 + len(plt)
        plt += b"\xff\x25" + struct.pack("<i", slot - (place + 6)) + bytes(10)
    text = b"\x90" * 40
    for stub, handed in [(0x2020, each) for each in called] + [(0x2010, each) for each in texts]:
        place = 0x4000 + len(text)
        address = 0x6000 + rodata.index(b"\0" + handed + b"\0") + 1
        text += b"\x48\x8d\x3d" + struct.pack("<i", address - (place + 7))
        text += b"\xe8" + struct.pack("<i", stub - (place + 12)) + b"\x90" * 200
    sections = {
        b".dynstr": (3, 2, 0x100, dynstr),
        b".dynsym": (11, 2, 0x200, dynsym),
        b".rela.plt": (4, 2, 0x300, rela),
        b".plt": (1, 6, 0x2000, plt),
        b".text": (1, 6, 0x4000, text),
        b".rodata": (1, 2, 0x6000, rodata),
        b".shstrtab": (3, 0, 0, b""),
    }
    names = b"\0" + b"".join(name + b"\0" for name in sections)
    body, table = bytearray(64), bytearray(64)
    for name, (kind, flags, address, content) in sections.items():
        content = names if name == b".shstrtab" else content
        place = names.index(b"\0" + name + b"\0") + 1
        table += struct.pack(
            "<IIQQQQIIQQ", place, kind, flags, address, len(body), len(content), 0, 0, 1, 0
        )
        body += content
    head = b"\x7fELF\x02\x01\x01" + bytes(9) + struct.pack("<HHI", 3, 62, 1)
    head += struct.pack(
        "<QQQIHHHHHH", 0, 0, len(body), 0, 64, 0, 0, 64, len(sections) + 1, len(sections)
    )
    return head + bytes(body[64:]) + bytes(table)


def macho(texts: list[bytes], called: list[bytes]) -> bytes:
    """A macOS library (arm64) that holds `texts` and calls `FUNCTION`, through a stub, with each of
    `called`.
    """
    cstring = b"\0" + b"".join(text + b"\0" for text in [*texts, *called])
    code = b""
    for stub, handed in [(0x8000 + 12, each) for each in called] + [
        (0x8000, each) for each in texts
    ]:
        address = 0xC000 + cstring.index(b"\0" + handed + b"\0") + 1
        page = (address >> 12) - (0x4000 + len(code) >> 12)
        code += struct.pack("<I", 0x90000000 | (page & 3) << 29 | (page >> 2) << 5 | 8)
        code += struct.pack("<I", 0x91000000 | (address & 0xFFF) << 10 | 8 << 5 | 8)
        distance = (stub - (0x4000 + len(code))) // 4
        code += (
            struct.pack("<I", 0x94000000 | distance & 0x3FFFFFF)
            + struct.pack("<I", 0xD503201F) * 60
        )
    names = b"\0_other\0_" + FUNCTION + b"\0"
    symbols = struct.pack("<IBBHQ", 1, 1, 0, 0, 0) + struct.pack("<IBBHQ", 8, 1, 0, 0, 0)
    contents = [code, bytes(24), cstring, symbols, names, struct.pack("<II", 0, 1)]
    commands_size = 72 + 3 * 80 + 24 + 80
    places = [32 + commands_size]
    for each in contents:
        places.append(places[-1] + len(each))

    def section(name: bytes, address: int, number: int, flags: int, step: int) -> bytes:
        head = struct.pack("<16s16sQQ", name, b"__TEXT", address, len(contents[number]))
        return head + struct.pack("<8I", places[number], 2, 0, 0, flags, 0, step, 0)

    segment = struct.pack("<II16sQQQQIIII", 0x19, 72 + 240, b"__TEXT", 0, 0x10000, 0, 0, 5, 5, 3, 0)
    segment += section(b"__text", 0x4000, 0, 0x80000400, 0)
    segment += section(b"__stubs", 0x8000, 1, 0x80000408, 12)
    segment += section(b"__cstring", 0xC000, 2, 2, 0)
    table = struct.pack("<IIIIII", 0x2, 24, places[3], 2, places[4], len(names))
    indirect = struct.pack("<II12xI", 0xB, 80, 0)[:20].ljust(56, b"\0") + struct.pack(
        "<II", places[5], 2
    )
    head = struct.pack("<8I", 0xFEEDFACF, 0x0100000C, 0, 6, 3, commands_size, 0, 0)
    return head + segment + table + indirect.ljust(80, b"\0") + b"".join(contents)
