"""Where an answer goes: stdout or a file, styled only on a terminal."""

from __future__ import annotations

import io
import os
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from d9m.errors import UsageError, printable, quote

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from d9m.kb.store import KnowledgeBase
    from d9m.render.page import Page

COLOURS = ("auto", "always", "never")

Color = Annotated[str, typer.Option(metavar="|".join(COLOURS), help="Colour the output.")]
Out = Annotated[
    str | None, typer.Option("--output", "-o", metavar="FILE", help="Write the answer to a file.")
]


def offered(names: Callable[[KnowledgeBase], Iterable[str]]) -> Callable[[str], list[str]]:
    """Return what a shell is offered for the value of an option; of a list, for its last item."""

    def of(incomplete: str) -> list[str]:
        from d9m.kb.locate import open_knowledge_base

        before, comma, last = incomplete.rpartition(",")
        found = dict.fromkeys(names(open_knowledge_base()))
        return [f"{before}{comma}{name}" for name in found if name.startswith(last)]

    return of


def formats(*allowed: str) -> Any:
    """The option `--format` of a command that answers in these."""
    words, names = "|".join(allowed), offered(lambda _kb: allowed)
    return typer.Option(
        "--format", metavar=words, help="Format of the answer.", autocompletion=names
    )


def write(text: str, file: str | None) -> None:
    """Write to `file`, whole or not at all, or to stdout. Raises UsageError if that cannot be.

    Text may quote what others wrote: what a terminal would obey is taken out. It is for programs,
    so it has the same bytes on every system.
    """
    stream = sys.stdout
    if isinstance(stream, io.TextIOWrapper) and not stream.isatty():
        stream.reconfigure(encoding="utf-8", newline="\n")
    _deliver(printable(text), file)


def write_bytes(data: bytes, file: str | None) -> None:
    """Write a patch to `file`, whole or not at all, or to stdout: unchanged, for a program reads
    it. Raises UsageError if that cannot be.
    """
    text = data.decode("utf-8", "surrogateescape")
    stream = sys.stdout
    if isinstance(stream, io.TextIOWrapper):
        stream.reconfigure(encoding="utf-8", errors="surrogateescape", newline="\n")
    _deliver(text, file)


def show(body: str | Page, colour: str, file: str | None) -> None:
    """Write a text, or a page: printable but for its own colours."""
    if isinstance(body, str):
        write(body, file)
    else:
        _deliver(_styled(body, colour, file), file)


def _deliver(text: str, file: str | None) -> None:
    try:
        if file is None or file == "-":
            _to_stdout(text)
        else:
            _to_file(text, Path(os.path.realpath(file)))
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else "not the name of a file"
        raise UsageError(
            f"cannot write {'the answer' if file is None else quote(file)}: {reason}"
        ) from None


def writable(file: str | None) -> None:
    """Raises UsageError where nothing could be written in the end: before minutes are spent on the
    answer.
    """
    if file is None or file == "-":
        return
    path = Path(os.path.realpath(file))
    where = path if path.exists() else path.parent
    if not where.exists():
        raise UsageError(f"cannot write {quote(file)}: there is no folder {quote(str(where))}")
    if path.is_dir() or not os.access(where, os.W_OK):
        raise UsageError(
            f"cannot write {quote(file)}: {'it is a folder' if path.is_dir() else 'no permission'}"
        )


def _to_stdout(text: str) -> None:
    """A reader that stops early (`| head`) is not an error: the exit code stays the answer's."""
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except OSError as error:
        os.dup2(
            os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno()
        )  # for what is left in the buffer
        if not isinstance(error, BrokenPipeError):
            raise


def _to_file(text: str, path: Path) -> None:
    data = text.encode("utf-8", "surrogateescape")
    if path.exists() and not path.is_file():  # a device or a pipe is written to, not replaced
        path.write_bytes(data)
        return
    partial = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        partial.write_bytes(data)
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)


def _styled(page: Page, colour: str, file: str | None) -> str:
    """The page as text: coloured where the reader is a terminal, never in a file."""
    text = page.coloured() if file is None and wants_colour(colour) else page.plain()
    if file is None and not _shows_our_signs():
        from d9m.render.page import in_ascii

        return in_ascii(text)
    return text


def _shows_our_signs() -> bool:
    try:
        "✓→•·…×–".encode(sys.stdout.encoding or "ascii")
    except (UnicodeEncodeError, LookupError):
        return False
    return True


def width(file: str | None) -> int:
    """Columns of the reader: those of a terminal (COLUMNS wins), 80 by default.

    A terminal without a size says 0, and `shutil` passes that on before Python 3.11.
    """
    if file is None and (sys.stdout.isatty() or os.environ.get("COLUMNS")):
        return shutil.get_terminal_size().columns or 80
    return 80


def wants_colour(colour: str) -> bool:
    """`--color`, then NO_COLOR, then whether stdout is a terminal."""
    if colour == "auto":
        return (
            sys.stdout.isatty()
            and not os.environ.get("NO_COLOR")
            and os.environ.get("TERM") != "dumb"
        )
    return colour == "always"


def one_of(option: str, value: str, allowed: tuple[str, ...]) -> str:
    """`value`, if it is allowed. Raises UsageError."""
    if value not in allowed:
        from d9m.errors import nearest

        raise UsageError(
            f"{option} {quote(value)} is unknown", nearest=nearest(value, allowed), allowed=allowed
        )
    return value
