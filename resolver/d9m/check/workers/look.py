"""The machine on which workers run, as a worker describes it from metadata alone."""

from __future__ import annotations

import threading

import msgspec

from d9m.check.messages import Survey, SurveyJob, WorkerFault
from d9m.check.workers.launch import Launcher, events
from d9m.environment.detect import find_device
from d9m.environment.environment import Setup
from d9m.environment.interpreter import setup_of, survey_text
from d9m.errors import AbsentError
from d9m.kb.store import KnowledgeBase

DRIVERS = {
    "cuda": ("/proc/driver/nvidia/version", "/dev/nvidiactl", "/dev/dxg"),
    "rocm": ("/dev/kfd",),
}
"""Device -> files that its driver makes."""


class Machine(msgspec.Struct, frozen=True):
    """The machine on which workers run."""

    asked: Setup
    variables: dict[str, str]
    """Of those that the knowledge base knows, the ones that are set there."""
    cores: int
    """That a process may use."""
    memory: int | None = None
    """Bytes that are free; None: the system does not say."""


def look(kb: KnowledgeBase, launcher: Launcher) -> Machine:
    """Raises AbsentError where nothing answers."""
    distributions: set[str] = set()
    variables = [name for name, setting in kb.settings.items() if setting.kind == "env"]
    for package in kb.packages.values():
        distributions.update(package.distributions)
        if package.variable:
            variables.append(package.variable)
    drivers = [path for paths in DRIVERS.values() for path in paths]
    job = SurveyJob(
        text=survey_text(),
        distributions=sorted(distributions),
        variables=variables,
        drivers=drivers,
    )
    why = "it ended without an answer"
    for event in events(launcher, job, threading.Event()):
        if isinstance(event, Survey):
            return _machine(kb, launcher, event)
        if isinstance(event, WorkerFault):
            why = event.why
    raise AbsentError(f"{' '.join(launcher.command)} does not answer: {why}")


def _machine(kb: KnowledgeBase, launcher: Launcher, survey: Survey) -> Machine:
    asked = setup_of(kb, survey.versions, survey.variables, survey.python)
    device = find_device() if launcher.local else _device(survey.drivers)
    asked = msgspec.structs.replace(asked, device=device)
    return Machine(asked, survey.variables, survey.cores, survey.memory)


def _device(drivers: list[str]) -> str:
    return next((device for device, paths in DRIVERS.items() if set(paths) & set(drivers)), "cpu")
