"""The packages installed here, from metadata and the container's variables; no imports."""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Mapping

from d9m.environment.environment import Setup
from d9m.errors import UsageError
from d9m.kb.store import KnowledgeBase
from d9m.model.records import Package


def detect(kb: KnowledgeBase, variables: Mapping[str, str]) -> Setup:
    """This machine as an environment: container, packages, device.

    A package in a version that the knowledge base cannot place is still reported:
    the resolver answers `unknown` for it.
    """
    container = find_container(kb, variables)
    inside = _contents(kb, container)
    packages: list[tuple[str, str | None]] = []
    for name, package in kb.packages.items():
        version = _installed(package)
        if version is not None and name not in inside:
            packages.append((name, version))
    if "python" in kb.meta.platforms:
        packages.append(("python", platform.python_version()))
    known = any(name != "python" for name, _version in packages)
    return Setup(tuple(packages) if known or container else (), container, find_device())


def installed_here(kb: KnowledgeBase, variables: Mapping[str, str], needed: bool = True) -> Setup:
    """This machine as an environment; where it has nothing that the knowledge base knows, nothing
    is said of its device, either. Raises UsageError there if something is needed.
    """
    found = detect(kb, variables)
    if found.packages or found.container is not None:
        return found
    if needed:
        tip = "name an environment: --tf 2.0, --torch 2.4, --container …"
        raise UsageError("nothing that d9m knows is installed here", tip=tip)
    return Setup()


def _installed(package: Package) -> str | None:
    import importlib.metadata  # half of what this module costs; another Python is asked elsewhere

    for distribution in package.distributions:
        try:
            return importlib.metadata.version(distribution)
        except importlib.metadata.PackageNotFoundError:
            continue
    return None


def find_container(kb: KnowledgeBase, variables: Mapping[str, str]) -> str | None:
    """The image this process runs in, if it says so: ``ngc-tensorflow:20.03-tf2``."""
    for name, package in kb.packages.items():
        value = variables.get(package.variable or "")
        if not value:
            continue
        for release in package.releases:
            for form in package.variable_forms or ["{release}"]:
                if value == form.format(release=release):
                    return f"{name}:{release}"
    return None


def _contents(kb: KnowledgeBase, container: str | None) -> set[str]:
    """Packages that the image's map already tells."""
    if container is None:
        return set()
    name, _colon, release = container.partition(":")
    return {name, *kb.packages[name].releases[release].with_}


def find_device() -> str:
    """The device that a framework would use here, by the drivers that are present."""
    if any(map(os.path.exists, ("/proc/driver/nvidia/version", "/dev/nvidiactl", "/dev/dxg"))):
        return "cuda"
    if os.path.exists("/dev/kfd"):
        return "rocm"
    if sys.platform == "darwin" and platform.machine() == "arm64":
        return "mps"
    return "cpu"
