"""Figures of `d9m check --quick` with PyTorch on this CPU: how many probes, how long, how much of
it inside ops.

    python tests/benchmarks/prober.py [RUNS]

With RUNS, also how often each op that must vary was found, and how often anything was seen that
cannot be. The time limit holds for an idle machine with two cores."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
sys.path += [str(ROOT / "tests" / "emitted"), str(ROOT / "resolver")]

import environments  # noqa: E402

from d9m.check.plan import catalogue  # noqa: E402

VARY = (
    "index-put-accumulate",
    "index-put",
    "put",
    "put-accumulate",
    "index-copy",
    "getitem-backward",
    "take-backward",
    "empty",
)
"""What PyTorch 2.13 does on a CPU with eight threads, in each of 20 runs."""


def quick(python: str, *more: str) -> dict[str, Any]:
    known = {name: os.environ[name] for name in ("PATH", "HOME", "TMPDIR") if name in os.environ}
    variables = {**known, "PYTHONPATH": os.pathsep.join(sys.path), "D9M_KB": str(ROOT / "kb")}
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "report.json"
        command = [
            sys.executable,
            "-m",
            "d9m",
            "check",
            "--quick",
            "--framework",
            "torch",
            "--python",
            python,
            *more,
        ]
        subprocess.run(
            [*command, "--format", "json", "-o", str(out)], env=variables, stderr=subprocess.DEVNULL
        )
        return json.loads(out.read_bytes())


def figures(report: dict[str, Any]) -> str:
    spent = report["worker_seconds"]
    outside = 1 - spent["ops"] / (spent["imports"] + spent["probes"])
    imports = spent["imports"] / (spent["imports"] + spent["probes"])
    arms = ", ".join(sorted({name for each in report["probes"] for name in each["arms"]}))
    return (
        f"{len(report['probes'])} probes (40 or more), arms {arms}\n"
        f"{report['seconds']:.0f} s (60 or less)\n"
        f"{outside:.0%} of the workers' time is outside ops (30 % or less), {imports:.0%} is "
        "imports"
    )


def repeated(python: str, runs: int) -> str:
    """Finds and false alarms over several runs: controls and advised arms must never vary."""
    found: Counter[str] = Counter()
    alarms: Counter[str] = Counter()
    for _ in range(runs):
        for each in quick(python)["probes"]:
            name = each["id"].partition("/")[2]
            found[name] += name in VARY and each["arms"]["default"]["distinct"] > 1
            advised = each["arms"].get("advised")
            alarms[name] += each["proofs"]["control"] is False or bool(
                advised and advised["distinct"] > 1
            )
    missed = {name: runs - found[name] for name in VARY if found[name] < runs}
    wrong = {name: count for name, count in alarms.items() if count}
    return f"{runs} runs: missed {missed or 'nothing'}; false alarms: {wrong or 'none'}"


def main() -> None:
    torch = next(each for each in environments.FRAMEWORKS if each.name == "torch-2.13.0")
    if not torch.stands:
        sys.exit(f"{torch.name} is not here; to have it: {torch.how}")
    catalogued = {each.id.partition("/")[2] for each in catalogue.probes("torch")}
    assert catalogued >= set(VARY), set(VARY) - catalogued
    print(figures(quick(str(torch.interpreter))))
    if len(sys.argv) > 1:
        print(repeated(str(torch.interpreter), int(sys.argv[1])))


if __name__ == "__main__":
    main()
