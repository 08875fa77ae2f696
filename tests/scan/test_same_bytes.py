"""The same files give the same answer, whatever the hash seed of the process."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

PROGRAM = """
import hashlib
import msgspec
from scan.projects import scanned
from scan.test_rules import EVERY

every = hashlib.sha256()
for _code, case in EVERY:
    every.update(msgspec.json.encode(scanned(case.files, torch=case.torch)))
print(every.hexdigest())
"""


def test_two_hash_seeds_give_the_same_bytes() -> None:
    running = [
        subprocess.Popen(
            [sys.executable, "-c", PROGRAM],
            stdout=subprocess.PIPE,
            env={
                **os.environ,
                "PYTHONHASHSEED": seed,
                "PYTHONPATH": str(Path(__file__).parents[1]),
            },
        )
        for seed in ("1", "2")
    ]
    first, second = (process.communicate(timeout=300)[0] for process in running)
    assert first == second
    assert len(first) > 60
