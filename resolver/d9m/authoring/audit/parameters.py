"""Signatures: does each parameter that decides a fact exist?"""

from __future__ import annotations

from collections.abc import Iterator

from d9m.authoring.audit.shipped import AuditDifference, Known, Shipped
from d9m.model.signatures import parameter_names


def differences(known: Known, shipped: Shipped) -> Iterator[AuditDifference]:
    """`parameter-not-shipped`."""
    found: set[str] = set()
    for stated in known.kb.signatures.values():
        for signature in stated:
            for overload in signature.overloads:
                found.update(parameter_names(overload))
    for name, fact in known.loaded.facts.items():
        for parameter in fact.parameters.keys() - found:
            detail = "decides the fact, and no signature that was read has it"
            yield AuditDifference("parameter-not-shipped", f"{name}:{parameter}", "", detail)
