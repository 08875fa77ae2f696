"""The signatures in kb/evidence bind calls as the frameworks document them, and decide facts."""

from __future__ import annotations

from pathlib import Path

import pytest

from d9m.kb import compiled, signature_table
from d9m.kb.store import KnowledgeBase
from d9m.model.records import Existence
from d9m.model.signatures import Signature, arguments, bind, decide_facts
from d9m.model.wheel_facts import SignatureCatalogue, read
from golden import KB, knowledge_base

CALLS = [
    ("torch", "torch.nn.AdaptiveAvgPool2d", "2.4.1", "1", {"output_size": "1"}),
    ("torch", "torch.nn.AdaptiveAvgPool2d", "1.13.1", "(1, 1)", {"output_size": "1"}),
    ("torch", "torch.nn.AdaptiveAvgPool2d", "1.13.1", "(1, n)", {}),
    (
        "torch",
        "torch.nn.functional.interpolate",
        "2.4.1",
        "x, size=(2, 2)",
        {"mode": "nearest", "antialias": "false", "output_size": "2", "align_corners": "false"},
    ),
    (
        "torch",
        "torch.nn.functional.interpolate",
        "1.5.0",
        "x, None, 2, 'bicubic'",
        {"mode": "bicubic", "output_size": "2", "align_corners": "false"},
    ),
    (
        "torch",
        "torch.nn.functional.interpolate",
        "2.9.1",
        "x, mode=mode",
        {"antialias": "false", "output_size": "2", "align_corners": "false"},
    ),
    (
        "torch",
        "torch.nn.Upsample",
        "2.0.0",
        "scale_factor=2",
        {"mode": "nearest", "output_size": "2", "align_corners": "false"},
    ),
    (
        "torch",
        "torch.nn.EmbeddingBag",
        "1.4.0",
        "10, 3",
        {"mode": "mean", "max_norm": "false", "layout": "dense"},
    ),
    (
        "torch",
        "torch.nn.functional.pad",
        "2.1.0",
        "x, (1, 1), 'reflect'",
        {"mode": "reflect", "ndim": "3", "scalar": "false"},
    ),
    ("torch", "torch.nn.functional.cross_entropy", "2.4.1", "a, b", {"reduction": "mean"}),
    ("torch", "torch.nn.CrossEntropyLoss", "2.4.1", "reduction='none'", {"reduction": "none"}),
    ("torch", "torch.bincount", "1.8.1", "x", {"weights": "false"}),
    ("torch", "torch.bincount", "1.8.1", "x, w", {"weights": "true"}),
    ("torch", "torch.Tensor.bincount", "2.15.0", "w", {"weights": "true"}),
    ("torch", "torch.Tensor.index_put_", "2.6.0", "(i,), v, True", {"accumulate": "true"}),
    ("torch", "torch.Tensor.put_", "1.9.0", "i, v", {"accumulate": "false"}),
    (
        "torch",
        "torch.Tensor.scatter_reduce_",
        "2.2.0",
        "0, i, s, 'amax'",
        {"reduce": "amax", "dim": "true"},
    ),
    (
        "torch",
        "torch.Tensor.scatter_",
        "2.2.0",
        "0, i, s, reduce='add'",
        {"reduce": "sum", "dim": "true"},
    ),
    (
        "tensorflow",
        "tf.image.resize",
        "2.5.0",
        "x, [2, 2]",
        {"method": "bilinear", "antialias": "false", "output_size": "2"},
    ),
    (
        "tensorflow",
        "tf.image.resize",
        "2.5.0",
        "x, s, tf.image.ResizeMethod.NEAREST_NEIGHBOR",
        {"method": "nearest", "antialias": "false"},
    ),
    (
        "tensorflow",
        "tf.keras.layers.UpSampling2D",
        "2.19.0",
        "2",
        {"interpolation": "nearest", "output_size": "2"},
    ),
    (
        "tensorflow",
        "tf.keras.layers.UpSampling2D",
        "2.3.0",
        "2, None, 'bilinear'",
        {"interpolation": "bilinear", "output_size": "2"},
    ),
    ("tensorflow", "tf.data.Dataset.map", "2.9.0", "f", {"parallel_calls": "false"}),
    (
        "tensorflow",
        "tf.data.Dataset.map",
        "2.9.0",
        "f, tf.data.AUTOTUNE",
        {"parallel_calls": "true"},
    ),
    ("tensorflow", "tf.data.Dataset.map", "1.15.0", "f, 4", {"parallel_calls": "true"}),
    ("tensorflow", "tf.math.bincount", "2.4.0", "x, w", {"weights": "true", "dtype": "integer"}),
    ("torch", "torch.median", "2.4.1", "x", {"dim": "false"}),
    ("torch", "torch.median", "2.4.1", "x, 1", {"dim": "true"}),
    ("torch", "torch.cumsum", "2.4.1", "x, 0", {"dim": "true"}),
    (
        "torch",
        "torch.cumsum",
        "2.4.1",
        "x, 0, dtype=torch.int64",
        {"dim": "true", "dtype": "integer"},
    ),
    ("jax", "jax.numpy.bincount", "0.4.30", "x", {"weights": "false"}),
    ("jax", "jax.numpy.bincount", "0.12.0", "x, w", {"weights": "true"}),
    ("jax", "jax.nn.dot_product_attention", "0.6.0", "q, k, v", {"implementation": "xla"}),
    (
        "jax",
        "jax.nn.dot_product_attention",
        "0.6.0",
        "q, k, v, implementation='cudnn'",
        {"implementation": "cudnn"},
    ),
    (
        "jax",
        "jax.numpy.ndarray.at.add",
        "0.5.0",
        "v, unique_indices=True",
        {"duplicate_indices": "false"},
    ),
    ("jax", "jax.numpy.ndarray.at.add", "0.5.0", "v", {}),
]


def _signature(kb: KnowledgeBase, package: str, name: str, release: str) -> Signature | None:
    return next(iter(kb.signatures_in(package, name, [release])), None)


@pytest.mark.parametrize(("package", "name", "release", "text", "facts"), CALLS)
def test_a_call_decides_facts(
    package: str, name: str, release: str, text: str, facts: dict[str, str]
) -> None:
    kb = knowledge_base()
    signature = _signature(kb, package, name, release)
    given = arguments(text)
    assert signature is not None
    assert decide_facts(kb.meta.facts, bind(signature, given.positional, given.keywords)) == facts


@pytest.mark.parametrize(
    ("name", "text", "bound"),
    [
        ("torch.Tensor.cumsum", "0", {"dim": "0", "dtype": "none"}),
        ("torch.median", "x", {"input": "?x", "dim": "none", "keepdim": "none"}),
        ("torch.Tensor.max", "1", {"dim": "1", "keepdim": "false", "other": "none"}),
        ("torch.Tensor.sum", "", {"dim": "none", "keepdim": "none", "dtype": "none"}),
    ],
)
def test_what_is_left_out_has_the_default_of_the_framework(
    name: str, text: str, bound: dict[str, str]
) -> None:
    signature = _signature(knowledge_base(), "torch", name, "2.4.1")
    given = arguments(text)
    assert signature is not None
    assert bind(signature, given.positional, given.keywords) == bound


def test_a_legacy_parameter_keeps_its_place() -> None:
    """The fourth parameter of cross_entropy is size_average, so 'sum' there leaves the reduction as
    it is.
    """
    signature = _signature(knowledge_base(), "torch", "torch.nn.functional.cross_entropy", "2.4.1")
    assert signature is not None
    bound = bind(signature, ("a", "b", "None", "'sum'"), {})
    assert (bound["size_average"], bound["reduction"]) == ("sum", "mean")


def test_a_release_that_no_wheel_shows_has_the_signature_of_the_others() -> None:
    kb = knowledge_base()
    assert _signature(kb, "torch", "torch.no_such_function", "2.4.1") is None
    name = "torch.nn.functional.scaled_dot_product_attention"
    first = _signature(kb, "torch", name, "2.0.0")
    assert first is not None
    assert _signature(kb, "torch", name, "1.8.0") == first


def test_every_value_of_a_parameter_means_a_value_of_its_fact() -> None:
    for name, fact in knowledge_base().meta.facts.items():
        for words in fact.parameters.values():
            assert fact.argument
            for value in set(words.values()) - {*fact.values, "?"}:
                assert fact.type == "int", name
                assert int(value) >= int(fact.least or 0), name


def test_the_files_say_which_wheel_each_release_was_read_from_and_are_small() -> None:
    paths = sorted(Path(KB, "evidence").glob("signatures-*.json"))
    assert [path.stem for path in paths] == [
        "signatures-jax",
        "signatures-tensorflow",
        "signatures-torch",
    ]
    for path in paths:
        known: SignatureCatalogue = read(path, SignatureCatalogue)
        assert path.stat().st_size < 160_000
        assert path.read_bytes() == known.encoded()
        assert list(known.releases) == sorted(known.wheels, key=known.releases.index)
        assert all(
            len(digest) == 64 for wheels in known.wheels.values() for digest in wheels.values()
        )


def test_a_compiled_knowledge_base_gives_the_same_signatures(tmp_path: Path) -> None:
    compiled.write(knowledge_base(), tmp_path / "kb")
    kb = compiled.read(str(tmp_path / "kb"))
    for package, name, release, _text, _facts in CALLS:
        assert _signature(kb, package, name, release) == _signature(
            knowledge_base(), package, name, release
        )


def test_the_table_holds_methods_written_out_and_releases_by_their_minor_release() -> None:
    catalogue = SignatureCatalogue(
        "torch",
        ["1.1.0", "1.2.0", "2.0.1"],
        signatures={
            "1.1.0..": {"torch.Tensor.cumsum": "=", "torch.nn.Up": "size, mode='a'"},
            "1.1.0..2.0.1": {"torch.cumsum": "input, dim | input, dim: int, k=(0, 1)"},
            "2.0.1..": {"torch.cumsum": "input, dim", "torch.cumsum_": "input, axis"},
        },
    )
    assert signature_table.table([catalogue]) == {
        "torch:torch.tensor.cumsum": (
            Signature(
                "torch.Tensor.cumsum", (Existence(until="2.0"),), ("dim", "dim: int, k=(0, 1)")
            ),
            Signature("torch.Tensor.cumsum", (Existence(from_="2.0"),), ("dim",)),
        ),
        "torch:torch.nn.up": (Signature("torch.nn.Up", (Existence(),), ("size, mode='a'",)),),
        "torch:torch.cumsum": (
            Signature(
                "torch.cumsum",
                (Existence(until="2.0"),),
                ("input, dim", "input, dim: int, k=(0, 1)"),
            ),
            Signature("torch.cumsum", (Existence(from_="2.0"),), ("input, dim",)),
            Signature("torch.cumsum_", (Existence(from_="2.0"),), ("input, axis",)),
        ),
    }


def test_a_namespace_that_no_wheel_shows_for_a_while_keeps_what_it_had_on_both_sides() -> None:
    catalogue = SignatureCatalogue(
        "tensorflow",
        ["1.14.0", "1.15.5", "2.1.4", "2.2.3"],
        signatures={
            "1.14.0..1.15.5,2.2.3..": {
                "tf.keras.layers.Dense": "units, bias=True",
                "tf.nn.gone": "a, b",
            },
            "1.14.0..1.15.5": {"tf.keras.layers.Up": "size"},
            "2.2.3..": {"tf.keras.layers.Up": "size, mode='a'"},
            "1.14.0..": {"tf.nn.conv": "x, y"},
        },
    )
    table = signature_table.table([catalogue])
    assert [each.spans for each in table["tensorflow:tf.keras.layers.dense"]] == [(Existence(),)]
    assert [each.spans for each in table["tensorflow:tf.keras.layers.up"]] == [
        (Existence(until="1.15"),),
        (Existence(from_="2.2"),),
    ]
    assert table["tensorflow:tf.nn.gone"][0].spans == (
        Existence(until="1.15"),
        Existence(from_="2.2"),
    )
