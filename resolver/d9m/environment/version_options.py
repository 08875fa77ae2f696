"""Packages whose version has a command-line option of its own; any other one is named with
``--with``.
"""

from __future__ import annotations

from typing import NamedTuple


class VersionOption(NamedTuple):
    title: str
    options: tuple[str, ...]
    """Its spellings, the one to show first."""


VERSION_OPTIONS = {
    "tensorflow": VersionOption("TensorFlow", ("--tf", "--tensorflow")),
    "torch": VersionOption("PyTorch", ("--torch", "--pytorch")),
    "jax": VersionOption("JAX", ("--jax",)),
}


def naming(package: str, version: str) -> str:
    """How a package is named on the command line.

    >>> naming("torch", "2.6"), naming("cuda", "12.4")
    ('--torch 2.6', '--with cuda=12.4')
    """
    own = VERSION_OPTIONS.get(package)
    return f"{own.options[0]} {version}" if own else f"--with {package}={version}"
