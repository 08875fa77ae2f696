"""Ops that an error record names: does d9m say anything of them in the releases with the error?"""

from __future__ import annotations

from collections.abc import Iterator

from d9m.authoring.audit.operators import HARMLESS, find_item, outcomes_of
from d9m.authoring.audit.shipped import AuditDifference, Known, Shipped, meant
from d9m.environment.environment import Setup, describe
from d9m.kb.kinds import ERRORS

_DEVICES = ("cuda", "cpu", "mps", "xpu", "rocm")


def differences(known: Known, shipped: Shipped) -> Iterator[AuditDifference]:
    """`error-without-source`: an op is silent, or never differs, on every device."""
    for package, releases in shipped.packages.items():
        for id_, error in known.of(ERRORS).items():
            home = known.home(id_)
            said = [meant(text.when, home, package, releases) or set() for text in error.texts]
            for op in error.ops if home == package and error.kind == "error" else []:
                silent = {
                    each for each in set().union(*said) if _is_silent(known, package, each, op)
                }
                if silent:
                    subject = f"errors/{id_}:{op}"
                    span = shipped.spans(package, silent)
                    detail = f"{package}: the error names an op that no source judges"
                    yield AuditDifference("error-without-source", subject, span, detail)


def _is_silent(known: Known, package: str, version: str, op: str) -> bool:
    for device in _DEVICES:
        environment = describe(known.kb, Setup(((package, version),), device=device))
        item = find_item(known, environment, op)
        if item is not None and outcomes_of(known, environment, item) - HARMLESS:
            return False
    return True
