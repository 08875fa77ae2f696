"""Measure all that d9m wants to know of a GPU, in the minutes for which somebody lends one.

    python tests/gpu --minutes 25 --out results

Needs d9m (its wheel and few dependencies) and torch, jax or both; no network. The most valuable
steps come first, each is written when it is done, and the same command goes on where it stopped.
What is in results/runs and results/digests belongs into kb/evidence. On a machine without a GPU:
`--device cpu`, to rehearse."""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from types import FrameType
from typing import NoReturn

import msgspec
from loan_results import publish, unstable, write
from loan_steps import LoanStep, steps
from single_settings import single

import d9m
from d9m.check import examine
from d9m.check.examine import CheckRequest
from d9m.check.plan.selection import ProbeWish
from d9m.check.progress import Progress, duration
from d9m.check.report import Report
from d9m.check.workers import launch
from d9m.check.workers.look import Machine, look
from d9m.environment.environment import describe
from d9m.errors import D9mError

LEAST = 45.0
"""Seconds that a step needs to say anything; with fewer left none begins."""

RESERVE = 10.0
"""Seconds to end workers and write files."""

ALONE = 45.0
"""Seconds that the ranks of a collective may take: a tenth of a longer loan."""


class Loan:
    """A machine, and the moment at which it goes back."""

    def __init__(self, options: argparse.Namespace) -> None:
        self.until = time.monotonic() + 60.0 * options.minutes
        self.out = Path(options.out)
        self.kb = d9m.open_knowledge_base()
        self.launcher = launch.interpreter(options.python)
        self.machine: Machine = look(self.kb, self.launcher)
        self.device: str = options.device or self.machine.asked.device or "cpu"
        self.frameworks = [
            name
            for name in examine.frameworks(self.kb, self.machine, options.framework)
            if name in ("torch", "jax")
        ]
        self.only: list[str] = options.ops
        self.reports: dict[str, list[Report]] = {name: [] for name in self.frameworks}

    @property
    def left(self) -> float:
        return self.until - RESERVE - time.monotonic()

    def perform(self, step: LoanStep) -> None:
        """One step, unless its file is there already."""
        file = self.out / "steps" / f"{step.name}.json"
        if not step.probes:
            if not file.exists() and self.left > 2 * ALONE:
                write(file, self._collectives())
            return
        report = _finished(file)
        if report is None and self.left > LEAST:
            report = self._examined(step)
            write(file, report)
        if report is not None:
            self.reports[step.framework].append(report)

    def _examined(self, step: LoanStep) -> Report:
        """As much of it as there is time for; what was seen by then is kept."""
        asked = msgspec.structs.replace(self.machine.asked, device=self.device)
        environment = describe(self.kb, asked)
        question = CheckRequest(
            self.launcher,
            self.device,
            [step.framework],
            ProbeWish(step.probes),
            step.effort,
            limit=30.0,
            more=single(self.kb, environment, step.framework) if step.prices else (),
        )
        progress = Progress()
        signal.setitimer(signal.ITIMER_REAL, self.left)
        try:
            return examine.examine(
                self.kb, question, self.machine, lambda text: progress(f"{step.name}: {text}")
            )
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            progress.end()

    def _collectives(self) -> list[object]:
        """One rank alone, then two on one GPU, which NCCL may refuse."""
        backend = "nccl" if self.device == "cuda" else "gloo"
        longest = max(ALONE, self.left / 10)
        return [_ranks(self.launcher.command[0], size, backend, longest) for size in (1, 2)]

    def publish(self) -> list[Path]:
        """Write the files for kb/evidence, after every step."""
        return [
            file
            for framework, reports in self.reports.items()
            if reports
            for file in publish(self.out, framework, reports)
        ]


def _finished(file: Path) -> Report | None:
    """The report of a step that is done; None for one that was cut short."""
    try:
        report = msgspec.json.decode(file.read_bytes(), type=Report)
    except (OSError, msgspec.DecodeError):
        return None
    return None if report.interrupted else report


def _ranks(python: str, size: int, backend: str, longest: float) -> list[object]:
    """What each rank says; a rank that hangs is ended."""
    program = str(Path(__file__).with_name("nccl.py"))
    with tempfile.TemporaryDirectory() as folder:
        meeting, until = os.path.join(folder, "meeting"), time.monotonic() + longest
        started = [
            subprocess.Popen(
                [python, program, str(rank), str(size), meeting, backend],
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                text=True,
            )
            for rank in range(size)
        ]
        found: list[object] = []
        for rank, child in enumerate(started):
            try:
                left = max(0.0, until - time.monotonic())
                said = child.communicate(timeout=left)[0].strip().splitlines()
                found.append(json.loads(said[-1]))
            except (subprocess.TimeoutExpired, ValueError, IndexError) as error:
                child.kill()
                child.wait()
                found.append({"rank": rank, "size": size, "failed": type(error).__name__})
    return found


def _interrupt(_number: int, _frame: FrameType | None) -> NoReturn:
    raise KeyboardInterrupt


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python tests/gpu", description=(__doc__ or "").partition("\n")[0]
    )
    parser.add_argument("--minutes", type=float, default=25.0, help="until the machine goes back")
    parser.add_argument("--out", default="results", metavar="FOLDER")
    parser.add_argument("--device", choices=("cuda", "rocm", "cpu"))
    parser.add_argument("--framework", action="append", default=[], help="torch, jax; may repeat")
    parser.add_argument("--python", default=sys.executable, metavar="PATH")
    parser.add_argument("--ops", action="append", default=[], metavar="ID", help="only this probe")
    return parser.parse_args()


def main() -> int:
    for number in (signal.SIGTERM, signal.SIGALRM):
        signal.signal(number, _interrupt)
    options = _options()
    try:
        loan = Loan(options)
    except D9mError as error:
        print(error.text(), file=sys.stderr)
        return int(error.exit_code)
    files: list[Path] = []
    cut = False
    for step in steps(loan.frameworks, loan.device, loan.only):
        try:
            loan.perform(step)
        except KeyboardInterrupt:
            cut = True
        except D9mError as error:
            print(f"{step.name}: {error.text()}", file=sys.stderr)
        interrupted = any(each.interrupted for own in loan.reports.values() for each in own)
        files = loan.publish()
        print(f"{step.name}: {duration(max(0.0, loan.left))} left", file=sys.stderr)
        if cut or interrupted or loan.left <= LEAST:
            break
    for framework, reports in loan.reports.items():
        for name in unstable(reports):
            print(f"{framework}: {name} has other bits in another step", file=sys.stderr)
    print("\n".join(map(str, files)))
    return 0 if files else 4


if __name__ == "__main__":
    sys.exit(main())
