"""One question has one answer: alone, in a list, in any order and spelling, over releases, from
files, in Python and on the command line.

By day a sample, nightly all (`sample`).
"""

from __future__ import annotations

import json
import random
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path

import pytest

from conftest import sample
from d9m import api
from d9m.environment.environment import Setup
from d9m.errors import UsageError
from d9m.model.advice import REPEATS, Advice, OpAnswer, exit_code, worst
from d9m.model.records import Outcome
from d9m.model.versions import minor
from golden import knowledge_base
from process import d9m

KB = knowledge_base()
DEVICES = ("cuda", "cpu")
ENDS = [
    (package, releases[-place], device)
    for package in KB.meta.prefixes
    if (releases := KB.releases(package))
    for place in range(1, len(releases) + 1)
    for device in DEVICES
]
"""Every release of each package with ops, newest first, on two devices."""


def ask(
    package: str,
    version: str | None,
    device: str,
    ops: list[str] | None = None,
    facts: dict[str, str] | None = None,
) -> Advice:
    setup = Setup(((package, version),), device=device, facts=tuple((facts or {}).items()))
    return api.advise(KB, setup, ops)


def by_query(advice: Advice) -> dict[str, OpAnswer]:
    return {op.query: op for op in advice.ops if op.query != "*"}


def meaning(op: OpAnswer) -> object:
    """Return all that an answer says of an op, less which settings other ops chose."""
    sources = [
        (each.id, each.outcome, each.default, each.raised_by, each.alternatives, each.when)
        for each in op.sources
    ]
    others = [(each.when, each.outcome) for each in op.otherwise]
    return op.outcome, op.default, op.without_mode, op.fixed_in, sources, others


DECIDING = {KB.ops[place].name for place in KB.ops if KB.ops[place].facts}
"""Ops whose name says something of the whole program."""


@pytest.mark.parametrize(("package", "release", "device"), sample(ENDS, 60))
def test_an_op_is_answered_alone_as_in_any_list(package: str, release: str, device: str) -> None:
    listed = by_query(ask(package, release, device))
    names = sample([each for each in listed if each not in DECIDING], 4)
    together = by_query(ask(package, release, device, names))
    shuffled = random.Random(1).sample(names, len(names))
    backwards = by_query(ask(package, release, device, shuffled))
    for name in names:
        alone = meaning(by_query(ask(package, release, device, [name]))[name])
        assert alone == meaning(listed[name]), f"{name} among all"
        assert alone == meaning(together[name]), f"{name} in a list"
        assert alone == meaning(backwards[name]), f"{name} in another order"


def spans(package: str) -> Iterable[tuple[str, list[str]]]:
    """Return minor releases with several patches, and pairs of neighbours."""
    releases = list(KB.releases(package))
    minors: dict[str, list[str]] = defaultdict(list)
    for release in releases:
        minors[minor(release)].append(release)
    for name, patches in minors.items():
        if len(patches) > 1 and name not in releases:
            yield name, patches
    for place in range(0, len(releases) - 3, 3):
        part = releases[place : place + 4]
        yield f">={part[0]},<={part[-1]}", part


SPANS = [
    (package, *span, device)
    for package in KB.meta.prefixes
    for span in spans(package)
    for device in DEVICES
]


@pytest.mark.parametrize(("package", "version", "releases", "device"), sample(SPANS, 60))
def test_a_range_is_as_uncertain_as_its_releases(
    package: str, version: str, releases: list[str], device: str
) -> None:
    whole = by_query(ask(package, version, device))
    found: dict[str, set[Outcome]] = defaultdict(set)
    for release in releases:
        for name, op in by_query(ask(package, release, device, [*whole])).items():
            if op.note is None or not op.note.startswith("exists in"):
                found[name].add(op.outcome)
    for name, outcomes in found.items():
        if name not in DECIDING:
            said = whole[name].outcome
            is_mixed = len(outcomes) > 1 and not outcomes <= set(REPEATS)
            assert said == worst(outcomes) or (is_mixed and said == "depends"), name


OPERATORS = [
    name.removeprefix("torch:torch.")
    for name in KB.ops
    if name.startswith("torch:torch.") and name.count(".") == 1 and name.islower()
]


@pytest.mark.parametrize("release", ["1.13.1", "2.4.1", "2.13.0"])
def test_the_names_of_an_operator_have_one_answer(release: str) -> None:
    for device in DEVICES:
        for name in sample(OPERATORS, 6):
            found: dict[str, str] = {}
            for spelling in (
                name,
                f"torch.{name}",
                f"aten::{name}",
                f"torch.ops.aten.{name}.default",
            ):
                try:
                    op = ask("torch", release, device, [spelling]).ops[0]
                except UsageError:
                    continue  # no operator has this name
                found[spelling] = op.outcome
            assert len(set(found.values())) == 1, found


@pytest.mark.parametrize(
    ("operator", "outcome"),
    [
        ("aten::linear", "solved"),
        ("aten::linear_backward", "solved"),
        ("aten::matmul_backward", "solved"),
        ("aten::_linalg_svd", "solved"),
        ("aten::_cdist_backward", "solved"),
        ("aten::_euclidean_dist", "solved"),
        ("aten::_scaled_dot_product_attention_math", "solved"),
        ("aten::_embedding_bag_per_sample_weights_backward", "solved"),
        ("aten::_thnn_fused_gru_cell", "no-known-source"),
        ("aten::_thnn_fused_lstm_cell", "no-known-source"),
        ("aten::mkldnn_rnn_layer_backward", "no-known-source"),
    ],
)
def test_an_internal_operator_is_answered_as_its_kernel_on_dense_tensors(
    operator: str, outcome: str
) -> None:
    op = ask("torch", "2.4", "cuda", [operator]).ops[0]
    assert op.outcome == outcome
    assert "pytorch/sdpa-backward" not in {source.id for source in op.sources}


@pytest.mark.parametrize(
    "pair",
    sample(
        [
            ("torch", "2.4.1", "2.6.0"),
            ("torch", "1.13.1", "2.0.1"),
            ("tensorflow", "2.8.4", "2.9.3"),
            ("torch", "2.8.0", "2.9.1"),
        ],
        2,
    ),
)
def test_a_comparison_of_releases_agrees_with_each_of_them(pair: tuple[str, str, str]) -> None:
    package, first, second = pair
    before = by_query(ask(package, first, "cuda"))
    after = by_query(ask(package, second, "cuda"))
    known = before.keys() & after.keys()
    said = json.loads(
        d9m("advise", "--with", package, "--diff", f"{first}..{second}", "--format", "json").stdout
    )
    for change in said["ops"]:
        name = change["query"]
        if name in known and change["before"] and change["after"]:
            assert change["before"]["outcome"] == before[name].outcome, name
            assert change["after"]["outcome"] == after[name].outcome, name
    changed = {change["query"] for change in said["ops"]}
    for name in known - changed:
        assert before[name].outcome == after[name].outcome, name


ASKED = [
    ("torch", "2.4.1", "cumsum,index_add"),
    ("torch", "2.9.1", "nn.Linear,avg_pool3d"),
    ("tensorflow", "2.9.3", "tf.nn.bias_add"),
    ("jax", "0.10.2", "jax.numpy.matmul"),
    ("torch", "2.13.0", "relu"),
]


@pytest.mark.parametrize(("package", "release", "ops"), ASKED)
def test_every_way_to_ask_ends_alike(package: str, release: str, ops: str, tmp_path: Path) -> None:
    advice = ask(package, release, "cuda", ops.split(","))
    code = exit_code(advice)
    listed = tmp_path / "requirements.txt"
    listed.write_text(f"{package}=={release}\n", encoding="utf-8")
    named = ("--with", f"{package}={release}")
    for where in (named, ("--from", str(listed))):
        asked = ("advise", *where, "--device", "cuda", "--ops", ops)
        answer = json.loads((as_json := d9m(*asked, "--format", "json")).stdout)
        text = d9m(*asked)
        assert (as_json.returncode, text.returncode) == (code, code)
        assert answer["outcome"] == advice.outcome
        assert [op["outcome"] for op in answer["ops"]] == [op.outcome for op in advice.ops]
        assert answer["settings"]["env"] == advice.settings.env
        assert answer["settings"]["python"] == advice.settings.python


def test_a_warning_instead_of_an_error_is_the_same_in_text_and_json() -> None:
    for facts in (
        ("--fact", "warn_only=true"),
        ("--calls", "torch.use_deterministic_algorithms(True, warn_only=True)"),
    ):
        asked = ("advise", "--torch", "2.9", *facts, "--ops", "avg_pool3d,index_add")
        answer = json.loads(d9m(*asked, "--format", "json").stdout)
        assert [op["outcome"] for op in answer["ops"]][:2] == ["unsolved", "solved"]
        said = " ".join(d9m(*asked).stdout.split())
        assert "warns, and is nondeterministic" in said
        assert "raises an error with" not in said


def test_opposite_wishes_are_choices_of_the_deterministic_mode() -> None:
    advice = ask("torch", "2.4", "cuda", ["cumsum", "index_add"])
    on, off = advice.choices
    assert (on.mode, on.raises, on.nondeterministic) == ("on", ["cumsum"], [])
    assert (off.mode, off.raises, off.nondeterministic) == ("off", [], ["cumsum", "index_add"])
    assert [op.without_mode for op in advice.ops] == ["unsolved", None]
    assert ask("torch", "2.4", "cuda", ["cumsum"]).choices == []
    for format_ in ("env", "python", "dockerfile", "slurm"):
        block = d9m("advise", "--torch", "2.4", "--ops", "cumsum,index_add", "--format", format_)
        assert (
            "# CHOICE: with torch.use_deterministic_algorithms(True), cumsum raises" in block.stdout
        )
        assert "without it, cumsum and index_add are nondeterministic" in block.stdout


@pytest.mark.parametrize(
    ("op", "outcome"),
    [
        ("scatter_(0, idx, src, reduce='multiply')", "raises"),
        ("scatter(x, 0, i, 1.0)", "deterministic"),
        ("scatter(x, 0, i, src)", "solved"),
        ("F.interpolate(x, size=(1, 1), mode='area')", "deterministic"),
        ("F.interpolate(x, scale_factor=2, mode='area')", "raises"),
    ],
)
def test_arguments_decide_what_a_caution_said(op: str, outcome: str) -> None:
    assert ask("torch", "2.9", "cuda", [op]).ops[0].outcome == outcome
