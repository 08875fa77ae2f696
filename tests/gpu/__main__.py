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
from loan_results import publish, resumed, unstable, write
from loan_steps import LoanStep, steps
from single_settings import single

import d9m
from d9m.check import examine
from d9m.check.examine import CheckRequest
from d9m.check.plan.selection import ProbeRequest
from d9m.check.progress import Progress, duration
from d9m.check.result import Report
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
        self.steps = steps(self.frameworks, self.device, self.only)
        self.reports = {name: self._before(name) for name in self.frameworks}
        """Framework -> name of a step -> all that is known of it, by earlier loans as well."""

    @property
    def left(self) -> float:
        return self.until - RESERVE - time.monotonic()

    def _before(self, framework: str) -> dict[str, Report]:
        """What earlier loans wrote, also of steps that were cut short."""
        own = [step for step in self.steps if step.framework == framework and step.probes]
        read = {step.name: _report(self._file(step)) for step in own}
        return {name: report for name, report in read.items() if report is not None}

    def _file(self, step: LoanStep) -> Path:
        return self.out / "steps" / f"{step.name}.json"

    def perform(self, step: LoanStep) -> bool:
        """One step, unless it is done already; whether the loan goes on after it."""
        file = self._file(step)
        if not step.probes:
            if not file.exists() and self.left > 2 * ALONE:
                write(file, self._collectives())
            return True
        known = self.reports[step.framework]
        before = known.get(step.name)
        if before is not None and not before.interrupted:
            return True
        if self.left <= LEAST:
            return False
        report = self._examined(step)
        known[step.name] = resumed(before, report)
        write(file, known[step.name])
        return not report.interrupted

    def _examined(self, step: LoanStep) -> Report:
        """As much of it as there is time for; what was seen by then is kept."""
        asked = msgspec.structs.replace(self.machine.asked, device=self.device)
        environment = describe(self.kb, asked)
        question = CheckRequest(
            self.launcher,
            self.device,
            [step.framework],
            ProbeRequest(step.probes),
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
            for file in publish(self.out, framework, list(reports.values()))
        ]


def _report(file: Path) -> Report | None:
    try:
        return msgspec.json.decode(file.read_bytes(), type=Report)
    except (OSError, msgspec.DecodeError):
        return None


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
        try:
            for rank, child in enumerate(started):
                try:
                    left = max(0.0, until - time.monotonic())
                    said = child.communicate(timeout=left)[0].strip().splitlines()
                    found.append(json.loads(said[-1]))
                except (subprocess.TimeoutExpired, ValueError, IndexError) as error:
                    found.append({"rank": rank, "size": size, "failed": type(error).__name__})
        finally:
            for child in started:
                child.kill()
                child.wait()
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
    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGALRM):
        if signal.getsignal(number) != signal.SIG_IGN:  # nohup asks for that
            signal.signal(number, _interrupt)
    options = _options()
    try:
        loan = Loan(options)
    except D9mError as error:
        print(error.text(), file=sys.stderr)
        return int(error.exit_code)
    files: list[Path] = []
    for step in loan.steps:
        goes_on = True
        try:
            goes_on = loan.perform(step)
        except KeyboardInterrupt:
            goes_on = False
        except D9mError as error:
            print(f"{step.name}: {error.text()}", file=sys.stderr)
        files = loan.publish()
        print(f"{step.name}: {duration(max(0.0, loan.left))} left", file=sys.stderr)
        if not goes_on:
            break
    for framework, reports in loan.reports.items():
        for name in unstable(list(reports.values())):
            print(f"{framework}: {name} has other bits in another step", file=sys.stderr)
    print("\n".join(map(str, files)))
    return 0 if files else 4


if __name__ == "__main__":
    sys.exit(main())
