"""Report on a plan in the processes of a program: its text, its JSON and its exit code."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

import msgspec

from d9m.about import SCHEMA_VERSION
from d9m.errors import printable
from d9m.exit_codes import CommandResult, exit_code
from d9m.model.advice import Tool
from d9m.run.plan import RunPlan, SettingNote

_Change: TypeAlias = tuple[str, str | None, tuple[str, ...], bool]
"""Name, value, places, and whether the process started with it."""

NONE_REACHED = (
    "no Python process of the program: python -E, -I and -S, env -i, sudo and containers drop what "
    "d9m sets, Python before 3.5 is too old, and a program that starts no Python has none"
)

NOT_PLANNED = "imported by a Python that was not looked at; name that Python in the command"

MOST_UNDONE = 3
"""Changes that the text shows; JSON has all."""


class Undone(msgspec.Struct, frozen=True):
    """A setting that the program changed to a value that undoes it."""

    name: str
    value: str | None
    places: list[str]
    """File and line: the nearest frame, then the nearest of the program, if that is another."""
    at_start: bool
    """Whether the process had that value when it started: the command replaced what was set."""
    processes: int


class ReachedProcess(msgspec.Struct, frozen=True):
    pid: int
    python: str
    rank: str | None
    ended: bool
    """Whether its end was seen, or its parent ended it; not where it was killed, or left by
    os._exit.
    """
    frameworks: list[str]
    error: str | None = None


class ProgramRun(msgspec.Struct, frozen=True):
    """One run of a program, at its end."""

    code: int
    """As a shell reports it."""
    notes: list[list[dict[str, Any]]]
    """Of each process that was reached."""


class RefusedOp(msgspec.Struct, frozen=True):
    """The op whose error ended a process."""

    ops: list[str]
    """Names of it; empty where the error is of no one op."""
    place: str | None
    error: str
    record: str
    """Its name for `d9m show`."""
    workaround: str


class SecondRun(msgspec.Struct, frozen=True):
    """The comparison of two runs, step by step: data, loss, gradients, parameters, outputs."""

    equal: bool | None
    """Null: they could not be compared."""
    complete: bool
    """Whether all that both runs did was compared."""
    verdict: str
    first_step: int | None = None
    """The first step that differs."""
    program_exit: int | None = None
    """Of the second run; null: it was not started."""

    @property
    def is_bad(self) -> bool:
        return not (self.equal and self.complete)


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
    refused_op: RefusedOp | None = None
    """The op that ended the program."""
    twice: SecondRun | None = None
    """Null: not asked for."""
    started: bool = True
    program_exit: int | None
    exit: int


def report(
    tool: Tool,
    made: RunPlan,
    changes: Mapping[str, str | None],
    run: ProgramRun,
    *,
    strict: bool = False,
    refused: RefusedOp | None = None,
    warned: Sequence[SettingNote] = (),
    twice: SecondRun | None = None,
) -> RunReport:
    lines = [line for process in run.notes for line in process]
    imported = {line["module"] for line in lines if line["kind"] == "imported"}
    imported.update(name for line in lines for name in line.get("imports") or ())
    was_set = {name: "absent" if value is None else value for name, value in changes.items()}
    done = {line["name"] for line in lines if line["kind"] == "set"}
    was_set |= {each.name: each.lines[-1] for each in made.statements if each.name in done}
    failed = {
        line["name"]: SettingNote(line["name"], line["why"])
        for line in lines
        if line["kind"] == "failed"
    }
    found = RunReport(
        d9m=tool,
        planned=made,
        set=was_set if run.notes else {},
        kept=[*made.kept, *_replaced(lines)],
        refused=[each for each in made.refused if each.module in {None, *imported}]
        + list(failed.values()),
        undone=_undone(made, run.notes),
        left=[
            *(each for each in made.left if each.module is None or each.module in imported),
            *(SettingNote(name, NOT_PLANNED) for name in sorted(imported & {*made.unplanned})),
            *warned,
        ],
        unreached=_unreached(run.notes),
        processes=_processes(run.notes),
        refused_op=refused,
        twice=twice,
        program_exit=run.code,
        exit=run.code,
    )
    return found if run.code else msgspec.structs.replace(found, exit=_exit(found, strict))


def _exit(found: RunReport, strict: bool) -> int:
    """Return the exit code in place of the program's 0."""
    is_bad = bool(found.undone or found.left or found.refused or found.planned.undoing) or not all(
        each.ended for each in found.processes
    )
    is_bad = is_bad or (found.twice is not None and found.twice.is_bad)
    result = CommandResult(did_nothing=bool(found.unreached), has_findings=strict and is_bad)
    return int(exit_code(result))


def _replaced(lines: Iterable[Mapping[str, Any]]) -> list[SettingNote]:
    """Values that the command gave its processes and that will do."""
    notes = (
        SettingNote(line["name"], "of the command", line["value"])
        for line in lines
        if line["kind"] == "changed" and line["places"] is None and line["expected"]
    )
    return list(dict.fromkeys(notes))


def _undone(made: RunPlan, notes: Sequence[Sequence[Mapping[str, Any]]]) -> list[Undone]:
    planned = {each.name for each in made.statements} | {each.name for each in made.variables}
    counts: Counter[_Change] = Counter()
    for lines in notes:
        seen: dict[_Change, None] = {}  # a set would list them in another order in each run
        for line in lines:
            if line["kind"] == "changed" and not line["expected"]:
                places = line["places"]
                named = tuple(f"{file}:{number}" for file, number in places or ())
                seen[line["name"], line["value"], named, places is None] = None
            elif line["kind"] == "end":
                known = {each[0] for each in seen}
                for name, value in line["values"].items():
                    if name not in known:
                        seen[name, value, (), False] = None
        counts.update(each for each in seen if each[0].partition("(")[0] in planned)
    return [
        Undone(name, value, list(places), at_start, count)
        for (name, value, places, at_start), count in counts.items()
    ]


def _unreached(notes: Sequence[Sequence[Mapping[str, Any]]]) -> list[str]:
    """No process at all, or ranks of this machine that the others count and that noted nothing."""
    if not notes:
        return [NONE_REACHED]
    ranks = [lines[0].get("ranks", {}) for lines in notes]
    numbers = {each["LOCAL_RANK"] for each in ranks if "LOCAL_RANK" in each}
    sizes = [each["LOCAL_WORLD_SIZE"] for each in ranks if "LOCAL_WORLD_SIZE" in each]
    most = max((int(each) for each in sizes if each.isdigit()), default=0)
    return [f"local rank {number}" for number in range(most) if str(number) not in numbers]


def _processes(notes: Iterable[Sequence[Mapping[str, Any]]]) -> list[ReachedProcess]:
    found: dict[int, ReachedProcess] = {}
    terminated = {
        line["process"] for lines in notes for line in lines if line["kind"] == "terminated"
    }
    for lines in notes:
        first = lines[0]
        end = next((line for line in lines if line["kind"] == "end"), None)
        found[first["pid"]] = ReachedProcess(
            first["pid"], first["python"], first.get("ranks", {}).get("RANK"),
            end is not None or first["pid"] in terminated,
            [line["module"] for line in lines if line["kind"] == "imported"],
            end["error"] if end else None,
        )  # fmt: skip
    return list(found.values())


def as_text(report: RunReport, title: str = "d9m run", missing: Sequence[SettingNote] = ()) -> str:
    """Return at most 12 lines for a person. Of settings that are `missing` here, it is too late."""
    lines = [*_head(report, title), *_settings(report)]
    lines += [f"  missing   {each.name}: {each.why}" for each in missing]
    if report.left:
        notes = (f"{each.name} ({each.why})" for each in report.left[:4])
        lines.append("  left      " + ", ".join(notes))
    if report.unreached:
        lines.append(f"  unreached {', '.join(report.unreached)}")
    killed = [str(each.pid) for each in report.processes if not each.ended]
    if killed:
        what = "killed, left by os._exit or still running; its last changes were not seen"
        lines.append(f"  no end    process {', '.join(killed[:4])}: {what}")
    if report.twice is not None:
        start = "equal in 2 of 2 runs: " if report.twice.equal else ""
        end = "" if report.twice.equal is not False else " d9m hunt finds the op."
        lines.append(f"  twice     {start}{report.twice.verdict}{end}")
    if report.twice is None or report.twice.equal is None:
        lines.append("  not seen  ops that the program calls (d9m trace --level op records them)")
    return printable("\n".join(lines[:12])) + "\n"


def _head(report: RunReport, title: str) -> Iterator[str]:
    """Yield the op that ended the program, then the packages and processes."""
    refused = report.refused_op
    if refused is not None:
        what = " or ".join(refused.ops) or refused.error
        at = f" at {refused.place}" if refused.place else ""
        advice = " ".join(refused.workaround.split())
        yield f"{title}: ended by a refused op{at}: {what}. Workaround: {advice}"
    plan = report.planned
    known = [f"{name} {version}" for name, version in plan.packages.items() if version != "any"]
    names = " · ".join(known[:3])
    count = len(report.processes)
    yield (
        f"{title}: {names or 'no framework'} · {plan.device} · {count} "
        f"process{'es' * (count != 1)} reached"
    )
    if plan.beyond:
        yield f"  newer     {', '.join(plan.beyond)}: settings of the last known release"


def _settings(report: RunReport) -> Iterator[str]:
    if report.set:
        statements = {each.name for each in report.planned.statements}
        items = report.set.items()
        parts = (value if name in statements else f"{name}={value}" for name, value in items)
        yield "  set       " + ", ".join(parts)
    if report.kept:
        parts = (f"{each.name}={each.value} ({each.why})" for each in report.kept)
        yield "  kept      " + ", ".join(parts)
    for each in report.refused[:2]:
        yield f"  refused   {each.name}: {each.why}"
    for each in report.undone[:MOST_UNDONE]:
        at = " before Python started" if each.at_start else ", place not seen"
        if each.places:
            at = f" at {', called from '.join(each.places)}"
        yield f"  undone    {_value(each)}{at}"
    more = len(report.undone) - MOST_UNDONE
    if more > 0:
        yield f"  undone    {more} more: --format json"


def _value(each: Undone) -> str:
    return f"{each.name} removed" if each.value is None else f"{each.name}={each.value}"


def as_github(report: RunReport) -> str:
    """Return one annotation for each setting that was undone, then the text."""
    lines: list[str] = []
    for each in report.undone:
        file, _colon, line = (each.places[-1] if each.places else "").rpartition(":")
        where = f" file={file},line={line}" if file else ""
        lines.append(f"::warning{where}::d9m run: {_value(each)} undoes what was set\n")
    return printable("".join(lines)) + as_text(report)
