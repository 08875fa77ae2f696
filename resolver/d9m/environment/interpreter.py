"""The packages of another Python, from its metadata: no framework is imported there."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping
from pathlib import Path

import msgspec

from d9m.environment.detect import find_container, find_device
from d9m.environment.environment import Setup, describe
from d9m.errors import AbsentError, D9mError
from d9m.kb.store import KnowledgeBase

SECONDS = 180.0
"""Until it has answered: on a cold network disk that is long."""

MARK = "d9m:"
"""Begins the line of the answer; a sitecustomize may print others."""


def survey_text() -> str:
    """Return the program that looks at a Python and its machine."""
    return Path(__file__).with_name("survey.py").read_text("utf-8")


def installed_in(kb: KnowledgeBase, python: str, variables: Mapping[str, str]) -> Setup:
    """Return what `python` has installed, as an environment of this machine.

    Raises AbsentError where it does not answer.
    """
    names = sorted({name for each in kb.packages.values() for name in each.distributions})
    asked = json.dumps({"distributions": names, "variables": [], "drivers": []})
    try:
        done = subprocess.run(  # noqa: S603  the user's own interpreter
            [python, "-c", survey_text(), asked],
            capture_output=True,
            text=True,
            check=False,
            stdin=subprocess.DEVNULL,
            timeout=SECONDS,
        )
    except (OSError, ValueError, subprocess.TimeoutExpired) as error:
        raise AbsentError(f"{python} does not answer: {error}") from None
    answers = [line for line in done.stdout.splitlines() if line.startswith(MARK)]
    if not answers:
        raise AbsentError(f"{python} does not answer: it ended with code {done.returncode}")
    seen = json.loads(answers[-1].removeprefix(MARK))
    found = setup_of(kb, seen["versions"], variables, seen["python"])
    return msgspec.structs.replace(found, device=find_device())


def setup_of(
    kb: KnowledgeBase, versions: Mapping[str, str], variables: Mapping[str, str], python: str
) -> Setup:
    """Return the environment of distributions in their versions, in the image that the variables
    name, without a device.
    """
    container = find_container(kb, variables)
    inside = describe(kb, Setup(container=container)).packages if container else {}
    found: list[tuple[str, str | None]] = []
    for name in kb.packages:
        installed = [text for text in kb.packages[name].distributions if text in versions]
        if installed and name not in inside:
            found.append((name, versions[installed[0]]))
    if found or container:
        found.append(("python", python))
    return Setup(_placeable(kb, found), container)


def _placeable(
    kb: KnowledgeBase, found: list[tuple[str, str | None]]
) -> tuple[tuple[str, str | None], ...]:
    """Leave out platform parts in versions that no map knows: they would only be a reason to
    refuse.
    """
    kept: list[tuple[str, str | None]] = []
    for name, version in found:
        try:
            describe(kb, Setup(((name, version),), device="cpu"))
        except D9mError:
            if kb.packages[name].kind == "platform":
                continue
        kept.append((name, version))
    return tuple(kept)
