"""Packages whose version has its own command-line option; any other one is named with
``--with``.
"""

from __future__ import annotations

from typing import NamedTuple


class VersionOption(NamedTuple):
    title: str
    options: tuple[str, ...]
    """Its spellings, the one to show first."""
    example: str
    """A release, for the help."""


VERSION_OPTIONS = {
    "tensorflow": VersionOption("TensorFlow", ("--tf", "--tensorflow"), "2.16"),
    "torch": VersionOption("PyTorch", ("--torch", "--pytorch"), "2.4"),
    "jax": VersionOption("JAX", ("--jax",), "0.4.30"),
}


def naming(package: str, version: str) -> str:
    """Return how a package is named on the command line.

    >>> naming("torch", "2.6"), naming("cuda", "12.4")
    ('--torch 2.6', '--with cuda=12.4')
    """
    own = VERSION_OPTIONS.get(package)
    return f"{own.options[0]} {version}" if own else f"--with {package}={version}"
