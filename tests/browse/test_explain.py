"""Error texts are recognised by the beginning that is theirs alone."""

from __future__ import annotations

import pytest

from d9m.browse.explain import explain
from d9m.browse.messages import resembling
from d9m.environment.environment import Setup
from d9m.errors import UsageError
from d9m.model.when import Range
from d9m.render.browse.explain import render
from golden import flat, knowledge_base


@pytest.mark.parametrize(
    "text",
    [
        "Determinism is not yet supported in GPU implementation of",
        (
            "UnimplementedError: A deterministic GPU implementation of SomethingElse is not "
            "currently "
            "available."
        ),
        "AttributeError: module 'torch.mps' has no attribute 'something'",
    ],
)
def test_a_beginning_that_several_errors_share_is_none_of_them(text: str) -> None:
    with pytest.raises(UsageError, match="did you mean"):
        explain(knowledge_base(), text)


def test_a_message_that_is_nearly_a_known_one_is_called_unknown() -> None:
    text = "Determinism is not yet supported in GPU implementation of tf.math.segment_sum."
    found = explain(knowledge_base(), text)
    assert (found.found, found.is_unknown_message) == ([], True)
    assert found.resembles[0].id == "tensorflow/bincount"
    assert found.subject is not None
    assert found.subject.ops == ["tf.math.segment_sum"]
    page = flat(render(knowledge_base(), found).plain())
    assert page.startswith("Read as: a message, TensorFlow, tf.math.segment_sum")
    assert "This is not a message that d9m knows. The nearest on record:" in page
    assert "d9m show tensorflow/bincount" in page


def test_a_message_that_is_cut_short_shows_no_placeholders() -> None:
    text = "Deterministic behavior was enabled with either something but this operation is not "
    text += "deterministic because it uses CuBLAS and you have CUDA >= 10.2"
    kb = knowledge_base()
    page = render(kb, explain(kb, text)).plain()
    assert "{" not in page.partition("Printed in these words")[0]


def test_an_unknown_message_is_not_taken_for_a_complaint() -> None:
    text = "UnimplementedError: The GPU version of softmax cross entropy is not deterministic"
    with pytest.raises(UsageError, match="no known text"):
        explain(knowledge_base(), text)


def test_a_complaint_in_own_words_resembles_no_message() -> None:
    kb = knowledge_base()
    for text in (
        "the loss of my model differs in each run although every seed is set",
        "is the gradient of embedding deterministic on a GPU?",
    ):
        assert resembling(kb, text) == []


def test_a_text_that_is_cut_off_after_its_own_beginning_is_recognised() -> None:
    found = explain(
        knowledge_base(), "UserWarning: grid_sampler_2d_backward_cuda does not have a determin"
    ).found
    assert [each.id for each in found] == ["pytorch/grid-sample"]


@pytest.mark.parametrize(
    ("text", "error"),
    [
        (
            (
                "AttributeError: module 'tensorflow._api.v2.config.experimental' has no attribute "
                "'enable_op_determinism'"
            ),
            "tensorflow/enable-op-determinism-missing",
        ),
        (
            "RuntimeError: Intra op parallelism cannot be modified after initialization.",
            "tensorflow/threads-too-late",
        ),
        (
            "roi_align_backward_kernel does not have a deterministic implementation, but you set",
            "torchvision/roi-align",
        ),
        (
            (
                "Determinism is not yet supported in GPU implementation of "
                "FakeQuantWithMinMaxVarsPerChannelGradient."
            ),
            "tensorflow/fake-quant-per-channel",
        ),
        (
            "use_deterministic_algorithms() got an unexpected keyword argument 'warn_only'",
            "pytorch/warn-only-missing",
        ),
        (
            "AttributeError: module 'torch.mps' has no attribute 'manual_seed_all'",
            "pytorch/mps-manual-seed-all",
        ),
        (
            '"get_global_generator" cannot be called if determinism is enabled, unless',
            "tensorflow/global-generator",
        ),
    ],
)
def test_a_pasted_text_finds_its_error(text: str, error: str) -> None:
    assert [each.id for each in explain(knowledge_base(), text).found] == [error]


def test_a_text_that_an_argument_chooses_is_recognised_whatever_the_default() -> None:
    kb = knowledge_base()
    text = (
        "upsample_bilinear2d_aa_backward_out_cuda does not have a deterministic "
        "implementation, but you set"
    )
    here = Setup((("torch", "2.4.0"),))
    assert [each.id for each in explain(kb, text, here).found] == ["pytorch/interpolate-bilinear"]


def test_releases_that_follow_each_other_are_told_as_one_span() -> None:
    (found,) = explain(
        knowledge_base(), "index_add_cuda_ does not have a deterministic implementation"
    ).found
    assert found.releases == [{"torch": Range(from_="1.7", until="1.9")}]


@pytest.mark.parametrize(
    ("release", "printed"),
    [("2.4", "here"), ("2.7", "older"), ("1.12", "newer"), (None, "here")],
)
def test_a_message_that_the_release_does_not_print_is_said_to_be_of_another(
    release: str | None, printed: str
) -> None:
    text = "cumsum_cuda_kernel does not have a deterministic implementation, but you set"
    setup = Setup((("torch", release),)) if release else None
    (found,) = explain(knowledge_base(), text, setup).found
    assert found.printed == printed


def test_a_version_that_the_log_prints_decides_who_printed_a_message() -> None:
    log = "PyTorch version: 2.7.0\ncumsum_cuda_kernel does not have a deterministic implementation"
    assert explain(knowledge_base(), log).found[0].printed == "older"


def test_the_middle_of_a_message_is_that_message() -> None:
    text = "this operation is not deterministic because it uses CuBLAS and you have CUDA >= 10.2"
    (found,) = explain(knowledge_base(), text).found
    assert found.id == "pytorch/cublas-config"


def test_a_setting_that_nothing_reads_is_named() -> None:
    answer = explain(knowledge_base(), "NCCL_DETERMINISTIC=1 is set, and every run still differs")
    assert [(setting.name, setting.is_read) for setting in answer.settings] == [
        ("NCCL_DETERMINISTIC", False)
    ]


def test_an_op_without_a_record_of_differences_is_named() -> None:
    text = "torch.argmax is not deterministic where several values are equal"
    subject = explain(knowledge_base(), text, Setup((("torch", "1.1"),))).subject
    assert subject is not None
    assert subject.ops == ["torch.argmax"]


def test_what_says_how_a_program_runs_is_no_op() -> None:
    subject = explain(knowledge_base(), "no `torch.compile`, and runs still differ").subject
    assert subject is None or not subject.ops


def _answer(text: str, release: str) -> str:
    kb = knowledge_base()
    return flat(render(kb, explain(kb, text, Setup(packages=(("torch", release),)))).plain())


def test_a_message_speaks_of_no_settings_that_it_does_not_show() -> None:
    text = "upsample_trilinear3d_backward_out_cuda does not have a deterministic implementation"
    page = _answer(text, "2.7")
    assert "interpolate (trilinear, backward) raises an error with" in page
    assert "settings below" not in page


def test_a_message_about_an_op_is_not_denied() -> None:
    text = "median CUDA with indices output does not have a deterministic implementation"
    page = _answer(text, "1.13.1")
    assert "nondeterministic without it" in page
    assert "Both ops are deterministic" not in page


def test_a_refused_gradient_is_said_to_be_that_of_backward() -> None:
    hint = "around the forward call it has no effect"
    kernel = "upsample_bilinear2d_backward_out_cuda"
    assert hint in _answer(f"{kernel} does not have a deterministic implementation", "2.0")
    assert hint not in _answer(
        "cumsum_cuda_kernel does not have a deterministic implementation", "2.4"
    )


def test_a_message_that_only_warns_is_not_answered_with_its_own_setting() -> None:
    kb = knowledge_base()
    said = "grid_sampler_2d_backward_cuda does not have a deterministic implementation, but you set"
    warning = explain(kb, f"{said} 'torch.use_deterministic_algorithms(True, warn_only=True)'.")
    page = flat(render(kb, warning).plain())
    assert "the program goes on" in page
    assert "or use warn_only=True" not in page
    error = explain(kb, f"{said} 'torch.use_deterministic_algorithms(True)'.")
    assert "or use warn_only=True" in flat(render(kb, error).plain())
    assert [found.found[0].kind for found in (warning, error)] == ["warning", "error"]


@pytest.mark.parametrize(
    ("value", "is_refused"),
    [("=yes", True), ("=1", False), ("=true", False), ("", False), ("=false", False)],
)
def test_a_flag_with_a_value_that_it_does_not_take_comes_first(
    value: str, is_refused: bool
) -> None:
    text = (
        "Two starts of a JAX program pick other matmul algorithms by timing, even with "
        f"XLA_FLAGS=--xla_gpu_deterministic_ops{value} set."
    )
    page = flat(render(knowledge_base(), explain(knowledge_base(), text)).plain())
    refused = "--xla_gpu_deterministic_ops=yes has no effect: it takes true or false"
    assert (f"Settings that you mention • {refused}" in page) == is_refused


def test_a_layout_that_a_text_names_decides_the_op() -> None:
    text = "torch.svd_lowrank differs from run to run for a torch.sparse_coo tensor"
    assert "svd_lowrank (sparse) is nondeterministic" in _answer(text, "2.5")


def test_every_message_on_record_is_answered() -> None:
    """Each in its first wording, also those of folders that are about no package."""
    kb = knowledge_base()
    for id_, record in kb.errors.items():
        answer = explain(kb, record.texts[0].text)
        assert render(kb, answer).plain().strip(), id_


@pytest.mark.parametrize(
    ("text", "device", "is_told"),
    [
        ("index_add gives different results in each run", "CPU", True),
        ("index_add gives different results in each run on CUDA", "CUDA", False),
        ("index_add gives different results in each run with torch 2.4", "CUDA", False),
    ],
)
def test_the_device_is_that_of_this_machine_if_nothing_names_another(
    text: str, device: str, is_told: bool
) -> None:
    here = Setup((("torch", "2.13.0"),), device="cpu")
    said = flat(render(knowledge_base(), explain(knowledge_base(), text, None, here)).plain())
    assert f" · {device} · training" in said
    assert ("this is for that of this machine, the CPU" in said) == is_told
