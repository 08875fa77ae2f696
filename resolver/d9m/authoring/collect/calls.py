"""Which texts a library passes to one function: read from its machine code.

A name such as ``index_add_cuda_`` alone says nothing: libraries hold
thousands like it. What counts is that it is handed to the function that raises.
Compilers load the address of the text a few instructions before the call.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator

from d9m.authoring.collect.image import Binary, Content, Section, text_at

_BEFORE = 192
"""Bytes before a call in which its text is loaded."""

_LONGEST = 100
_PLAIN = re.compile(rb"[ -~]{3,%d}" % _LONGEST)
_X86_CALL = re.compile(rb"\xe8", re.DOTALL)
_X86_ADDRESS = re.compile(rb"[\x48\x4c]\x8d[\x05\x0d\x15\x1d\x25\x2d\x35\x3d]", re.DOTALL)
"""``lea register, [rip+n]``"""
_ARM_CALL = re.compile(rb"[\x94-\x97]", re.DOTALL)
"""Last byte of ``bl``."""


def passed(content: Content, image: Binary) -> set[str]:
    """The text nearest before each call of the function that `image` was read for."""
    found: set[str] = set()
    if not image.called_at or not image.machine:
        return found
    calls, addresses = (
        (_x86_calls, _x86_addresses) if image.machine == "x86-64" else (_arm_calls, _arm_addresses)
    )
    for section in image.code():
        for call in calls(content, section, image.called_at):
            loaded = addresses(content, section, max(section.offset, call - _BEFORE), call)
            texts = [_text(content, image, address) for address in loaded]
            found.update([*filter(None, texts)][-1:])
    return found


def _text(content: Content, image: Binary, address: int) -> str:
    offset = image.offset(address)
    text = b"" if offset is None else text_at(content, offset, _LONGEST + 1)
    return text.decode() if _PLAIN.fullmatch(text) else ""


def _x86_calls(content: Content, section: Section, wanted: frozenset[int]) -> Iterator[int]:
    move = section.address - section.offset
    for call in _X86_CALL.finditer(
        content, section.offset, section.offset + max(0, section.size - 4)
    ):
        (distance,) = struct.unpack_from("<i", content, call.end())
        if move + call.end() + 4 + distance in wanted:
            yield call.start()


def _x86_addresses(content: Content, section: Section, start: int, end: int) -> Iterator[int]:
    move = section.address - section.offset
    for load in _X86_ADDRESS.finditer(content, start, max(start, end - 4)):
        (distance,) = struct.unpack_from("<i", content, load.end())
        yield move + load.end() + 4 + distance


def _arm_calls(content: Content, section: Section, wanted: frozenset[int]) -> Iterator[int]:
    move = section.address - section.offset
    for last in _ARM_CALL.finditer(content, section.offset + 3, section.offset + section.size):
        call = last.start() - 3
        if (call + move) % 4 == 0:
            (word,) = struct.unpack_from("<I", content, call)
            if move + call + 4 * _signed(word, 26) in wanted:
                yield call


def _arm_addresses(content: Content, section: Section, start: int, end: int) -> Iterator[int]:
    """``adrp`` loads the page, ``add`` the place in it."""
    move = section.address - section.offset
    pages: dict[int, int] = {}
    for place in range(start, end, 4):
        (word,) = struct.unpack_from("<I", content, place)
        source, target = word >> 5 & 31, word & 31
        if word & 0x9F000000 == 0x90000000:
            page = (word >> 5 & 0x7FFFF) << 2 | word >> 29 & 3
            pages[target] = ((move + place) & ~0xFFF) + 4096 * _signed(page, 21)
        elif word & 0xFFC00000 == 0x91000000 and source in pages:
            yield pages[source] + (word >> 10 & 0xFFF)


def _signed(value: int, bits: int) -> int:
    value &= (1 << bits) - 1
    return value - (1 << bits) if value >> bits - 1 else value
