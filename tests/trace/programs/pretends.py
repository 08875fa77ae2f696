"""Writes a recording as a training program would, without a framework: `pretends.py STEPS HOW…`.

HOW is of one run after the other, the last of all later ones: `ends`, `fails`, `waits` (once its
steps are written, until it is ended), `nothing` (fails before it records anything), `other` (ends
with another gradient in its last step).
"""

import json
import os
import sys
import time
import zlib
from pathlib import Path

settings = json.loads(os.environ["D9M_TRACE"])
place = Path(settings["folder"])
count, ways = int(sys.argv[1]), sys.argv[2:]
number = int(place.name.partition("-")[2]) - 1
how = ways[min(number, len(ways) - 1)]
if how == "nothing":
    sys.exit(7)
stop = settings["stop"] if settings["stop"] is not None else count
header = {
    "d9m_trace": 2, "level": settings["level"], "inputs": "exact", "digest": "xxh3-64",
    "steps": [settings["first"], settings["last"]], "argv": ["pretends.py"],
    "packages": {"torch": "2.13.0"}, "device": "cpu", "threads": 1,
}  # fmt: skip
lines = [json.dumps(header)]
for step in range(min(count, stop)):
    bits = "e2" if how == "other" and step == min(count, stop) - 1 else "ee"
    lines += [json.dumps(["g", bits, []]), json.dumps(["d", step, {}, "optimizer"])]
if how != "waits":
    lines.append(
        json.dumps({"ended": "steps" if settings["stop"] is not None and count >= stop else "exit"})
    )
sealed = [b"%b %08x\n" % (line.encode(), zlib.crc32(line.encode())) for line in lines]
(place / "r0-0.d9m").write_bytes(b"".join(sealed))
while how == "waits":
    time.sleep(60)
sys.exit(5 if how == "fails" else 0)
