"""JUnit XML, which every CI server reads: cases that fail, are in error, are skipped or pass."""

from __future__ import annotations

from collections.abc import Sequence
from xml.etree import ElementTree

from d9m.errors import printable

Case = ElementTree.Element


class Suite:
    """Cases of one command, in order."""

    def __init__(self, name: str, seconds: float | None = None) -> None:
        time = {} if seconds is None else {"time": f"{seconds:g}"}
        self._suite = ElementTree.Element("testsuite", {"name": name, **time})

    def case(self, classname: str, name: str, **more: str) -> Case:
        return ElementTree.SubElement(
            self._suite, "testcase", {"classname": classname, "name": name, **more}
        )

    def is_filled(self) -> bool:
        return len(self._suite) > 0

    def text(self, said: Sequence[str]) -> str:
        """The file. `said`: lines about the whole."""
        cases = list(self._suite)
        self._suite.set("tests", str(len(cases)))
        for kind, name in (("failures", "failure"), ("skipped", "skipped"), ("errors", "error")):
            self._suite.set(kind, str(sum(case.find(name) is not None for case in cases)))
        ElementTree.SubElement(self._suite, "system-out").text = printable("\n".join(said))
        ElementTree.indent(self._suite)
        body = ElementTree.tostring(self._suite, encoding="unicode")
        return f'<?xml version="1.0" encoding="UTF-8"?>\n{body}\n'


def add_output(case: Case, said: str) -> None:
    ElementTree.SubElement(case, "system-out").text = printable(said)


def fail(case: Case, message: str, text: str = "", **more: str) -> None:
    _outcome(case, "failure", message, text, more)


def error(case: Case, message: str, text: str = "") -> None:
    """Say that the case could not be decided: CI servers count it as failed."""
    _outcome(case, "error", message, text, {})


def skip(case: Case, message: str, text: str = "") -> None:
    _outcome(case, "skipped", message, text, {})


def _outcome(case: Case, kind: str, message: str, text: str, more: dict[str, str]) -> None:
    outcome = ElementTree.SubElement(case, kind, {"message": printable(message), **more})
    outcome.text = printable(text) or None
