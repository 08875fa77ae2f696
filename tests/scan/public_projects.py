"""Scan public projects, and compare what is found with what is written down for their commits.

    python tests/scan/public_projects.py FOLDER            # what is gone, and what is new
    python tests/scan/public_projects.py FOLDER --write    # write it down

FOLDER holds a checkout `owner+name` of each project that README.md beside this file lists, at the
commit named there. Uses git for the commits; a checkout at another commit is left out, and said so.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

HELD = Path(__file__).with_name("public_findings.json")

Finding = tuple[str, str, str, int]
"""Severity, code, file and line."""


def findings(checkout: Path) -> list[Finding]:
    """Return what a scan of a checkout finds, in order."""
    done = subprocess.run(
        [sys.executable, "-m", "d9m", "scan", "--format", "json", "--no-cache", "."],
        cwd=checkout,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode not in (0, 1, 3):
        sys.exit(f"{checkout.name}: {done.stderr}")
    found = json.loads(done.stdout)["findings"]
    return sorted((each["severity"], each["code"], each["path"], each["line"]) for each in found)


def commit(checkout: Path) -> str:
    command = ["git", "-C", str(checkout), "rev-parse", "HEAD"]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def differences(held: list[Finding], found: list[Finding]) -> Iterator[str]:
    """Name each finding that is gone or new; one whose line moved is both."""
    gone, new = Counter(map(tuple, held)), Counter(map(tuple, found))
    for mark, each in (("gone", gone - new), ("new", new - gone)):
        for severity, code, file, line in sorted(each.elements()):
            yield f"{mark}: {severity} {code} {file}:{line}"


def main(folder: Path, write: bool) -> None:
    held = json.loads(HELD.read_text("utf-8")) if HELD.exists() else {}
    for checkout in sorted(each for each in folder.iterdir() if each.is_dir()):
        name = checkout.name.replace("+", "/", 1)
        at = commit(checkout)
        if not write and held.get(name, {}).get("commit") != at:
            print(f"{name}: nothing is written down for {at}")
            continue
        found = findings(checkout)
        if write:
            held[name] = {"commit": at, "findings": found}
            continue
        for line in differences(held[name]["findings"], found):
            print(f"{name}: {line}")
    if write:
        lines = [f"{json.dumps(name)}: {_rows(one)}" for name, one in sorted(held.items())]
        HELD.write_text("{\n" + ",\n".join(lines) + "\n}\n", "utf-8")


def _rows(one: dict[str, object]) -> str:
    rows = ",\n  ".join(json.dumps(row) for row in one["findings"])  # type: ignore[attr-defined]
    return f'{{"commit": "{one["commit"]}", "findings": [\n  {rows}]}}'


if __name__ == "__main__":
    if len(sys.argv) < 2 or sys.argv[2:] not in ([], ["--write"]):
        sys.exit(__doc__)
    main(Path(sys.argv[1]), "--write" in sys.argv)
