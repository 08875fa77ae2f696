"""The words of a shell script: enough of its grammar to see what is set and what is started."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator

import msgspec

from d9m.scan.finding import Spot

_TOKEN = re.compile(
    r"""
      (?P<blank>\\\r?\n|[ \t\r]+)
    | (?P<newline>\n)
    | (?P<comment>\#[^\n]*)
    | (?P<document><<-?[ \t]*(?P<mark>['"]?)(?P<tag>\w+)(?P=mark))
    | (?P<end>&&|\|\||;;|[;&|()])
    | (?P<redirect>\d*(?:<<<|>>|[<>])&?\d*)
    | (?P<word>(?:
          [^\s;&|()<>'"\\`$]+ | \\. | '[^']*' | "(?:\\.|[^"\\])*"
        | \$\((?:[^()]|\([^()]{0,500}\)){0,500}\) | \$\{[^}\n]{0,200}\} | \$ | `[^`]*`
      )+)
    | (?P<other>.)
    """,
    re.VERBOSE | re.DOTALL,
)


class Word(msgspec.Struct, frozen=True):
    """One word of a command, as the shell would hand it on."""

    text: str
    """Without quotes."""
    raw: str
    line: int
    column: int
    in_subshell: bool = False
    """Whether its shell ends with its command: in ``( … )`` or in a pipe."""

    @property
    def is_known(self) -> bool:
        """Whether the text says all of it: nothing comes out of a variable or a command."""
        read_by_shell = _PIECE.sub(lambda piece: piece[0] if piece[1] is None else "", self.raw)
        return "$" not in read_by_shell and "`" not in read_by_shell

    def spot(self, start: int = 0, end: int | None = None) -> Spot:
        """Return the place of a part of its raw text. A word that goes over several lines is a
        point.
        """
        end = len(self.raw) if end is None else end
        if "\n" in self.raw:
            return Spot(self.line, self.column, self.line, self.column)
        return Spot(self.line, self.column + start, self.line, self.column + end)


def commands(text: str, first_line: int = 1, first_column: int = 1) -> Iterator[list[Word]]:
    """The simple commands of a script, each as its words; comments and here-documents left out.

    >>> [[word.text for word in command] for command in commands("A=1 python t.py && echo 'x y'")]
    [['A=1', 'python', 't.py'], ['echo', 'x y']]
    """
    starts = [0, *(match.end() for match in re.finditer("\n", text))]
    command: list[Word] = []
    documents: list[str] = []
    at = depth = 0
    piped = False
    while at < len(text):
        token = _TOKEN.match(text, at)
        assert token is not None
        at = token.end()
        if token["word"] is not None:
            line = bisect_right(starts, token.start()) - 1
            column = token.start() - starts[line] + (first_column if line == 0 else 1)
            place = (line + first_line, column, piped or depth > 0)
            command.append(Word(unquoted(token[0]), token[0], *place))
        elif token["document"] is not None:
            documents.append(token["tag"])
        elif token["redirect"] is not None:
            at = _after_target(text, at)
        elif token["newline"] is not None or token["end"] is not None:
            piped_into = token[0] == "|"
            if command and piped_into:
                command = [msgspec.structs.replace(each, in_subshell=True) for each in command]
            if command:
                yield command
                piped = piped_into
            command = []
            depth = max(0, depth + (token[0] == "(") - (token[0] == ")"))
            if token["newline"] is not None:
                for tag in documents:
                    at = _after_document(text, at, tag)
                documents = []
    if command:
        yield command


def _after_target(text: str, at: int) -> int:
    """The place after the file that a redirection names."""
    found = re.compile(r"[ \t]*[^\s;&|()<>]*").match(text, at)
    return found.end() if found else at


def _after_document(text: str, at: int, tag: str) -> int:
    end = re.compile(rf"^[ \t]*{re.escape(tag)}[ \t]*\r?$", re.MULTILINE).search(text, at)
    return end.end() if end else len(text)


_PIECE = re.compile(r"""'([^']*)'|"((?:\\.|[^"\\])*)"|\\(.)""", re.DOTALL)


def unquoted(raw: str) -> str:
    """A word without its quotes.

    >>> unquoted("A='x y'")
    'A=x y'
    """
    return _PIECE.sub(_without_quotes, raw)


def _without_quotes(match: re.Match[str]) -> str:
    if match[1] is not None:
        return match[1]
    if match[2] is not None:
        return re.sub(r'\\(["\\$`])', r"\1", match[2])
    return match[3].replace("\n", "")
