"""The commit of a folder, and a digest of what differs from it."""

from __future__ import annotations

import subprocess

import xxhash

from d9m.lock.lock_file import CodeState


def code_state() -> CodeState:
    """Return the state of the folder that this process is in; empty where git is not in use."""
    commit = _git("rev-parse", "HEAD")
    if commit is None:
        return CodeState()
    changes = _git("diff", "HEAD", "--", ".", ":(exclude)*.lock.json")
    digest = xxhash.xxh3_64_hexdigest(changes) if changes else None
    return CodeState(commit.decode().strip(), digest)


def _git(*words: str) -> bytes | None:
    try:
        done = subprocess.run(["git", *words], capture_output=True, check=False)  # noqa: S603, S607
    except OSError:
        return None
    return done.stdout if done.returncode == 0 else None
