"""How long d9m scan takes, as CPU times of one core and as ratios to Python's own parser.

    python tests/benchmarks/scan_speed.py [LINES]      # default: a million

The files are those of the standard library that runs this, as often as it takes; the records are
compiled, as in a wheel. Parsing and
reading take turns, file by file, so that a busy machine slows both alike: read the ratios first.
Nothing is asserted here.
"""

from __future__ import annotations

import ast
import os
import resource
import subprocess
import sys
import sysconfig
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from d9m.kb import compiled
from d9m.kb.locate import open_knowledge_base
from d9m.scan.vocabulary import Vocabulary
from d9m.scan.workers import read_chunk

SCAN = (sys.executable, "-m", "d9m", "scan", "--jobs", "1")
CHUNK = 40


def library() -> list[Path]:
    """The files of the standard library without its tests, in order of path."""
    root = Path(sysconfig.get_path("stdlib"))
    found = [path for path in sorted(root.rglob("*.py")) if "site-packages" not in path.parts]
    return [path for path in found if "test" not in str(path.relative_to(root))]


def lines_of(paths: Sequence[Path]) -> int:
    return sum(path.read_bytes().count(b"\n") for path in paths)


def reading(paths: Sequence[Path]) -> tuple[float, float]:
    """Seconds that Python's parser and the scan take for the same files."""
    vocabulary = Vocabulary(open_knowledge_base())
    read_chunk(vocabulary, "/", [(str(paths[0]), "python")])
    parsing = scanning = 0.0
    for at in range(0, len(paths), CHUNK):
        chunk = paths[at : at + CHUNK]
        start = time.process_time()
        for path in chunk:
            ast.parse(path.read_bytes())
        middle = time.process_time()
        read_chunk(vocabulary, "/", [(str(path), "python") for path in chunk])
        parsing += middle - start
        scanning += time.process_time() - middle
    return parsing, scanning


def copied(paths: Sequence[Path], folder: Path, files: int = 0, lines: int = 0) -> tuple[int, int]:
    """Copy files until there are so many, or so many lines; how many of each."""
    made = counted = 0
    while made < files or counted < lines:
        path = paths[made % len(paths)]
        data = path.read_bytes()
        target = folder / f"{made // 100}" / f"file{made}.py"
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data)
        made, counted = made + 1, counted + data.count(b"\n")
    return made, counted


def shared(paths: Sequence[Path], folder: Path, files: int, programs: int) -> None:
    """Write programs that all reach the same library, as the examples of a framework do."""
    library = folder / "library"
    library.mkdir(parents=True)
    for number, path in enumerate(paths[:files]):
        (library / f"file{number}.py").write_bytes(path.read_bytes())
    names = ", ".join(f"file{number}" for number in range(files))
    (library / "__init__.py").write_text(f"from . import {names}\n")
    for number in range(programs):
        text = f"import library\nprint({number})\nlibrary.file0.run().backward()\n"
        (folder / f"train{number}.py").write_text(text)


def child(command: Sequence[str], folder: Path) -> tuple[float, float]:
    """CPU seconds of a process, and the most memory that any child has held, in GB."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    records = {**os.environ, "D9M_KB": str(folder.parent / compiled.FILE)}
    records.pop("PYTHONDONTWRITEBYTECODE", None)  # an installed d9m has its bytecode
    subprocess.run(command, cwd=folder, stdout=subprocess.DEVNULL, check=False, env=records)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return spent, after.ru_maxrss * (1 if sys.platform == "darwin" else 1024) / 1e9


def main() -> None:
    wanted = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
    paths = library()
    print(f"Python {sys.version.split()[0]}, {os.cpu_count()} CPUs, CPU time of one core\n")
    parsing, scanning = reading(paths)
    lines = lines_of(paths)
    print(f"reading {len(paths)} files, {lines:,} lines: {scanning:.2f} s")
    print(f"  {lines / scanning:,.0f} lines/s (wanted: 60,000)")
    print(f"  {scanning / parsing:.2f} times as long as ast.parse")
    with tempfile.TemporaryDirectory() as name:
        compiled.write(open_knowledge_base(), Path(name, compiled.FILE))
        few = Path(name, "few")
        copied(paths, few, files=100)
        child((*SCAN, "--no-cache"), few)
        bare, _memory = child((sys.executable, "-c", "pass"), few)
        cold, _memory = child((*SCAN, "--no-cache"), few)
        print(
            f"100 files, cold: {cold:.2f} s (wanted: 0.5), {cold / bare:.0f} times python -c pass"
        )
        many = Path(name, "many")
        copied(paths, many, files=3000)
        first, _memory = child(SCAN, many)
        again, _memory = child(SCAN, many)
        print(f"3,000 files: {first:.1f} s; unchanged, from the cache: {again:.2f} s (wanted: 1)")
        large = Path(name, "large")
        made, counted = copied(paths, large, lines=wanted)
        spent, memory = child((*SCAN, "--no-cache"), large)
        print(f"{made:,} files, {counted:,} lines: {spent:.0f} s, {counted / spent:,.0f} lines/s")
        print(f"  at most {memory:.2f} GB (wanted: 1)")
        for programs in (1, 300):
            folder = Path(name, f"shared{programs}")
            shared(paths, folder, 300, programs)
            spent, memory = child((*SCAN, "--no-cache"), folder)
            print(f"300 files that {programs} programs reach: {spent:.0f} s")


if __name__ == "__main__":
    main()
