"""The self-check: this machine's settings against the advice, then its ops, run and compared bit
for bit.

``d9m.check`` is the name of this package and of the public function
`d9m.check.library.check`. The package is therefore callable, and a call is that
function's: ``import d9m.check.plan.catalogue`` leaves ``d9m.check(quick=True)`` working.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from d9m.check.result import Report


class CallablePackage(ModuleType):
    """This package, as a function."""

    def __call__(self, **given: Any) -> Report:
        from d9m.check.library import check

        return check(**given)


sys.modules[__name__].__class__ = CallablePackage
