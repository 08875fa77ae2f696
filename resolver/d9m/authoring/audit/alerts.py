"""Names that libraries hand to the function that refuses: does a user who pastes one get an
answer?
"""

from __future__ import annotations

from collections.abc import Iterator

from d9m.authoring.audit.shipped import AuditDifference, Known, Shipped
from d9m.authoring.audit.texts import refuses
from d9m.kb.kinds import ERRORS
from d9m.model.op_syntax import plain


def differences(known: Known, shipped: Shipped) -> Iterator[AuditDifference]:
    """`alert-unknown`: no name of the catalogue and no error text has it."""
    errors = known.of(ERRORS)
    texts = [text.text for error in errors.values() for text in error.texts]
    for package in shipped.packages:
        for name in shipped.all(package, "alerts"):
            missing: list[str] = []
            if not known.kb.names.get(f"{package}:{plain(name)}"):
                missing.append("no name of the catalogue")
            if not any(refuses(text, name) for text in texts):
                missing.append("no error text")
            if missing:
                have = shipped.carrying(package, lambda release, n=name: n in release.all("alerts"))
                spans = shipped.spans(package, have)
                yield AuditDifference(
                    "alert-unknown", name, spans, f"{package}: {', '.join(missing)}"
                )
