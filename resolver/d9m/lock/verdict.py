"""The answer of `d9m verify`: whether a run is equal to the lock, and what changed around it."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from d9m.about import SCHEMA_VERSION, __version__
from d9m.errors import ExitCode, printable
from d9m.exit_codes import CommandResult, exit_code
from d9m.lock.code_state import code_state
from d9m.lock.lock_file import LockFile
from d9m.model.advice import Tool
from d9m.trace import findings
from d9m.trace.findings import Findings, SettingDifference
from d9m.trace.report import verdict

MACHINE = ("device", "gpu", "CPU", "instruction set")
"""Differences that explain different results: the program may be the same."""


class LockVerdict(msgspec.Struct, frozen=True, kw_only=True):
    schema_version: int = SCHEMA_VERSION
    d9m: Tool
    made: str
    """When the lock was."""
    equal: bool | None
    """null: nothing was compared, or it cannot be."""
    said: str
    changed: list[SettingDifference]
    """Code, releases, hardware and settings that are other than in the lock."""
    first_step: int | None = None
    """The first that differs."""
    command: str = ""
    exit: int

    def text(self, name: str) -> str:
        """Return the answer for a person."""
        lines = [f"d9m verify: {self.said}"]
        lines += [f"  changed   {each.name}: {each.a} -> {each.b}" for each in self.changed]
        if self.exit == ExitCode.FINDINGS and self.command:
            lines.append(f"  to find the cause: d9m hunt -- {self.command}")
        lines.append(f"compared with {name}, made {self.made}")
        return printable("\n".join(lines)) + "\n"


def verdict_of(lock: LockFile, found: Findings, command: str) -> LockVerdict:
    """Return the verdict on a run. Results that differ on another machine are not compared."""
    changed = [*_code(lock), *found.settings]
    code, said = findings.exit_code(found), verdict.sentences(found)
    machine = [each.name for each in changed if each.name in MACHINE]
    if found.causes and machine:
        said = f"Not comparable: another {' and '.join(machine)} than in the lock. {said}"
        code = exit_code(CommandResult(is_incomplete=True))
    return LockVerdict(
        d9m=found.d9m,
        made=lock.made,
        equal={ExitCode.ANSWERED: True, ExitCode.FINDINGS: False}.get(code),
        said=said,
        changed=changed,
        first_step=found.first.step if found.first is not None else None,
        command=command,
        exit=int(code),
    )


def verdict_of_environment(
    lock: LockFile,
    packages: Mapping[str, tuple[str, str | None]],
    variables: Mapping[str, tuple[str | None, str | None]],
) -> LockVerdict:
    """Return the verdict on releases and variables: name -> value in the lock, value here."""
    changed = _code(lock)
    for name, (was, now) in {**packages, **variables}.items():
        if was != now:
            changed.append(SettingDifference(name, was, now))
    said = "As in the lock: code, releases and variables. Nothing was run."
    if changed:
        said = "Not as in the lock. Nothing was run."
    code = exit_code(CommandResult(has_findings=bool(changed)))
    tool = Tool(__version__, lock.d9m.kb_date)
    return LockVerdict(
        d9m=tool, made=lock.made, equal=None, said=said, changed=changed, exit=int(code)
    )


def _code(lock: LockFile) -> list[SettingDifference]:
    now = code_state()
    pairs = {
        "commit": (lock.code.commit, now.commit),
        "changes since the commit": (lock.code.changes, now.changes),
    }
    return [SettingDifference(name, *pair) for name, pair in pairs.items() if pair[0] != pair[1]]
