"""One file of a project, from its bytes to all that a scan keeps of it."""

from __future__ import annotations

import re
import warnings

import msgspec

from d9m.scan.facts import FileFacts, FileKind
from d9m.scan.file_kinds import Kind
from d9m.scan.file_names import on_disk
from d9m.scan.ignores import Ignore, find_ignores
from d9m.scan.jobs.read import read_job
from d9m.scan.notebooks import NotANotebookError, read_notebook
from d9m.scan.reading import reading
from d9m.scan.source import UnreadableError, decode
from d9m.scan.versions.project_files import parse_fault
from d9m.scan.versions.read import read_versions
from d9m.scan.versions.stated import FileVersions
from d9m.scan.vocabulary import Vocabulary

LARGEST: dict[Kind, int] = {
    "python": 4 << 20,
    "notebook": 128 << 20,
    "packages": 32 << 20,
}
"""Bytes of a file that is read; of every other kind a mebibyte. Larger ones hold data."""


TOO_LARGE = "it is larger than "

_PROGRAM = re.compile(rb"__main__|\b(?:import|from)\s+(?:torch|tensorflow|jax)\b")
"""In a file that cannot be read: it may be a program."""


class FileRead(msgspec.Struct, frozen=True, array_like=True):
    """The facts of one file that a scan keeps."""

    facts: FileFacts
    versions: FileVersions = FileVersions()
    ignores: tuple[Ignore, ...] = ()


def load(root: str, path: str, kind: Kind) -> bytes | FileFacts:
    """The bytes of a file, or why there are none."""
    most = LARGEST.get(kind, 1 << 20)
    try:
        with open(on_disk(root, path), "rb") as file:
            data = file.read(most + 1)
    except OSError as error:
        return _unreadable(path, kind, f"the system refuses: {error.strerror or error}")
    if len(data) > most:
        return _unreadable(path, kind, f"{TOO_LARGE}{most >> 20} MiB", data)
    return data


def read_file(vocabulary: Vocabulary, path: str, kind: Kind, data: bytes) -> FileRead:
    """Read one file; what cannot be read says why. No warning of Python's parser gets out."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            if kind == "notebook":
                return _notebook(vocabulary, path, data)
            if kind == "python":
                return _python(vocabulary, path, data)
            text = decode_text(data)
            if why := parse_fault(kind, path.rpartition("/")[2], text):
                raise UnreadableError(why)
        except UnreadableError as fault:
            return FileRead(_unreadable(path, kind, fault.why, data))
    facts = read_job(path, kind, text) or FileFacts(path=path, kind="other")
    return FileRead(facts, read_versions(path, kind, text), find_ignores(kind, text))


def text_of(kind: Kind, data: bytes) -> str:
    """The text whose lines the findings of a file count. Raises UnreadableError."""
    if kind == "notebook":
        try:
            return read_notebook(data).text
        except NotANotebookError as error:
            raise UnreadableError(str(error)) from None
    return decode(data) if kind == "python" else decode_text(data)


def decode_text(data: bytes) -> str:
    """A text in UTF-8 with ``\\n`` at the end of its lines. Raises UnreadableError."""
    if b"\0" in data:
        raise UnreadableError("it holds NUL bytes")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise UnreadableError("it is not in UTF-8") from None
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _python(vocabulary: Vocabulary, path: str, data: bytes) -> FileRead:
    text = decode(data)
    stated = read_versions(path, "python", text)
    try:
        facts = reading.read_text(vocabulary, path, text)
    except UnreadableError as fault:
        return FileRead(_unreadable(path, "python", fault.why, data), stated)
    return FileRead(facts, stated, find_ignores("python", text))


def _notebook(vocabulary: Vocabulary, path: str, data: bytes) -> FileRead:
    try:
        notebook = read_notebook(data)
    except NotANotebookError as error:
        raise UnreadableError(str(error)) from None
    facts = reading.read_text(vocabulary, path, notebook.text, "notebook", notebook.cells)
    facts = msgspec.structs.replace(
        facts,
        variables=tuple(
            sorted((*facts.variables, *notebook.job.variables), key=lambda write: write.place)
        ),
        launches=notebook.job.launches,
    )
    stated = read_versions(path, "notebook", data.decode("utf-8", "replace"))
    return FileRead(facts, stated, find_ignores("notebook", notebook.text))


_FACTS_KINDS: dict[Kind, FileKind] = {
    "python": "python",
    "notebook": "notebook",
    "shell": "shell",
    "dockerfile": "docker",
    "yaml": "yaml",
    "env": "env",
}


def _unreadable(path: str, kind: Kind, why: str, data: bytes | None = None) -> FileFacts:
    is_entry = data is None or _PROGRAM.search(data.replace(b"\0", b"")) is not None
    return FileFacts(
        path=path, kind=_FACTS_KINDS.get(kind, "other"), unreadable=why, is_entry=is_entry
    )
