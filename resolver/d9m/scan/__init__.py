"""Reads a project's own code and job files, without running them: is what they set in time, right
and enough?

``d9m.scan`` is the name of this package and of the public function `d9m.scan.library.scan`: like
`d9m.check`, the package is callable.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from d9m.scan.result import ScanReport


class ScanPackage(ModuleType):
    """This package, as a function."""

    def __call__(self, *paths: Any, **given: Any) -> ScanReport:
        from d9m.scan.library import scan

        return scan(*paths, **given)


sys.modules[__name__].__class__ = ScanPackage
