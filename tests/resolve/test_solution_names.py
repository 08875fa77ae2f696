"""Solutions go by their real names, in whole or by the end of the name."""

from __future__ import annotations

import pytest

from d9m.errors import UsageError
from d9m.resolve.solution_names import label_of, written
from golden import knowledge_base


@pytest.mark.parametrize(
    ("name", "label"),
    [
        ("uda", "UDA"),
        ("pytorch/uda", "UDA"),
        ("use_deterministic_algorithms", "UDA"),
        ("torch.use_deterministic_algorithms(True)", "UDA"),
        ("cudnn.benchmark", "CBO"),
        ("cudnn.benchmark = False", "CBO"),
        ("enable_op_determinism", "EOD"),
        ("NCCL_ALGO=Ring", "NRG"),
        ("TF_DETERMINISTIC_OPS", "TDO"),
    ],
)
def test_a_solution_is_meant_by_its_real_name(name: str, label: str) -> None:
    assert label_of(knowledge_base(), name) == label


def test_a_name_that_means_none_is_refused_with_the_nearest() -> None:
    with pytest.raises(UsageError, match=r"did you mean torch\.use_deterministic_algorithms"):
        label_of(knowledge_base(), "use_deterministic_algorithmss")


def test_what_is_written_is_understood() -> None:
    kb = knowledge_base()
    for solution in kb.solutions.values():
        assert label_of(kb, written(kb, solution.label)) == solution.label
    assert written(kb, "UDA") == "torch.use_deterministic_algorithms"
