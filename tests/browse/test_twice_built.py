"""Which code builds one model twice."""

from __future__ import annotations

import pytest

from d9m.browse.twice_built import builds_twice
from golden import knowledge_base


@pytest.mark.parametrize(
    ("code", "twice"),
    [
        ("a = Net(3).cuda()\nb = Net(3)", True),
        ("a = models.vgg16()\nb = models.vgg16().to('cuda')", True),
        ("a = torch.nn.Linear(2, 3).cuda(); b = torch.nn.Linear(2, 3)", True),
        ("a = Net().cuda()\na = Net().cuda()", False),
        ("a = Net()\nb = Net()", False),
        ("a = torch.rand(3).cuda()\nb = torch.rand(3)", False),
        ("a = Net().cuda()\nb = Other().cpu()", False),
        ("a = resnet18(weights=None).cuda()\nb = resnet18(weights=None)", True),
        ("a = Net().cuda()\nb = Net()\nb.load_state_dict(a.state_dict())", False),
        ("a = vgg16(pretrained=True).cuda()\nb = vgg16(pretrained=True)", False),
    ],
)
def test_one_constructor_with_two_names_and_no_copy(code: str, twice: bool) -> None:
    words = knowledge_base().word_lists.two_models
    assert words is not None
    assert builds_twice(words, code) == twice
