"""What comparing two recordings costs: `python tests/benchmarks/trace_diff.py [RECORDS]`.

Two recordings of so many ops (a million), made by hand: equal ones, which are compared as bytes,
and ones that differ from the first op on, where every record is decoded and followed. Prints
processor time, time a record and the largest memory of a process of its own."""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from d9m.trace.inject._d9m_recorder.core import seals

OPS_IN_A_STEP = 1000
SITES = 50
HEADER = {"d9m_trace": seals.FORMAT, "level": "op", "digest": "xxh3-64", "argv": ["train.py"]}


def write(run: Path, records: int, seed: int) -> None:
    """A recording in which every op reads what the op before it wrote."""
    run.mkdir()
    about = {
        "d9m_run": seals.FORMAT,
        "command": ["train.py"],
        "folder": "",
        "level": "op",
        "started": "",
    }
    (run / "run.json").write_bytes(seals.document(json.dumps(about)))
    with open(run / "r0-0.d9m", "wb") as file:
        add = lambda line: file.write(seals.line(line))  # noqa: E731
        add(json.dumps(HEADER))
        for site in range(SITES):
            shapes = '["float32[64, 256]","float32[64, 256]"]'
            place = '["train.py",6,"forward"]'
            add(f'["S",{site},"aten::op{site}","","fwd","","Net.block",{place},{shapes},"cpu"]')
        for number in range(records):
            read, wrote = f"{number + seed:016x}.{number}", f"{number + seed + 1:016x}.{number + 1}"
            add(f'["o",{number % SITES},"alpha=1",["{read}","00aa.0"],["{wrote}"]]')
            if number % OPS_IN_A_STEP == OPS_IN_A_STEP - 1:
                add(f'["d",{number // OPS_IN_A_STEP},{{"torch":"aa"}}]')
        add('{"ended":"exit"}')


def measure(a: Path, b: Path) -> tuple[float, float]:
    """Seconds of the processor, and MB at most; in a process of its own."""
    code = (
        "import sys; from pathlib import Path; sys.path.insert(0, sys.argv[1])\n"
        "import trace_diff; trace_diff.compare_here(Path(sys.argv[2]), Path(sys.argv[3]))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(Path(__file__).parent), str(a), str(b)],
        capture_output=True,
        text=True,
        check=True,
    )
    seconds, memory = done.stdout.split()
    return float(seconds), float(memory)


def compare_here(a: Path, b: Path) -> None:
    from d9m.trace.comparison import Wanted, compare

    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    began = time.process_time()
    compare(a, b, "", Wanted())
    spent = time.process_time() - began
    print(spent, (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("records", type=int, nargs="?", default=1_000_000)
    records = parser.parse_args().records
    with tempfile.TemporaryDirectory() as folder:
        for name, seed in (("a", 0), ("same", 0), ("other", 1 << 40)):
            write(Path(folder) / name, records, seed)
        print(f"{'':16} seconds  µs a record  MB more at most")
        for label, other in (("equal", "same"), ("all different", "other")):
            seconds, memory = measure(Path(folder) / "a", Path(folder) / other)
            print(f"{label:16} {seconds:7.2f} {seconds / records * 1e6:12.2f} {memory:16.1f}")


if __name__ == "__main__":
    main()
