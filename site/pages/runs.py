"""Measured runs: what d9m check saw on named hardware."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from d9m.kb.store import KnowledgeBase
from d9m.model.runs import Observation, Run
from pages import layout


class Measured(msgspec.Struct, frozen=True):
    """An observation, and the run that made it."""

    id: str
    run: Run
    seen: Observation


def pages(kb: KnowledgeBase) -> Iterator[tuple[str, str]]:
    runs = _every(kb)
    title = "Measured runs"
    description = (
        "What was run on named hardware, with and without the advised settings, and what varied."
    )
    yield layout.page(kb, "runs/index.md", "runs.md", title, description, runs=runs)
    for id_, run in runs:
        yield layout.record_page(
            kb,
            "runs",
            id_,
            "run.md",
            f"Run {id_}",
            (
                f"{len(run.observations)} probes on {hardware(run)}: which ops varied, and what "
                "the "
                "advised settings did."
            ),
            run=run,
            hardware=hardware(run),
            varied=[each for each in run.observations if varies(each)],
            same=[each for each in run.observations if not varies(each)],
        )


def _every(kb: KnowledgeBase) -> list[tuple[str, Run]]:
    return list(kb.runs.items())


def newest(kb: KnowledgeBase) -> tuple[str, Run] | None:
    """The run of the last day on which anything was measured."""
    return max(_every(kb), key=lambda each: (each[1].date, len(each[1].observations)), default=None)


def of_source(kb: KnowledgeBase, id_: str) -> list[Measured]:
    """Every observation of a source, newest run first."""
    return kb.once("observations", lambda: _by_source(kb)).get(id_, [])


def _by_source(kb: KnowledgeBase) -> dict[str, list[Measured]]:
    found: dict[str, list[Measured]] = {}
    for id_, run in sorted(_every(kb), key=lambda each: each[1].date, reverse=True):
        for seen in run.observations:
            if seen.source is not None:
                found.setdefault(seen.source, []).append(Measured(id_, run, seen))
    return found


def varies(seen: Observation) -> bool:
    """Whether anything was other than equal bits."""
    return seen.verdict != "no-difference-seen"


def hardware(run: Run) -> str:
    gpus = ", ".join(dict.fromkeys(each.name for each in run.gpus))
    return gpus if gpus and run.device != "cpu" else f"{run.cpu}, {run.threads} cores"
