"""What `d9m explain` answers to troubles as people describe them."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from d9m.browse.explain import explain
from d9m.environment.environment import Setup
from d9m.errors import UsageError
from d9m.render.browse.explain import render
from golden import knowledge_base


class Complaint(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    text: str
    url: str | None
    """The thread after which it was written, in our own words."""
    options: tuple[str, ...] = ()
    """What ``--with`` names."""
    says: tuple[str | tuple[str, ...], ...] = ()
    lists: str | None = None
    """The symptom that the list must hold."""
    never: tuple[str, ...] = ()
    refused: bool = False
    """Whether it is not about determinism."""

    @property
    def setup(self) -> Setup | None:
        named = tuple(tuple(option.split("=")) for option in self.options)
        return Setup(named) if named else None  # type: ignore[arg-type]


FILE = Path(__file__).with_name("complaints.yaml")
COMPLAINTS = msgspec.yaml.decode(FILE.read_bytes(), type=list[Complaint])
ANSWERED = [complaint for complaint in COMPLAINTS if not complaint.refused]
REFUSED = [complaint for complaint in COMPLAINTS if complaint.refused]


def _flat(text: str) -> str:
    return " ".join(text.casefold().split())


@pytest.mark.parametrize("complaint", ANSWERED, ids=lambda each: each.text[:50])
def test_a_complaint_gets_its_answer(complaint: Complaint) -> None:
    kb = knowledge_base()
    explained = explain(kb, complaint.text, complaint.setup)
    answer = _flat(render(kb, explained).plain())
    assert complaint.lists in (None, *[each.id for each in explained.candidates])
    for said in complaint.says:
        choices = (said,) if isinstance(said, str) else said
        assert any(_flat(choice) in answer for choice in choices), f"{choices} not in: {answer}"
    for said in complaint.never:
        assert _flat(said) not in answer, answer


@pytest.mark.parametrize("complaint", REFUSED, ids=lambda each: each.text[:50])
def test_what_is_not_about_determinism_is_refused(complaint: Complaint) -> None:
    with pytest.raises(UsageError, match="no known text"):
        explain(knowledge_base(), complaint.text, complaint.setup)
