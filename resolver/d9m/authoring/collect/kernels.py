"""Which functions of CUDA sources add with atomics or scan with look-back, and which refuse to.

A text is cut into functions by its braces; nothing is compiled. A function that launches a kernel
or calls a helper of the same file has what that one has.
"""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import re
import tarfile
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path

from d9m import files
from d9m.authoring.collect.reach import Graph
from d9m.authoring.collect.wheel import checksum
from d9m.errors import DataError
from d9m.model.kernel_facts import KernelHow, KernelTable, KernelUse

_SOURCE = re.compile(r".*\.cuh?")
_LEFT_OUT = re.compile(r"(?:^|/)(?:caffe2|modules|tests?|third_party)/")
"""Another framework's, which nothing calls any more; tests; other libraries."""
_LARGEST = 4_000_000
_MOST = 1 << 32
"""Bytes that an archive unpacks to: twice what PyTorch with all its submodules has."""
_PACKED: dict[bytes, Callable[[Path], io.BufferedIOBase]] = {
    b"\x1f\x8b": gzip.GzipFile,
    b"BZh": bz2.BZ2File,
    b"\xfd7zXZ": lzma.LZMAFile,
}
"""First bytes of a file -> what unpacks it."""
_ATOMIC = re.compile(
    r"\b(?:gpuAtomicAdd(?:NoReturn)?|gpuAtomicMul|(?:opportunistic_)?fastAtomicAdd|atomAdd"
    r"|fastSpecializedAtomicAdd\w*|atomicAdd)\s*(?:<[^<>()]*>\s*)?\(([^;]*)"
)
_COUNTED = re.compile(r"^[^,]*(?:semaphore|count|smem|staging|histogram)", re.IGNORECASE)
"""Integers by their names: their sums are the same in any order."""
_SCAN = re.compile(
    r"\b(?:inclusive_scan(?:_by_key)?|InclusiveSum|InclusiveScan(?:ByKey)?|ExclusiveScan"
    r"|reduce_by_key|ReduceByKey)\s*[(<]"
)
_ALERT = re.compile(r"alertNotDeterministic\(\s*(?:std::string\()?\s*\"([^\"]+)\"")
_ASKS = re.compile(r"\bdeterministicAlgorithms\(\)")
_DEFINES = re.compile(r"(?:Atomic|KernelUtils|DeviceThreadHandles|PhiloxCudaState|cub)\w*\.cuh")
"""Files in which atomics and scans are defined rather than used."""
_WASTE = re.compile(r"//[^\n]*|/\*.*?\*/|^[ \t]*#(?:[^\n\\]|\\.|\\\n)*", re.DOTALL | re.MULTILINE)
_BRACE = re.compile(r"[{};]")
_SCOPE = re.compile(r"\b(?:namespace|extern)\b[^()]*$|\bTORCH_LIBRARY")
_TYPE = re.compile(r"\b(?:struct|class|union|enum)\s+(?:\w+\s+)*?(\w+)\s*(?::[^()]*)?$")
_INCLUDE = re.compile(r"^[ \t]*#[ \t]*include[ \t]*[<\"]([^>\"]+)", re.MULTILINE)
_WORD = re.compile(r"[A-Za-z_]\w*")
_NAMED = re.compile(r"([A-Za-z_][\w:~]*)\s*(?:<[^<>()]*>)?\s*\(")
_MACRO = re.compile(
    r"__launch_bounds__|C10_LAUNCH_BOUNDS\w*|__attribute__|decltype|alignas|noexcept"
)


def kernel_table(path: Path, package: str, version: str) -> KernelTable:
    """Return what the sources hold. Raises DataError for a file that is none, and for one
    without CUDA sources.
    """
    if not path.is_file():
        raise DataError(f"{path}: no such file")
    try:
        with _unpacked(path) as unpacked:
            bounded = Bounded(unpacked, path.name)
            with tarfile.TarFile(path, fileobj=bounded) as archive:
                texts = dict(_texts(archive))
    except (OSError, EOFError, zlib.error, lzma.LZMAError, tarfile.TarError) as error:
        raise DataError(f"{path.name}: cannot be read as an archive: {error}") from None
    if not texts:
        raise DataError(f"{path.name}: holds no CUDA source")
    return KernelTable(package, version, path.name, checksum(path), kernel_uses(texts))


def _unpacked(path: Path) -> io.BufferedIOBase:
    with path.open("rb") as file:
        start = file.read(6)
    for first, opened in _PACKED.items():
        if start.startswith(first):
            return opened(path)
    return path.open("rb")


class Bounded(io.BufferedIOBase):
    """The unpacked archive, not beyond a limit, and a part at a time: it states the lengths
    of its headers itself. Raises DataError.
    """

    def __init__(self, unpacked: io.BufferedIOBase, name: str) -> None:
        self._unpacked = unpacked
        self._name = name

    def read(self, size: int | None = -1, /) -> bytes:
        wanted = _MOST if size is None or size < 0 else size
        self._refuse(max(self.tell() + wanted - _MOST, wanted - files.LARGEST))
        return self._unpacked.read(wanted)

    def seek(self, place: int, whence: int = os.SEEK_SET, /) -> int:
        self._refuse(place - _MOST)
        return self._unpacked.seek(place, whence)

    def tell(self) -> int:
        return self._unpacked.tell()

    def _refuse(self, excess: int) -> None:
        if excess > 0:
            raise DataError(f"{self._name}: unpacks to more than an archive of sources does")


def _texts(archive: tarfile.TarFile) -> Iterator[tuple[str, str]]:
    left = files.LARGEST
    for member in archive:
        if _LEFT_OUT.search(member.name):
            continue
        if member.isfile() and _SOURCE.fullmatch(member.name) and member.size < _LARGEST:
            left -= member.size
            if left < 0:
                raise DataError(
                    f"{archive.name}: holds more than {files.LARGEST >> 20} MiB of source"
                )
            content = archive.extractfile(member)
            text = content.read().decode("utf-8", errors="replace") if content else ""
            yield member.name.partition("/")[2], text


def kernel_uses(texts: dict[str, str]) -> list[KernelUse]:
    """The outermost functions of each file that end in an atomic addition or a scan, there or in a
    header that the file includes.
    """
    parsed: dict[str, dict[str, str]] = {}
    for file, text in texts.items():
        if not _DEFINES.fullmatch(_base(file)):
            parsed[file] = _functions(_WASTE.sub(" ", text))
    headers = {_base(file): functions for file, functions in parsed.items() if file.endswith("h")}
    found: set[KernelUse] = set()
    for file, functions in parsed.items():
        if not file.endswith("h"):
            seen = dict(functions)
            for name in _INCLUDE.findall(texts[file]):
                seen |= {**headers.get(_base(name), {}), **seen}
            found.update(_uses(file, functions, seen))
    return sorted(found)


def _uses(file: str, own: dict[str, str], seen: dict[str, str]) -> Iterator[KernelUse]:
    graph = Graph()
    inner: set[str] = set()
    for name, body in seen.items():
        called = {word for word in _WORD.findall(body) if word in seen} - {name}
        graph.add(name, called)
        inner |= called
    for how, has in _HOW:
        having = [name for name, body in seen.items() if has(body)]
        for node, way in graph.leading_to(having).items():
            if node in own and node not in inner:
                bodies = [seen[str(each)] for each in (node, *way)]
                alerts = sorted({found for body in bodies for found in _ALERT.findall(body)})
                asks = any(_ASKS.search(body) for body in bodies)
                yield KernelUse(file, str(node), how, ", ".join(alerts), asks)


def _adds(body: str) -> bool:
    return any(not _COUNTED.search(found[1]) for found in _ATOMIC.finditer(body))


def _looks_back(body: str) -> bool:
    return _SCAN.search(body) is not None


_HOW: tuple[tuple[KernelHow, Callable[[str], bool]], ...] = (
    ("atomic-add", _adds),
    ("look-back", _looks_back),
)


def _base(file: str) -> str:
    return file.rpartition("/")[2]


def _functions(text: str) -> dict[str, str]:
    """Name of each function that is in no other -> its text; methods have the name of their
    type.
    """
    found: dict[str, str] = {}
    scopes: list[str] = []
    start, name, depth, last = 0, "", 0, 0
    for match in _BRACE.finditer(text):
        header = text[last : match.start()]
        last = match.end()
        if match[0] == "{" and depth:
            depth += 1
        elif match[0] == "{":
            type_ = _TYPE.search(header)
            function = "" if type_ else _function_name(header)
            if function:
                name = next(filter(None, reversed(scopes)), function)
                start, depth = match.start() - len(header), 1
            else:
                scopes.append(type_[1] if type_ else "")
        elif match[0] == "}" and depth:
            depth -= 1
            if not depth:
                found[name] = found.get(name, "") + text[start : match.end()]
        elif match[0] == "}" and scopes:
            scopes.pop()
    return found


def _function_name(header: str) -> str:
    """``index_add_cuda_impl``; empty for a name space, a type or a value."""
    if _SCOPE.search(header) or "(" not in header:
        return ""
    if wrapped := re.search(r"TORCH_IMPL_FUNC\s*\(\s*(\w+)", header):
        return wrapped[1]
    for found in _NAMED.finditer(header):
        if not _MACRO.fullmatch(found[1]):
            return found[1].rpartition("::")[2]
    return ""
