"""Report on a plan in the processes of a program: its text, its JSON and its exit code."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec

from d9m.about import SCHEMA_VERSION
from d9m.errors import printable
from d9m.exit_codes import CommandResult, exit_code
from d9m.model.advice import Tool
from d9m.run.plan import RunPlan, SettingNote

MOST_UNDONE = 3
"""Changes that the text shows; JSON has all."""


class Undone(msgspec.Struct, frozen=True):
    """A setting that the program changed to a value that undoes it."""

    name: str
    value: str | None
    places: list[str]
    """File and line: the nearest frame, then the nearest of the program, if that is another."""
    processes: int


class ReachedProcess(msgspec.Struct, frozen=True):
    pid: int
    python: str
    rank: str | None
    ended: bool
    """Whether its end was seen; not where it was killed, or left by os._exit."""
    frameworks: list[str]
    error: str | None = None


class RunReport(msgspec.Struct, frozen=True, kw_only=True):
    schema_version: int = SCHEMA_VERSION
    d9m: Tool
    planned: RunPlan
    set: dict[str, str]
    """Name -> value, in every process that could hold it."""
    kept: list[SettingNote]
    refused: list[SettingNote]
    undone: list[Undone]
    left: list[SettingNote]
    unreached: list[str]
    processes: list[ReachedProcess]
    twice: None = None
    """Reserved: a second run is not compared yet."""
    started: bool = True
    program_exit: int | None
    exit: int


def report(
    tool: Tool,
    made: RunPlan,
    changes: Mapping[str, str | None],
    code: int,
    notes: Sequence[Sequence[Mapping[str, Any]]],
    strict: bool,
) -> RunReport:
    imported = {line["module"] for lines in notes for line in lines if line["kind"] == "imported"}
    for lines in notes:
        imported.update(name for line in lines for name in line.get("imports") or ())
    was_set = {name: "absent" if value is None else value for name, value in changes.items()}
    done = {line["name"] for lines in notes for line in lines if line["kind"] == "set"}
    was_set |= {each.name: each.lines[-1] for each in made.statements if each.name in done}
    failed = {
        line["name"]: SettingNote(line["name"], line["why"])
        for lines in notes
        for line in lines
        if line["kind"] == "failed"
    }
    undone = _undone(made, notes)
    left = [each for each in made.left if each.module in imported]
    refused = [each for each in made.refused if each.module is None or each.module in imported]
    refused += failed.values()
    unreached = _unreached(notes)
    own = code
    if not code:
        is_bad = bool(undone or left or refused or made.undoing)
        result = CommandResult(did_nothing=bool(unreached), has_findings=strict and is_bad)
        own = int(exit_code(result))
    return RunReport(
        d9m=tool, planned=made, set=was_set if notes else {}, kept=made.kept, refused=refused,
        undone=undone, left=left, unreached=unreached, processes=_processes(notes),
        program_exit=code, exit=own,
    )  # fmt: skip


def _undone(made: RunPlan, notes: Sequence[Sequence[Mapping[str, Any]]]) -> list[Undone]:
    planned = {each.name for each in made.statements} | {each.name for each in made.variables}
    counts: dict[tuple[str, str | None, tuple[str, ...]], int] = {}
    for lines in notes:
        seen: set[tuple[str, str | None, tuple[str, ...]]] = set()
        named: set[str] = set()
        for line in lines:
            if line["kind"] == "changed" and not line["expected"]:
                named.add(line["name"])
                seen.add((line["name"], line["value"], tuple(_place(at) for at in line["places"])))
            elif line["kind"] == "end":
                values = line["values"].items()
                seen.update((name, value, ()) for name, value in values if name not in named)
        for each in seen:
            if each[0] in planned or each[0].partition("(")[0] in planned:
                counts[each] = counts.get(each, 0) + 1
    return [Undone(*each[:2], list(each[2]), count) for each, count in counts.items()]


def _place(at: Sequence[Any]) -> str:
    return f"{at[0]}:{at[1]}"


def _unreached(notes: Sequence[Sequence[Mapping[str, Any]]]) -> list[str]:
    """No process at all, or ranks of this machine that the others count and that noted nothing."""
    if not notes:
        return ["no Python process of the program was reached"]
    ranks = [lines[0].get("ranks", {}) for lines in notes]
    numbers = {each["LOCAL_RANK"] for each in ranks if "LOCAL_RANK" in each}
    sizes = [each["LOCAL_WORLD_SIZE"] for each in ranks if "LOCAL_WORLD_SIZE" in each]
    most = max((int(each) for each in sizes if each.isdigit()), default=0)
    return [f"local rank {number}" for number in range(most) if str(number) not in numbers]


def _processes(notes: Iterable[Sequence[Mapping[str, Any]]]) -> list[ReachedProcess]:
    found: dict[int, ReachedProcess] = {}
    for lines in notes:
        first = lines[0]
        end = next((line for line in lines if line["kind"] == "end"), None)
        found[first["pid"]] = ReachedProcess(
            first["pid"], first["python"], first.get("ranks", {}).get("RANK"), end is not None,
            [line["module"] for line in lines if line["kind"] == "imported"],
            end["error"] if end else None,
        )  # fmt: skip
    return list(found.values())


def as_text(report: RunReport) -> str:
    """Return at most 12 lines for a person."""
    plan = report.planned
    names = " · ".join(f"{name} {version}" for name, version in list(plan.packages.items())[:3])
    count = len(report.processes)
    lines = [
        f"d9m run: {names or 'no framework'} · {plan.device} · {count} "
        f"process{'es' * (count != 1)} reached"
    ]
    if plan.beyond:
        lines.append(f"  newer     {', '.join(plan.beyond)}: settings of the last known release")
    if report.set:
        parts = (
            value if name in value else f"{name}={value}" for name, value in report.set.items()
        )
        lines.append("  set       " + ", ".join(parts))
    if report.kept:
        parts = (f"{each.name}={each.value} (yours)" for each in report.kept)
        lines.append("  kept      " + ", ".join(parts))
    for each in report.refused[:2]:
        lines.append(f"  refused   {each.name}: {each.why}")
    for each in report.undone[:MOST_UNDONE]:
        at = f" at {', called from '.join(each.places)}" if each.places else ", place not seen"
        lines.append(f"  undone    {each.name}={each.value}{at}")
    more = len(report.undone) - MOST_UNDONE
    if more > 0:
        lines.append(f"  undone    {more} more: --format json")
    if report.left:
        lines.append("  left      " + ", ".join(each.name for each in report.left[:4]))
    lines += [f"  unreached {', '.join(report.unreached)}"] if report.unreached else []
    lines.append("  not seen  ops that the program calls (d9m trace --level op records them)")
    return printable("\n".join(lines[:12])) + "\n"


def as_github(report: RunReport) -> str:
    """Return one annotation for each setting that was undone, then the text."""
    lines: list[str] = []
    for each in report.undone:
        file, _colon, line = (each.places[-1] if each.places else "").rpartition(":")
        where = f" file={file},line={line}" if file else ""
        lines.append(f"::warning{where}::d9m run: {each.name}={each.value} undoes what was set\n")
    return printable("".join(lines)) + as_text(report)
