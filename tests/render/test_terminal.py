"""What every answer for a terminal holds to, on the real knowledge base."""

from __future__ import annotations

import re

import pytest

from d9m.api import advise
from d9m.browse.changes import compare, exit_code
from d9m.environment.environment import Setup
from d9m.errors import ExitCode
from d9m.model.records import Scope
from d9m.render import phrases
from d9m.render.advice.text import environment, render
from d9m.render.browse import changes
from d9m.render.interface import Answer
from d9m.render.page import WIDTH
from golden import flat, knowledge_base
from process import d9m

COPIED = "  "
"""How lines to copy begin; they are as long as they must be."""


def shown(
    ops: list[str] | None = None,
    device: str = "cuda",
    scope: Scope = "run",
    everything: bool = False,
    width: int = WIDTH,
    facts: tuple[tuple[str, str], ...] = (),
    **packages: str,
) -> tuple[str, list[str]]:
    """Return the text of an answer, and the queries of ops that no setting helps."""
    asked = Setup(packages=tuple(packages.items()), device=device, facts=facts)
    advice = advise(knowledge_base(), asked, ops, scope)
    answer = Answer(
        advice,
        knowledge_base(),
        named_ops=ops is not None,
        everything=everything,
        width=width,
    )
    page = render(answer).body
    assert not isinstance(page, str)
    return page.plain(), [op.query for op in advice.ops if op.outcome in ("raises", "unsolved")]


@pytest.mark.parametrize("width", [60, 80, 120])
@pytest.mark.parametrize(
    ("name", "version"),
    [
        ("tensorflow", "1.14"),
        ("tensorflow", "2.21"),
        ("torch", "1.8"),
        ("torch", "2.15"),
        ("jax", "0.10"),
    ],
)
def test_a_line_fits_the_terminal_unless_it_is_to_be_copied(
    name: str, version: str, width: int
) -> None:
    text, _open = shown(width=width, everything=True, **{name: version})
    long = [line for line in text.splitlines() if len(line) > width]
    assert [line for line in long if not line.startswith(COPIED)] == []


@pytest.mark.parametrize(
    ("name", "version"), [("tensorflow", "2.9"), ("torch", "2.10"), ("jax", "0.4.30")]
)
def test_every_nondeterministic_op_has_a_line(name: str, version: str) -> None:
    text, open_ = shown(everything=True, **{name: version})
    assert open_
    head = flat(text.partition("Shell, before")[0])
    assert [query for query in open_ if query.rpartition(".")[2] not in head] == []


def test_an_op_without_a_record_is_not_called_deterministic() -> None:
    text, _open = shown(["index_add", "F.gelu"], torch="2.4")
    assert "gelu no known nondeterminism (not a proof)" in flat(text)
    assert flat(text).startswith(
        "index_add is deterministic with the settings below; gelu has no known nondeterminism "
        "(not a proof)."
    )
    text, _open = shown(["F.gelu"], scope="hardware", torch="2.4")
    assert text.startswith("gelu has no known difference across hardware (not a proof).")


def test_a_nondeterministic_op_comes_before_one_without_a_record() -> None:
    text, _open = shown(["tf.nn.conv2d", "tf.train.AdamOptimizer"], tensorflow="1.3")
    assert flat(text).startswith(
        "conv2d is nondeterministic and no setting fixes it; AdamOptimizer has no known"
    )


def test_a_worse_call_comes_with_its_workaround() -> None:
    text, _open = shown(["tf.data.Dataset.map"], tensorflow="2.0")
    page = flat(text)
    workaround = page.index("stateless random ops")
    assert page.index("with num_parallel_calls greater than 1: nondeterministic") < workaround
    assert workaround < page.index("Shell, before")


def test_only_the_gradient_is_said_to_raise_where_only_it_does() -> None:
    text, _open = shown(["tf.keras.layers.BatchNormalization"], tensorflow="2.14")
    assert "outside training: gradient nondeterministic; raises an error with" in flat(text)
    assert "evaluate() and predict() compute no gradient" in flat(text)


def test_no_code_of_ours_reaches_a_reader() -> None:
    """Labels are ids of records: a reader sees the call or the variable instead."""
    labels = [f" {label}" for label in ("UDA", "CWC", "CWR", "CBO", "CDT", "EOD", "TDO")]
    text, _open = shown(everything=True, torch="2.4")
    assert [label for label in labels if label in text] == []


def test_a_note_begins_with_the_name_of_what_it_is_about() -> None:
    text, _open = shown(["conv", "index_add"], everything=True, torch="2.4")
    assert "use_deterministic_algorithms(True) does not switch cuDNN benchmarking off" in flat(text)


def said(ops: list[str] | None = None, **packages: str) -> str:
    """An answer on one line."""
    return flat(shown(ops, **packages)[0])


def test_the_argument_to_pass_comes_first() -> None:
    text = said(["flash_attn_func"], torch="2.4")
    assert text.startswith("Pass deterministic=True to flash_attn_func.")
    assert said(["index_add"], torch="2.4").startswith("index_add is deterministic with torch.use_")


def test_of_a_wrapper_only_what_is_judged_counts() -> None:
    text = said(["DDP", "index_add"], torch="2.4")
    assert "Of DDP, only the all-reduce of the gradients is covered" in text
    assert "is covered" not in said(["all_reduce"], torch="2.4")


def test_an_op_that_needlessly_raises_is_called_deterministic_without_the_setting() -> None:
    text = said(["bincount:weights=false", "cumsum"], torch="2.0")
    assert text.startswith(
        "bincount (weights=false) raises an error with torch.use_deterministic_algorithms(True) "
        "and is deterministic without it; cumsum raises an error with "
        "torch.use_deterministic_algorithms(True) and is nondeterministic without it."
    )
    assert "! bincount (weights=false) deterministic; raises an error with" in text


def test_a_release_that_is_older_than_the_device_gets_no_settings() -> None:
    text = flat(d9m("advise", "--torch", "1.11", "--device", "mps", "--ops", "cumsum").stdout)
    assert text == (
        "PyTorch 1.11 does not support MPS, which came with PyTorch 1.12. Upgrade, or name another "
        "device. PyTorch 1.11 · MPS · training"
    )
    newer = d9m("advise", "--torch", "1.12", "--device", "mps", "--ops", "cumsum").stdout
    assert "does not support" not in newer


@pytest.mark.parametrize(
    ("op", "name"),
    [
        ("t[idx] = v", "torch.Tensor.__setitem__"),
        ("a.gather(0, index):backward", "torch.gather"),
        ("nn.Embedding(2, 64, max_norm=1.0)", "nn.Embedding"),
        ("nn.CrossEntropyLoss[ndim=4]", "nn.CrossEntropyLoss"),
        ("conv", "conv"),
    ],
)
def test_the_records_are_named_by_an_op_without_its_arguments(op: str, name: str) -> None:
    assert f"Evidence: d9m show {name} · " in said([op], torch="1.8")


def test_an_op_that_raises_only_with_an_unneeded_setting_has_the_sign_of_an_exception() -> None:
    assert "! bincount deterministic;" in said(["bincount"], torch="2.0")
    assert "✗ bincount raises an error" in said(["bincount", "index_add"], torch="2.0")


def test_what_to_leave_out_comes_before_what_to_set() -> None:
    text = said(["x.at[i].set(y)"], jax="0.5.3")
    assert text.index("Leave out # makes .at[].set()") < text.index("Shell, before")


def test_a_case_that_raises_says_what_happens_without_the_setting() -> None:
    text = said(["nll_loss"], torch="1.10")
    assert text.startswith("nll_loss is nondeterministic only on inputs of 3 or more dimensions.")
    assert "raises an error with torch.use_deterministic_algorithms(True), nondeter" in text


def test_a_build_between_two_releases_is_nondeterministic_where_both_are() -> None:
    op = "AdaptiveAvgPool2d:output_size=7"
    text = said([op], torch="1.7.0a0+8deb4fe")
    assert "is nondeterministic and no setting fixes it." in text
    both = said(["AdaptiveAvgPool2d"], torch="1.7.0a0+8deb4fe")
    assert both.startswith("AdaptiveAvgPool2d (backward) is deterministic only with output size 1.")


def test_two_ops_that_raise_alike_are_one_statement() -> None:
    assert said(["cumsum", "avg_pool3d"], torch="2.4").startswith(
        "Both ops raise errors with torch.use_deterministic_algorithms(True) and are "
        "nondeterministic without it."
    )
    assert said(["cumsum", "index_add"], torch="2.4").startswith(
        "index_add is deterministic with the settings below; cumsum raises an error with "
        "torch.use_deterministic_algorithms(True)."
    )


def test_only_the_gradient_is_blamed_where_only_it_differs() -> None:
    assert "avg_pool3d (backward) raises an error" in said(["avg_pool3d", "index_add"], torch="2.4")
    assert "index_add (backward)" not in said(["index_add"], torch="2.4")


def test_a_heavy_cost_is_the_first_note() -> None:
    assert "• Forked workers start from a copy" in said(["DataLoader"], torch="1.5")
    cost = said(["scatter_add"], jax="0.4.16")
    assert "150 times slower" in cost.partition(" Notes • ")[2].partition(" • ")[0]
    assert "deterministic with --xla_gpu_deterministic_ops=true" in cost
    assert "nondeterministic by default: Scatter adds with atomics" in cost


def test_an_answer_to_no_ops_says_so_first() -> None:
    text = said(torch="2.4")
    assert re.match(
        r"\d+ of \d+ recorded ops are deterministic with the settings below; .*; \d+ raise errors; "
        r"\d+ depend on the details below; .*\. To ask about your ops only: --ops\. ",
        text,
    )
    assert text.index("Top of the program") < text.index("nondeterministic; no setting fixes it")
    assert "Evidence: d9m show NAME" in text


@pytest.mark.parametrize(
    ("name", "version", "first"),
    [
        ("torch", "2.44", "PyTorch 2.44 is newer than 2."),
        ("tensorflow", "2.99", "TensorFlow 2.99 is newer than 2."),
        ("jax", "0.99", "JAX 0.99 is newer than 0."),
        ("vllm", "9.9", "vLLM 9.9 is newer than 0."),
    ],
)
def test_an_unknown_version_is_the_first_sentence(name: str, version: str, first: str) -> None:
    assert said(**{name: version}).startswith(first)


def test_an_upgrade_goes_up() -> None:
    assert "upgrade to vLLM 0.0.1" not in said(vllm="9.9")
    assert "upgrade to PyTorch 2.6" in said(["cumsum"], torch="2.4")


def test_one_note_is_one_note() -> None:
    assert [phrases.plural(count, "more note") for count in (1, 2)] == [
        "1 more note",
        "2 more notes",
    ]


def test_the_header_names_cuda_once() -> None:
    asked = Setup(container="ngc-pytorch:24.05")
    advice = advise(knowledge_base(), asked, ["index_add"])
    header = environment(Answer(advice, knowledge_base()))
    assert "CUDA 12.4.1 · training" in header
    assert header.count("CUDA") == 1


def test_a_gpu_is_named_as_it_was_asked_for() -> None:
    advice = advise(knowledge_base(), Setup((("torch", "2.4"),), gpu="H100"), ["index_add"])
    header = environment(Answer(advice, knowledge_base()))
    assert "· H100 · training · on sm_90 GPUs ·" in header


def test_a_note_says_what_else_a_bare_name_could_mean() -> None:
    text = said(["softmax"], torch="2.4")
    assert "softmax is taken as torch.nn.functional.softmax. If you mean torch_geometric" in text
    assert "is taken as tf.linalg.matmul. If you mean tf.sparse.matmul" in said(
        ["matmul"], tensorflow="2.10"
    )
    for name in ("cumsum", "F.softmax", "torch_scatter.scatter"):
        assert "is taken as" not in said([name], torch="2.4")


def test_an_upgrade_says_what_to_set_there() -> None:
    assert "upgrade to PyTorch 1.9 and set torch.use_deterministic_algorithms(True)" in said(
        ["index_add"], torch="1.6"
    )
    assert "upgrade to TensorFlow 1.14 and set TF_CUDNN_DETERMINISTIC=1" in said(
        ["conv2d"], tensorflow="1.10"
    )
    text = said(sglang="0.4.3")
    assert "set SGLang's deterministic inference (--enable-deterministic-inference)" in text


def test_what_only_a_fact_brings_is_named_with_the_fact() -> None:
    text = said(xgboost="2.0")
    assert (
        "races on purpose: only with XGBoost's linear booster (--fact linear_booster=true)" in text
    )


def test_packages_that_lead_leave_one_sentence_to_the_ops() -> None:
    text = said(torch="2.4", vllm="0.11.1")
    verdict = text.partition(" PyTorch 2.4 (")[0]
    assert verdict.startswith("vLLM has 5 known sources of nondeterminism")
    assert verdict.count(" recorded ops ") == 1
    assert verdict.endswith(" To ask about your ops only: --ops.")


def test_a_name_without_outcomes_points_to_what_to_do() -> None:
    text = said(["torch.compile"], torch="2.4")
    assert text.startswith(
        "Keep torch.compile from choosing kernels by timing: d9m show torch-compile."
    )
    assert "no known" not in text.lower()


def test_a_comparison_with_an_unknown_release_says_so_first() -> None:
    done = d9m("advise", "--torch", "any", "--ops", "cumsum", "--diff", "2.4..2.44")
    assert done.stdout.startswith("PyTorch 2.44 is newer than 2.")
    assert "not verified for this release with" not in flat(done.stdout)


@pytest.mark.parametrize("span", ["2.9..2.10", "2.5..2.6"])
def test_a_comparison_names_only_records_whose_own_answer_changed(span: str) -> None:
    change = compare(knowledge_base(), Setup(packages=(("torch", None),)), None, span, "run")
    before, after = (
        advise(knowledge_base(), Setup(packages=(("torch", version),)))
        for version in span.split("..")
    )
    sources = [
        {
            (op.query, each.id): (each.outcome, each.solutions, each.possible)
            for op in side.ops
            for each in op.sources
        }
        for side in (before, after)
    ]
    named = [(op.query, id_) for op in change.ops if "[" not in op.query for id_ in op.causes]
    assert named
    assert all(sources[0].get(cause) != sources[1].get(cause) for cause in named)


def test_a_comparison_gives_the_workspace_as_the_reason_where_only_it_changed() -> None:
    done = d9m("advise", "--torch", "any", "--ops", "nn.Linear", "--diff", "2.9..2.10")
    assert "why: cuBLAS picks a workspace at run time\n" in done.stdout


def test_a_comparison_of_nothing_does_not_say_that_nothing_changes() -> None:
    asked = Setup(packages=(("numpy", None),))
    change = compare(knowledge_base(), asked, None, "1.20..1.21", "run")
    text = flat(changes.render(knowledge_base(), change).plain())
    assert exit_code(change) == ExitCode.ABSENT
    assert "Between NumPy 1.20 and 1.21, nothing is known to compare." in text
    assert "no op changes" not in text


def test_on_a_cpu_the_number_of_threads_is_a_note() -> None:
    text, _open = shown(["nn.Linear"], device="cpu", torch="2.4")
    assert "torch.set_num_threads changes it" in flat(text)
    assert "torch.set_num_threads" not in said(["nn.Linear"], torch="2.4")


def test_a_nondeterministic_op_that_is_not_verified_has_its_upgrade() -> None:
    text = said(["F.scaled_dot_product_attention[dtype=float16]"], torch="2.2")
    assert "upgrade to PyTorch 2.3 and set torch.use_deterministic_algorithms(True)" in text


def test_two_differences_of_one_op_need_one_upgrade() -> None:
    text, _open = shown(["F.linear[dtype=bfloat16]"], device="mps", torch="2.12")
    assert text.count("upgrade to") == 1
    assert "upgrade to PyTorch 2.14" in text


def test_an_operator_is_called_by_its_name_and_not_by_its_overload() -> None:
    text = said(["torch.ops.aten.index_add_.default"], torch="2.4")
    assert text.startswith("index_add_ is deterministic with torch.")


def test_an_answer_does_not_ask_for_what_its_settings_make_superfluous() -> None:
    equal = "Also keep batches equal"
    assert equal in flat(shown(scope="batch", vllm="0.10.0")[0])
    dense = (("moe", "false"), ("quantization", "unquantized"))
    assert equal not in flat(shown(scope="batch", facts=dense, sglang="0.5.4")[0])
    assert "switch off Horovod's Tensor Fusion" not in said(horovod="0.21.1")


def test_without_named_ops_no_note_is_about_an_op() -> None:
    assert "disagree on as_strided" not in said(torch="2.4", ultralytics="8.3.190")
    assert "disagree on as_strided" in flat(shown(everything=True, torch="2.4")[0])


def test_a_library_that_says_where_it_computes_has_no_device_of_its_framework() -> None:
    assert "XGBoost 2.0 (2.0.0 to 2.0.3) · training" in said(xgboost="2.0")
    assert "· CUDA · training" in said(xgboost="2.0", torch="2.4")


def test_of_a_library_without_records_the_ops_of_its_framework_are_named() -> None:
    text = said(torchtitan="0.2.1")
    assert text.startswith("No known nondeterminism in torchtitan (not a proof).")
    assert "torchtitan runs PyTorch's ops. For their settings, add --torch VERSION." in text
    assert "--debug.deterministic" in text


def test_one_call_is_said_to_leave_what_it_does_not_set() -> None:
    text = said(torch="2.4", transformers="4.44")
    assert "and leaves PYTHONHASHSEED to you." in text


def test_the_command_that_shows_sources_can_be_pasted() -> None:
    assert "d9m show nn.Upsample ·" in said(
        ["nn.Upsample(scale_factor=2, mode='bilinear')"], torch="2.4"
    )


def test_an_item_with_quotes_can_be_pasted_and_read() -> None:
    text = said(["torch_scatter.scatter(src, index, dim=0, reduce='mean')"], torch="1.12")
    assert "--ops \"torch_scatter.scatter(src, index, dim=0, reduce='mean'):ndim=1\"" in text


def test_a_random_forest_is_seeded_before_anything_else() -> None:
    text = said(["RandomForestClassifier"], **{"scikit-learn": "1.5"})
    assert text.startswith("Pass random_state=0 to RandomForestClassifier.")
    assert text.rindex("random_state=0") < text.rindex("n_jobs=1 ")


def test_a_direct_call_of_an_operator_is_told_of_the_function_that_is_deterministic() -> None:
    text = said(["upsample_bilinear2d"], torch="2.4")
    assert "raises an error with torch.use_deterministic_algorithms(True)" in text
    assert "Call torch.nn.functional.interpolate instead" in text
    assert said(["F.interpolate:mode=bilinear"], torch="2.4").startswith(
        "interpolate (bilinear) is det"
    )


def test_a_cause_that_is_deterministic_by_default_is_no_reason_for_the_opposite() -> None:
    assert "deterministic by default: PyTorch gives each handle" in said(["nn.Linear"], torch="2.4")
    text = said(["nn.MultiheadAttention"], torch="2.4")
    assert "nondeterministic by default: Gradient of scaled dot product attention" in text
    assert "cuBLAS picks" not in text


@pytest.mark.parametrize(("release", "is_named"), [("2.4", True), ("2.15", False)])
def test_a_newer_release_that_raises_too_is_named(release: str, is_named: bool) -> None:
    text = said(["histc"], torch=release)
    assert ("(True), also in 2.15" in text) == is_named
    assert "every release" not in text


def test_a_workaround_of_compiled_code_is_among_the_settings() -> None:
    for release in ("2.1", "2.9"):
        done = d9m("advise", "--torch", release, "--ops", "index_add", "--fact", "compile=true")
        assert "export TORCHINDUCTOR_SHAPE_PADDING=0" in done.stdout
        assert done.stdout.count("padded matrix products") == 1


def test_a_table_names_no_upgrade_for_an_op_that_is_deterministic_here() -> None:
    ops = "nn.Linear,cumsum,histc"
    done = d9m("advise", "--torch", "2.4", "--ops", ops, "--format", "markdown")
    rows = [line.split(" | ") for line in done.stdout.splitlines() if line.startswith("| `")]
    assert [(row[0], row[-1]) for row in rows] == [
        ("| `nn.Linear`", "- |"),
        ("| `cumsum`", "2.6 |"),
        ("| `histc`", "none yet |"),
    ]


@pytest.mark.parametrize("op", ["nn.Conv2d", "nn.MultiheadAttention", "nn.LSTM", "index_add"])
def test_a_row_says_the_same_alone_and_in_a_list(op: str) -> None:
    alone, _open = shown([op], width=200, torch="2.4")
    listed, _open = shown([op, "F.fractional_max_pool2d", "relu"], width=200, torch="2.4")
    rows = [next(line for line in text.splitlines() if "✓" in line) for text in (alone, listed)]
    assert rows[0].split() == rows[1].split()


def test_an_op_that_has_other_settings_beside_others_says_so() -> None:
    assert "Linear alone would need only CUBLAS_WORKSPACE_CONFIG." in said(
        ["nn.Linear", "index_add"], torch="2.4"
    )
    assert "alone" not in said(["nn.Linear", "relu"], torch="2.4")
