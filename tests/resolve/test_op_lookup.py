"""What people write for an op, and the ops that it means."""

from __future__ import annotations

import pytest

from d9m.api import Question, understand
from d9m.environment.environment import Setup
from d9m.errors import UsageError
from golden import knowledge_base


def _asked(package: str, version: str, *ops: str, device: str | None = None) -> Question:
    return understand(knowledge_base(), Setup(((package, version),), device=device), ops)


@pytest.mark.parametrize(
    ("package", "version", "text", "names"),
    [
        ("torch", "2.4", "matmul", ["torch.matmul"]),
        ("torch", "2.4", "x @ y", ["torch.matmul"]),
        ("torch", "2.4", "softmax", ["torch.nn.functional.softmax"]),
        ("torch", "2.4", "scatter", ["torch.scatter"]),
        ("torch", "2.4", "getitem", ["torch.Tensor.__getitem__"]),
        ("torch", "2.4", "x.index_add_(0, i, s)", ["torch.index_add"]),
        ("torch", "2.4", "Tensor.index_add_", ["torch.index_add"]),
        ("torch", "2.4", "h[mask].view(-1).cumsum(0)", ["torch.cumsum"]),
        ("torch", "2.4", "torch.ops.aten.index_add_.default", ["torch.index_add"]),
        ("torch", "2.4", "aten::sum.dim_IntList", ["torch.sum"]),
        ("torch", "2.4", "aten::native_layer_norm", ["torch.native_layer_norm"]),
        ("torch", "2.4", "aten::upsample_nearest2d", ["torch.nn.functional.interpolate"]),
        ("torch", "2.4", "aten::_softmax", ["torch.ops.aten._softmax"]),
        ("torch", "1.8", "aten::_softmax", ["torch.ops.aten._softmax"]),
        (
            *("torch", "2.14", "aten::native_layer_norm_backward"),
            ["torch.ops.aten.native_layer_norm_backward"],
        ),
        (
            *("torch", "2.4", "aten::_flash_attention_backward"),
            ["torch.nn.functional.scaled_dot_product_attention"],
        ),
        ("torch", "2.4", "aten.uniform_.default", ["torch.Tensor.uniform_"]),
        ("torchvision", "0.19", "torchvision::roi_align", ["torchvision.ops.roi_align"]),
        ("torchvision", "0.19", "torch.ops.torchvision.nms.default", ["torchvision.ops.nms"]),
        ("torch", "2.4", "Embedding", ["torch.nn.functional.embedding"]),
        ("tensorflow", "2.9", "matmul", ["tf.linalg.matmul"]),
        ("tensorflow", "2.9", "x @ y", ["tf.linalg.matmul"]),
        ("tensorflow", "2.16", "Dense", ["tf.linalg.matmul", "tf.nn.bias_add"]),
        ("jax", "0.8", "matmul", ["jax.numpy.matmul"]),
        ("jax", "0.8", "x.at[i].add(y)", ["jax.numpy.ndarray.at.add"]),
    ],
)
def test_a_name_means_the_plainest_op(
    package: str, version: str, text: str, names: list[str]
) -> None:
    (item,) = _asked(package, version, text).items
    assert [op.name for op in item.ops] == names


def test_an_operator_has_the_defaults_of_its_schema() -> None:
    (item,) = _asked("torch", "2.4", "aten::pad").items
    assert [op.defaults for op in item.ops] == [{"mode": "constant", "scalar": "false"}]


@pytest.mark.parametrize(
    ("text", "arguments", "defaults"),
    [
        ("EmbeddingBag", {}, {"mode": "mean"}),
        ("nn.EmbeddingBag(10, 3, mode='max')", {"mode": "max"}, {}),
        ("nn.EmbeddingBag(10, 3, mode=self.mode)", {}, {}),
        ("EmbeddingBag[mode=sum]", {"mode": "sum"}, {"mode": "mean"}),
        ("bincount", {}, {"weights": "false"}),
        ("torch.bincount(x, w)", {"weights": "true"}, {}),
        ("nn.AdaptiveAvgPool2d(1)", {"output_size": "1"}, {}),
        ("F.interpolate(x, size=(2, 2))", {}, {"mode": "nearest"}),
        ("F.interpolate(x, mode='bilinear')", {"mode": "bilinear"}, {}),
        ("median", {}, {"dim": "false"}),
        ("x.median(0)", {"dim": "true"}, {}),
        ("median[dim=0]", {"dim": "true"}, {"dim": "false"}),
        ("x.cumsum(0, dtype=torch.int64)", {"dtype": "integer"}, {}),
    ],
)
def test_a_call_has_the_defaults_of_its_api(
    text: str, arguments: dict[str, str], defaults: dict[str, str]
) -> None:
    (item,) = _asked("torch", "2.4", text).items
    (op,) = item.ops
    assert arguments.items() <= op.arguments.items()
    assert defaults.items() <= op.defaults.items()
    left = {"mode", "weights"} - defaults.keys()
    assert not left & op.defaults.keys()


def test_a_name_in_a_message_says_nothing_of_the_arguments() -> None:
    (item,) = _asked("torch", "2.4", "_bincount_cuda").items
    assert [(op.name, op.defaults) for op in item.ops] == [("torch.bincount", {})]


def test_a_module_is_no_object() -> None:
    with pytest.raises(UsageError, match="unknown op"):
        _asked("torch", "2.4", "np.cumsum(x)")


@pytest.mark.parametrize(
    ("text", "fact"),
    [
        ("torch.compile", "compile"),
        ("DistributedDataParallel", "distributed"),
        ("FSDP", "distributed"),
        ("all_reduce", "distributed"),
    ],
)
def test_a_name_decides_a_fact_of_the_program(text: str, fact: str) -> None:
    assert _asked("torch", "2.4", text, "index_add").environment.facts == {fact: "true"}


def test_a_named_fact_wins() -> None:
    setup = Setup((("torch", "2.4"),), facts=(("distributed", "false"),))
    asked = understand(knowledge_base(), setup, ["DDP"])
    assert asked.environment.facts == {"distributed": "false"}


def test_a_release_without_an_op_leaves_the_others_their_answer() -> None:
    asked = _asked("torch", "1.9", "F.scaled_dot_product_attention", "index_add", "torch.compile")
    assert [item.lacks for item in asked.items] == [
        "exists in torch from 2.0, not in 1.9",
        None,
        "exists in torch from 2.0, not in 1.9",
    ]
    assert asked.environment.facts == {}


@pytest.mark.parametrize(
    ("text", "package"),
    [
        ("flash_attn_varlen_func", "flash-attn"),
        ("flash_attention", "flash-attn"),
        ("memory_efficient_attention", "xformers"),
        ("roi_align", "torchvision"),
        ("ROIAlign", "detectron2"),
        ("torchvision.ops.RoIAlign", None),
    ],
)
def test_a_name_brings_its_package_along(text: str, package: str | None) -> None:
    asked = _asked("torch", "2.4", text)
    assert (package or "torchvision") in asked.environment.packages
    assert all(item.ops for item in asked.items)


def test_a_call_with_an_argument_that_came_later_does_not_exist_yet() -> None:
    """PyTorch 2.5 asserts that no tensor that flex_attention captures needs a gradient."""
    call = "flex_attention:captured_gradient=true"
    (before,) = _asked("torch", "2.5", call).items
    (after,) = _asked("torch", "2.6", call).items
    assert (before.ops, bool(after.ops)) == ((), True)
    assert _asked("torch", "2.5", "flex_attention").items[0].ops


@pytest.mark.parametrize(
    ("text", "allowed"),
    [
        ("nn.EmbeddingBag:mode=bicubic", ["sum", "mean", "max"]),
        ("F.embedding_bag[mode=bananas]", ["sum", "mean", "max"]),
        ("F.pad(x, (1, 1), mode='area')", ["constant", "reflect", "replicate", "circular"]),
        ("F.grid_sample(x, g, padding_mode='circular')", ["zeros", "border", "reflection"]),
        *(
            (
                text,
                ["nearest", "nearest-exact", "linear", "bilinear", "bicubic", "trilinear", "area"],
            )
            for text in (
                "nn.Upsample(mode='sum')",
                "F.interpolate(x, mode='banana')",
                "F.interpolate:mode=bananas",
            )
        ),
    ],
)
def test_a_value_that_an_op_does_not_take_is_refused_with_those_that_it_takes(
    text: str, allowed: list[str]
) -> None:
    with pytest.raises(UsageError) as refused:
        _asked("torch", "2.4", text)
    assert list(refused.value.allowed) == allowed


@pytest.mark.parametrize("name", ["mode", "padding_mode"])
def test_an_op_takes_every_value_that_it_is_known_to_take(name: str) -> None:
    for op, values in knowledge_base().meta.facts[name].takes.items():
        for value in values:
            assert _asked("torch", "2.4", f"{op}[{name}={value}]").items
            assert _asked("torch", "2.4", f"{op}(x, {name}='{value}')").items
    assert _asked("torch", "2.4", "F.interpolate(x, mode=self.mode)").items
