"""Public names tell an op that nobody wrote about from one that does not exist."""

from __future__ import annotations

from pathlib import Path

import pytest

from d9m.browse.show import show
from d9m.environment.environment import Setup, describe
from d9m.errors import UsageError
from d9m.kb import build, compiled, yaml_files
from d9m.kb.store import KnowledgeBase
from d9m.model import op_syntax
from d9m.model.wheel_facts import catalogue
from d9m.render.browse import show as rendered
from d9m.resolve import op_lookup
from d9m.resolve.resolver import resolve

EVIDENCE = "evidence: [{kind: documented, document: notes}]"
RECORDS = {
    "facts.yaml": (
        "device: {title: Device, values: [cuda, cpu], default: cuda}\n"
        'training: {title: Training, values: ["true", "false"], default: "true"}\n'
    ),
    "documents/notes.yaml": "title: Notes\nurl: https://example.org/\n",
    "versions/torch.yaml": (
        f"title: PyTorch\nkind: framework\nfolder: pytorch\n{EVIDENCE}\n"
        'releases: {"1.0.0": {}, "1.1.0": {}, "1.2.0": {}, "1.2.1": {}, "2.0.0": {}, "2.1.0": {}}\n'
    ),
    "ops/pytorch.yaml": (
        "package: torch\nprefixes: {torch.Tensor.: torch., F.: torch.nn.functional.}\n"
        "unread: [torch.func., torch.utils.data.]\n"
        "ops: {torch.histc: {}, torch.Tensor.resize_: {}, torch.cumsum: {}}\n"
    ),
    "sources/pytorch/histc.yaml": (
        f"title: Histogram\nsummary: Text.\nmechanism: atomic\nops: [torch.histc]\n{EVIDENCE}\n"
        'timeline:\n  torch:\n    - {from: "1.0", outcome: unknown, note: not looked at}\n'
        '    - {from: "2.0", outcome: unsolved, verified_through: "2.1"}\n'
    ),
}

OLD = {
    "torch.moved.away",
    "torch.histc",
    "torch.Tensor.resize_",
    "torch.relu",
    "torch.Tensor.relu_",
    "torch.gesv",
    "torch.fft",
    "torch.T",
}
NEW = (OLD - {"torch.moved.away", "torch.gesv", "torch.fft"}) | {
    "torch.vmap",
    "torch.nn.functional.silu",
    "torch.nn.functional.Tanh",
}
READ = {
    "1.1.0": OLD,
    "1.2.1": OLD - {"torch.T"},
    "2.0.0": NEW | {"torch._C.hidden"},
    "2.1.0": (NEW - {"torch.nn.functional.silu"}) | {"torch.Tensor.arctan", "torch.fft"},
}


@pytest.fixture(params=["yaml", "compiled"])
def kb(request: pytest.FixtureRequest, tmp_path: Path) -> KnowledgeBase:
    for name, text in RECORDS.items():
        path = tmp_path / "kb" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    folder = tmp_path / "kb" / "evidence"
    folder.mkdir()
    (folder / "catalogue-torch.json").write_bytes(catalogue("torch", READ).encoded())
    built = build.build(yaml_files.load(tmp_path / "kb"))
    if request.param == "yaml":
        return built
    compiled.write(built, tmp_path / "knowledge.d9m")
    return compiled.read(str(tmp_path / "knowledge.d9m"))


def meant(kb: KnowledgeBase, version: str, text: str) -> list[str]:
    environment = describe(kb, Setup((("torch", version),)))
    item = op_lookup.find(kb, environment, op_syntax.parse(text))
    (answer,) = resolve(kb, environment, [item]).ops
    assert (answer.outcome == "no-known-source") == (text != "histc")
    return answer.names


@pytest.mark.parametrize(
    "text", ["torch.relu", "relu", "torch.Tensor.relu_", "TORCH.ReLU", "torch.relu(x):backward"]
)
def test_a_public_name_that_no_record_names_has_no_known_source(
    kb: KnowledgeBase, text: str
) -> None:
    assert meant(kb, "2.0", text) == ["torch.relu"]


@pytest.mark.parametrize(
    "text",
    ["torch.nosuchop", "nosuchop", "F.relu", "torch.Tensor.hidden", "torch._C.hidden", "elu"],
)
def test_a_name_that_no_wheel_has_is_refused(kb: KnowledgeBase, text: str) -> None:
    with pytest.raises(UsageError, match=r"torch 1\.1\.0 to 2\.1\.0 has no name like it"):
        meant(kb, "2.0", text)


@pytest.mark.parametrize(
    ("text", "space"),
    [("torch.func.vmap", "torch.func"), ("torch.utils.data.Subset(x)", "torch.utils.data")],
)
def test_a_name_in_a_namespace_that_was_not_read_may_exist(
    kb: KnowledgeBase, text: str, space: str
) -> None:
    with pytest.raises(UsageError, match=f"our catalogue of torch leaves {space} out") as error:
        meant(kb, "2.0", text)
    assert "it may exist" in str(error.value.tip)
    assert not error.value.nearest


def test_the_nearest_public_names_are_told(kb: KnowledgeBase) -> None:
    with pytest.raises(UsageError) as error:
        meant(kb, "2.0", "torch.relux")
    assert error.value.nearest[0] == "torch.relu"


@pytest.mark.parametrize(
    ("version", "text", "says"),
    [
        ("1.2", "torch.vmap", "exists in torch from 2.0, not in 1.2"),
        ("2.0", "torch.gesv", "exists in torch before 2.0, not in 2.0"),
        ("2.0", "torch.fft", "exists in torch before 2.0 or from 2.1, not in 2.0"),
        ("1.2", "torch.T", "exists in torch before 1.2 or from 2.0, not in 1.2"),
        ("2.1", "F.silu", "exists in torch from 2.0 and before 2.1, not in 2.1"),
        ("1.1", "F.silu", "exists in torch from 2.0 and before 2.1, not in 1.1"),
    ],
)
def test_a_release_without_the_name_is_told_which_have_it(
    kb: KnowledgeBase, version: str, text: str, says: str
) -> None:
    environment = describe(kb, Setup((("torch", version),)))
    item = op_lookup.find(kb, environment, op_syntax.parse(text))
    (answer,) = resolve(kb, environment, [item]).ops
    assert (answer.outcome, answer.note, answer.names) == ("unknown", says, [])


def test_a_minor_release_has_what_the_wheel_of_its_last_patch_has(kb: KnowledgeBase) -> None:
    assert meant(kb, "1.2.0", "torch.gesv") == ["torch.gesv"]
    assert meant(kb, "1.1.0", "torch.T") == ["torch.T"]


def test_before_and_beyond_what_was_read_a_name_is_not_denied(kb: KnowledgeBase) -> None:
    assert meant(kb, "1.0", "torch.gesv") == ["torch.gesv"]
    assert meant(kb, "2.2", "torch.vmap") == ["torch.vmap"]


def test_a_namespace_that_moved_elsewhere_keeps_its_names(kb: KnowledgeBase) -> None:
    assert meant(kb, "2.1", "torch.moved.away") == ["torch.moved.away"]
    assert meant(kb, "1.2", "moved.away") == ["torch.moved.away"]


def test_a_name_that_records_name_is_theirs_alone(kb: KnowledgeBase) -> None:
    assert meant(kb, "1.1", "histc") == ["torch.histc"]
    assert meant(kb, "1.1", "torch.Tensor.resize_") == ["torch.Tensor.resize_"]
    with pytest.raises(UsageError, match=r"unknown op 'torch.resize' in torch"):
        meant(kb, "1.1", "torch.resize")


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("torch.vmap", "(torch from 2.0)"),
        ("gesv", "(torch before 2.0)"),
        ("torch.relu", "torch.relu (not a proof)"),
    ],
)
def test_a_public_name_can_be_shown_with_the_releases_that_have_it(
    kb: KnowledgeBase, name: str, says: str
) -> None:
    shown = rendered.render(kb, show(kb, [name])).plain()
    assert says in shown
    assert "No known nondeterminism in torch." in shown
