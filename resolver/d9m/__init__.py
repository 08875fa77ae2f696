"""d9m: what to set, in your version and on your machine, for deterministic training.

`advise`, `explain` and `show` answer from the records, `check` probes this machine, `scan` reads a
project; help(d9m.check.library.check) and help(d9m.scan.library.scan) have the arguments of these.
`enable()` and `with deterministic():` set in this process what `d9m run` sets from outside.

>>> import d9m
>>> d9m.advise(torch="2.6", ops=["cumsum"]).outcome
'solved'
"""

from __future__ import annotations

from d9m.about import __version__ as __version__

TYPE_CHECKING = False
"""As in `typing`, whose import takes longer than everything before the first signal is heard."""

if TYPE_CHECKING:
    from typing import Any

    from d9m.check.library import check as check
    from d9m.environment.environment import Environment as Environment
    from d9m.errors import AbsentError as AbsentError
    from d9m.errors import D9mError as D9mError
    from d9m.errors import DataError as DataError
    from d9m.errors import ExitCode as ExitCode
    from d9m.errors import Refused as Refused
    from d9m.errors import TooLate as TooLate
    from d9m.errors import UsageError as UsageError
    from d9m.kb.locate import open_knowledge_base as open_knowledge_base
    from d9m.library import advise as advise
    from d9m.library import explain as explain
    from d9m.library import show as show
    from d9m.run.inside import Enabled as Enabled
    from d9m.run.inside import deterministic as deterministic
    from d9m.run.inside import enable as enable
    from d9m.scan.library import scan as scan

_HOMES = {
    "advise": "d9m.library",
    "explain": "d9m.library",
    "show": "d9m.library",
    "enable": "d9m.run.inside",
    "deterministic": "d9m.run.inside",
    "Enabled": "d9m.run.inside",
    "open_knowledge_base": "d9m.kb.locate",
    "Environment": "d9m.environment.environment",
    "D9mError": "d9m.errors",
    "UsageError": "d9m.errors",
    "DataError": "d9m.errors",
    "AbsentError": "d9m.errors",
    "TooLate": "d9m.errors",
    "Refused": "d9m.errors",
    "ExitCode": "d9m.errors",
}
"""Public name -> the module that has it, imported at first use."""

_PACKAGES = ("check", "scan")
"""Packages that are functions, too."""

__all__ = [*_HOMES, *_PACKAGES]  # pyright: ignore[reportUnsupportedDunderAll]
"""Without it, help(d9m) would leave out what is imported at first use."""


def __getattr__(name: str) -> Any:
    import importlib

    if name in _PACKAGES:
        return importlib.import_module(f"d9m.{name}")
    if name in _HOMES:
        return getattr(importlib.import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'd9m' has no attribute {name!r}")


def load_ipython_extension(_shell: object) -> None:
    """Call `enable()` for `%load_ext d9m` in a notebook, and print what it set and could not."""
    import sys

    from d9m.run.inside import enable

    sys.stdout.write(enable().report())


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOMES, *_PACKAGES])
