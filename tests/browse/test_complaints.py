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
    """The thread after which it was written."""
    options: tuple[str, ...] = ()
    """What ``--with`` names."""
    says: tuple[str | tuple[str, ...], ...] = ()
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
    answer = _flat(render(kb, explain(kb, complaint.text, complaint.setup)).plain())
    for said in complaint.says:
        choices = (said,) if isinstance(said, str) else said
        assert any(_flat(choice) in answer for choice in choices), f"{choices} not in: {answer}"
    for said in complaint.never:
        assert _flat(said) not in answer, answer


@pytest.mark.parametrize("complaint", REFUSED, ids=lambda each: each.text[:50])
def test_what_is_not_about_determinism_is_refused(complaint: Complaint) -> None:
    with pytest.raises(UsageError, match="no known text"):
        explain(knowledge_base(), complaint.text, complaint.setup)


def test_a_variable_that_a_shell_exports_is_no_exported_model() -> None:
    text = "results differ in each run with export SOME_NAME=1"
    assert "symptoms/exported-model-differs" not in _ids(text)
    assert _ids("the exported model gives other results") == ["symptoms/exported-model-differs"]


def test_two_releases_in_either_of_which_the_trouble_shows_are_not_compared() -> None:
    either = "vllm==0.2.1 or 0.1.4: the greedy answer changes under concurrent requests"
    assert "symptoms/after-an-upgrade" not in _ids(either)
    compared = "other predictions, depending on whether I install torch 2.3 or torch 2.7"
    assert "symptoms/after-an-upgrade" in _ids(compared)


def _ids(text: str) -> list[str]:
    return [symptom.id for symptom in explain(knowledge_base(), text).found]
