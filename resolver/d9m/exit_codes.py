"""Which exit code a result has; the codes and their meanings are in `errors.py`."""

from __future__ import annotations

from dataclasses import dataclass

from d9m.errors import ExitCode


@dataclass(frozen=True)
class CommandResult:
    """Results of a command: what it read, ran and compared.

    A command fills in what applies to it. Bad data and wrong usage that stop a command are
    exceptions (`d9m.errors`) and never get here.
    """

    did_nothing: bool = False
    """Nothing was read, run or compared: there is nothing that could be good or bad."""
    has_usage_errors: bool = False
    """Part of the question could not be asked, such as one unknown name among known ones."""
    has_findings: bool = False
    is_incomplete: bool = False
    """Something was not read, run or compared, ended with an error, or is not known."""


def exit_code(
    result: CommandResult, *, allow_unknown: bool = False, exit_zero: bool = False
) -> ExitCode:
    """Return the exit code: the first that applies of 4, 2, 1, 3 and 0.

    `allow_unknown` turns 3 into 0, `exit_zero` 1 and 3, and neither anything else.

    >>> exit_code(CommandResult(has_findings=True, is_incomplete=True)).name
    'FINDINGS'
    >>> exit_code(CommandResult(did_nothing=True), allow_unknown=True).name
    'ABSENT'
    >>> exit_code(CommandResult(has_findings=True), exit_zero=True).name
    'ANSWERED'
    """
    if result.did_nothing:
        return ExitCode.ABSENT
    if result.has_usage_errors:
        return ExitCode.USAGE
    if result.has_findings and not exit_zero:
        return ExitCode.FINDINGS
    if result.is_incomplete and not (allow_unknown or exit_zero):
        return ExitCode.UNKNOWN
    return ExitCode.ANSWERED


UNTESTABLE = 125
"""Exit code with which `git bisect run` passes over a commit."""


def bisect_code(code: ExitCode) -> int:
    """Return the exit code for `git bisect run`: good, bad, or neither.

    >>> [bisect_code(code) for code in (ExitCode.ANSWERED, ExitCode.FINDINGS, ExitCode.UNKNOWN)]
    [0, 1, 125]
    """
    return int(code) if code in (ExitCode.ANSWERED, ExitCode.FINDINGS) else UNTESTABLE
