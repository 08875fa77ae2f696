# pyright: basic
"""The first line of a stream: what the process is, and what may make it differ from another."""

from __future__ import annotations

import os
import re
import sys
import zlib

from . import private, seals

PLAIN = re.compile(r"-?\d{1,4}(\.\d+)?|true|false|on|off|yes|no", re.IGNORECASE)

RANKS = ("RANK", "OMPI_COMM_WORLD_RANK", "PMI_RANK", "SLURM_PROCID")


def rank() -> int:
    """Of this process, as its launcher says; else as the group does that it has joined."""
    for name in RANKS:
        if os.environ.get(name, "").isdecimal():
            return int(os.environ[name])
    distributed = sys.modules.get("torch.distributed")
    if distributed is not None and distributed.is_available() and distributed.is_initialized():
        return distributed.get_rank()
    return 0


def is_worker() -> bool:
    """Whether multiprocessing started this process, and no launcher gave it a rank.

    Such a process prepares data, or is a rank that its parent spawned: the first optimizer step
    tells.
    """
    if any(name in os.environ for name in RANKS):
        return False
    if any(word.startswith("--multiprocessing-fork") for word in sys.argv[1:2]):
        return True
    code = " ".join(_command_line())
    return "multiprocessing.spawn" in code or "multiprocessing.forkserver" in code


def _command_line() -> list:
    """Of this process: `multiprocessing.parent_process` is set only after `site` has run."""
    return list(getattr(sys, "orig_argv", ())) or _from_proc()


def _from_proc() -> list:
    try:
        with open("/proc/self/cmdline", "rb") as file:
            return [word.decode("utf-8", "replace") for word in file.read().split(b"\0")]
    except OSError:
        return []


def environment(settings) -> dict:
    """Variables that the records know; of others of their families, such as NCCL_, plain values
    and digests.
    """
    families = tuple(name.partition("_")[0] + "_" for name in settings.variables if "_" in name)
    found = {}
    for name, value in sorted(os.environ.items()):
        if name in settings.variables:
            found[name] = private.masked_variable(name, value)
        elif name.startswith(families):
            found[name] = value if PLAIN.fullmatch(value) else _digest(value)
    return found


def _digest(value: str) -> str:
    return f"crc32 {zlib.crc32(value.encode('utf-8', 'replace')):08x}"


def versions() -> dict:
    """Version of each installed distribution, from the names of its metadata alone."""
    found = {}
    for place in sys.path:
        try:
            names = os.listdir(place or ".")
        except OSError:
            continue
        for name in names:
            if name.endswith((".dist-info", ".egg-info")):
                distribution, _dash, version = name[:-10].partition("-")
                distribution = distribution.lower().replace("_", "-")
                found.setdefault(distribution, version.partition("-py")[0])
    return found


def processor():
    """The model of the CPU."""
    try:
        with open("/proc/cpuinfo", encoding="utf-8", errors="replace") as file:
            for line in file:
                name, _colon, value = line.partition(":")
                if name.strip() == "model name":
                    return value.strip()
    except OSError:
        pass
    return os.uname().machine if hasattr(os, "uname") else None


def _arguments(argv: list) -> list:
    """As they were given. A notebook's kernel has a file for each start, which says nothing."""
    program = os.path.basename(argv[0]) if argv else ""
    return ["notebook"] if program == "ipykernel_launcher.py" else [program, *argv[1:]]


def header(session, number: int) -> dict:
    settings = session.settings
    found = {
        "d9m_trace": seals.FORMAT,
        "level": settings.level,
        "inputs": settings.inputs,
        "digest": session.digester.name,
        "steps": [settings.first, settings.last],
        "every": settings.every,
        "modules": settings.modules,
        "compiled": settings.compiled,
        "rank": rank(),
        "process": number,
        "parent": None,
        "argv": private.masked(_arguments(getattr(sys, "argv", [""]))),
        "python": "{}.{}.{}".format(*sys.version_info[:3]),
        "packages": {},
        "versions": versions(),
        "cpu": processor(),
        "device": "cpu",
        "gpu": None,
        "threads": None,
        "pid": os.getpid(),
        "hashseed": os.environ.get("PYTHONHASHSEED"),
        "env": environment(settings),
        "deterministic": {},
        "generators": {},
    }
    if settings.samples:
        found["samples"] = True
    found["generators"].update(session.used_generators())
    for framework in session.frameworks:
        about, _done = session.guarded("a framework's header", framework.about)
        about = about or {}
        for several in ("packages", "deterministic"):
            found[several].update(about.pop(several, {}))
        found.update(about)
    return found
