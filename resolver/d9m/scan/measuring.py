"""Code that looks at results, as its names say: nothing is trained on what it computes."""

from __future__ import annotations

import re

from d9m.scan.facts import FileFacts, Order, WrittenCall

_NAMES = re.compile(r"(?i)(metric|evaluat|(^|_)eval(_|\b)|visuali[sz]|plot|explain)")
_TRAINS = re.compile(r"(?i)(train|fit)")


def measures(facts: FileFacts, found: WrittenCall | Order) -> bool:
    """Whether the name of a file, or of the function around, says that it measures or draws."""
    function = facts.scopes[found.scope].name
    for name in (facts.path.rpartition("/")[2], function):
        if _NAMES.search(name) and not _TRAINS.search(name):
            return True
    return False
