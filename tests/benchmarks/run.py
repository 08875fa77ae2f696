"""How long d9m takes, as one table of figures measured in one run.

    python tests/benchmarks/run.py            # minutes
    python tests/benchmarks/run.py --brief    # seconds: builds no site, asks few questions

All times are CPU times, which a busy machine changes least. What starts a process is
measured on a wheel, installed as a user installs it, and alternates with what it is
compared to; each figure is a median.
"""

from __future__ import annotations

import argparse
import gc
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

TESTS = Path(__file__).parents[1]
sys.path[:0] = [str(TESTS / "packaging"), str(Path(__file__).parent)]

import site_figures  # noqa: E402 - lies beside this script
import synthetic  # noqa: E402 - lies beside this script
from installations import Installation, installed, wheel_from_tree  # noqa: E402 - lies with the tests that own it

from d9m.environment.environment import Setup, describe  # noqa: E402
from d9m.errors import UsageError  # noqa: E402
from d9m.kb import compiled, locate  # noqa: E402
from d9m.kb.store import KnowledgeBase  # noqa: E402
from d9m.model import op_syntax  # noqa: E402
from d9m.resolve import op_lookup  # noqa: E402
from d9m.resolve.resolver import resolve  # noqa: E402

STARTS = 31
"""Process starts of each kind: their times vary by a tenth, the median of so many by a hundredth.
"""
FEW, MANY = 300, 30_000
"""Records of the two synthetic knowledge bases."""


@dataclass(frozen=True)
class Figure:
    what: str
    value: float
    unit: str
    most: float | None = None
    """The target; None: told for comparison."""

    def row(self) -> str:
        digits = 2 if self.value < 100 else 0
        target = "" if self.most is None else f"<= {self.most:g} {self.unit}"
        verdict = "" if self.most is None else "reached" if self.value <= self.most else "MISSED"
        return (
            f"{self.what:<62} {self.value:>9,.{digits}f} {self.unit:<3} {target:<10} {verdict}"
        ).rstrip()


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--brief", action="store_true", help="only what takes seconds")
    brief = parser.parse_args().brief
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        wheel = wheel_from_tree(folder / "wheel")
        installation = installed(wheel, folder / "environment")
        (found,) = folder.glob("environment/lib/python3*/site-packages/d9m/_kb/" + compiled.FILE)
        print(f"Python {sys.version.split()[0]}, {os.cpu_count()} CPUs, medians of CPU time\n")
        figures = [
            *cold(installation, folder),
            *size(installation, folder),
            *warm(compiled.read(str(found))),
            Figure("wheel", wheel.stat().st_size / 1e6, "MB", 2),
        ]
        if not brief:
            figures += [*everything(compiled.read(str(found))), *site(folder)]
    print("\n".join(each.row() for each in figures))


def site(folder: Path) -> Iterator[Figure]:
    """What the site costs, where it can be built."""
    if find_spec("material") is None:
        return
    kb = locate.from_yaml(TESTS.parent / "kb")
    for each in (
        *site_figures.share(kb, folder),
        *site_figures.linear(folder),
        *site_figures.advisor(folder),
    ):
        yield Figure(*each)


def cold(installation: Installation, folder: Path) -> Iterator[Figure]:
    """A question to a new process, over a Python that does nothing."""
    question = [*installation.command, "advise", "--tf", "2.0", "--ops", "conv,bias_add"]
    nothing = [str(installation.environment / "bin" / "python"), "-c", "pass"]
    ours, bare = _medians(lambda: _cpu(question, folder), lambda: _cpu(nothing, folder))
    yield Figure("cold: d9m advise --tf 2.0 --ops conv,bias_add", ours * 1e3, "ms")
    yield Figure("cold: python -c pass", bare * 1e3, "ms")
    yield Figure("cold: the first over the second", ours / bare, "x", 7)


def size(installation: Installation, folder: Path) -> Iterator[Figure]:
    """The same question to a large knowledge base, over a small one."""
    for records in (FEW, MANY):
        synthetic.write(records, folder / f"{records}.d9m")
    question = [
        *installation.command,
        "advise",
        "--tf",
        "2.0",
        "--ops",
        f"{synthetic.op(1)},{synthetic.op(2)}",
    ]
    many, few = _medians(
        lambda: _cpu(question, folder, D9M_KB=str(folder / f"{MANY}.d9m")),
        lambda: _cpu(question, folder, D9M_KB=str(folder / f"{FEW}.d9m")),
    )
    yield Figure(f"cold: {MANY} records over {FEW}, all of one framework", many / few, "x", 1.2)


def warm(kb: KnowledgeBase) -> Iterator[Figure]:
    """Twenty ops that meet a source, in a knowledge base that has answered before."""
    for package, version in (("tensorflow", "2.0"), ("torch", "2.4")):
        environment = describe(kb, Setup(((package, version),)))
        items = op_lookup.everything(kb, environment)[:20]
        resolve(kb, environment, items)
        times = [_seconds(lambda: resolve(kb, environment, items)) for _ in range(300)]  # noqa: B023 - called at once
        yield Figure(
            f"loaded: {len(items)} ops in {package} {version}",
            statistics.median(times) * 1e3,
            "ms",
            1,
        )


def everything(kb: KnowledgeBase) -> Iterator[Figure]:
    """Every op in every release that has it, then every name that leads to one."""
    for what, catalogued, most in (
        ("op", True, 10.0),
        ("op and every name that leads to one", False, None),
    ):
        answers = 0
        start = time.process_time()
        for package in kb.meta.prefixes:
            asked = _queries(kb, package, catalogued)
            for release in kb.releases(package):
                environment = describe(kb, Setup(((package, release),)))
                items = [item for each in asked for item in _found(kb, environment, each)]
                resolve(kb, environment, items)
                answers += len(items)
        seconds = time.process_time() - start
        yield Figure(
            f"loaded: every release x every {what} ({answers} answers)", seconds, "s", most
        )


def _queries(kb: KnowledgeBase, package: str, catalogued: bool) -> list[op_syntax.Query]:
    places = (place for place in kb.ops if place.startswith(f"{package}:"))
    entries = (kb.ops[place] for place in places)
    return [op_syntax.parse(entry.name) for entry in entries if entry.catalogued or not catalogued]


def _found(
    kb: KnowledgeBase, environment: object, asked: op_syntax.Query
) -> list[op_lookup.OpItem]:
    try:
        return [op_lookup.find(kb, environment, asked)]  # type: ignore[arg-type]
    except UsageError:  # this release lacks it
        return []


def _medians(first: Callable[[], float], second: Callable[[], float]) -> tuple[float, float]:
    """Of two that alternate, so that a slow moment of the machine meets both."""
    first(), second()
    pairs = [(first(), second()) for _ in range(STARTS)]
    return statistics.median(one for one, _other in pairs), statistics.median(
        other for _one, other in pairs
    )


def _cpu(command: list[str], folder: Path, **variables: str) -> float:
    """CPU seconds of a process that answers."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    bare = {"PATH": os.defpath, "LANG": "C.UTF-8", **variables}
    subprocess.run(command, stdout=subprocess.DEVNULL, cwd=folder, env=bare, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def _seconds(call: Callable[[], object]) -> float:
    gc.disable()
    start = time.process_time()
    call()
    seconds = time.process_time() - start
    gc.enable()
    return seconds


if __name__ == "__main__":
    main()
