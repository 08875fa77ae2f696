"""What an answer to a complaint holds, and in which order it says it."""

from __future__ import annotations

import pytest

from d9m.browse.explain import Explained, explain
from d9m.browse.points import of_symptom
from d9m.environment.environment import Setup
from d9m.errors import UsageError
from d9m.model.versions import key
from d9m.render.browse.explain import render
from golden import flat, knowledge_base

SEEDED = "I set all the seeds and every run gives another loss"


def _explained(text: str, *packages: tuple[str, str | None]) -> Explained:
    return explain(knowledge_base(), text, Setup(packages=packages))


def _page(text: str, *packages: tuple[str, str | None]) -> str:
    return flat(render(knowledge_base(), _explained(text, *packages)).plain())


def test_the_settings_come_before_what_else_can_be_the_cause() -> None:
    page = _page(SEEDED, ("torch", "2.4"))
    switch = page.index("torch.use_deterministic_algorithms(True)")
    assert page.index("Seeds make the random numbers repeat") < switch
    assert switch < page.index("If runs still differ")


def test_settings_that_are_shown_are_not_said_again() -> None:
    assert _explained(SEEDED, ("torch", "2.4")).switches == []
    assert "Trainers: a seed alone" not in _page(SEEDED, ("torch", "2.4"))


def test_without_a_framework_each_one_has_its_switch() -> None:
    kb = knowledge_base()
    said = " ".join(explain(kb, SEEDED).switches)
    for switch in ("torch.use_deterministic_algorithms", "enable_op_determinism", "XLA_FLAGS"):
        assert switch in said


@pytest.mark.parametrize("library", ["lightning", "torchtune", "stable-baselines3", "ultralytics"])
def test_a_library_names_the_framework_whose_ops_it_runs(library: str) -> None:
    subject = _explained(SEEDED, (library, None)).subject
    assert subject is not None
    assert "torch" in subject.advice.environment.packages
    assert any(step.name == "torch.use_deterministic_algorithms" for step in subject.advice.steps)


def test_what_is_particular_to_a_library_leads() -> None:
    page = _page(SEEDED, ("ultralytics", None))
    assert page.index("only warn: read the warnings") < page.index("still differ")
    assert "Keras" not in page


def test_a_point_for_other_releases_stays_away() -> None:
    old = _explained(SEEDED, ("transformers", "4.12")).found[0].points
    new = _explained(SEEDED, ("transformers", "4.40")).found[0].points
    assert any("full_determinism" in point for point in new)
    assert not any("full_determinism" in point for point in old)


def test_next_to_a_named_release_stands_one_of_its_time() -> None:
    subject = _explained(SEEDED, ("transformers", "4.12")).subject
    assert subject is not None
    assert subject.advice.environment.packages["torch"].startswith("1.10")
    assert "the newest that fits what you name" in _page(SEEDED, ("transformers", "4.12"))


def test_a_package_without_records_does_not_end_the_answer() -> None:
    found = _explained(SEEDED, ("no-such-library", "1.0"), ("torch", "2.4"))
    assert found.unknown_packages == ["no-such-library"]
    assert found.subject is not None
    assert flat("d9m has no records of 'no-such-library'.") in _page(
        SEEDED, ("no-such-library", None)
    )


def test_an_unknown_package_is_the_error_where_nothing_else_is_known() -> None:
    with pytest.raises(UsageError, match="unknown package 'no-such-library'"):
        _explained("foo bar", ("no-such-library", None))


def test_a_named_library_is_answered_although_it_repeats() -> None:
    found = _explained("XGBoost gives another result in every run", ("xgboost", None))
    assert found.subject is not None
    assert found.subject.packages == ["xgboost"]


def test_a_complaint_about_other_than_runs_gets_no_settings() -> None:
    found = _explained("CPU and GPU give different results", ("jax", "0.4.30"))
    assert found.subject is None
    assert not found.found[0].on_runs
    assert "Philox" not in found.found[0].advice


def test_the_points_of_the_general_symptom_belong_to_those_that_settings_answer() -> None:
    kb = knowledge_base()
    general = of_symptom(kb, "symptoms/runs-differ")
    assert general
    assert [point for point in of_symptom(kb, "symptoms/all-seeds-set") if point in general]
    assert not set(map(id, of_symptom(kb, "symptoms/resume-differs"))) & set(map(id, general))


def test_a_source_can_be_shown() -> None:
    assert "d9m show symptoms/all-seeds-set" in _page(SEEDED, ("torch", "2.4"))


def test_an_op_with_many_causes_has_a_line_for_each() -> None:
    page = _page("torch.nn.Upsample differs between runs")
    assert "You named no ops" not in page
    assert flat("Gradient of bilinear interpolation: • With mode=bilinear and PyTorch 1.7") in page


def test_a_release_without_a_date_has_no_time() -> None:
    subject = _explained(SEEDED, ("ultralytics", "8.3")).subject
    assert subject is not None
    assert subject.advice.environment.packages["ultralytics"] == "8.3"


def test_calls_that_the_text_names_are_made_already() -> None:
    text = "seed_everything and deterministic flag = True, and every run gives another loss"
    subject = _explained(text, ("lightning", "2.1"), ("torch", "2.1")).subject
    assert subject is not None
    missing = {step.name for step in subject.missing}
    assert "torch.use_deterministic_algorithms" not in missing
    assert "torch.manual_seed" not in missing
    assert "PYTHONHASHSEED" in missing


def test_a_call_that_the_release_lacks_is_not_made() -> None:
    text = "full_determinism=True is set and every run gives another loss"
    subject = _explained(text, ("transformers", "4.12")).subject
    assert subject is not None
    assert "torch.use_deterministic_algorithms" in {step.name for step in subject.missing}


def test_a_version_that_no_record_lists_does_not_end_the_answer() -> None:
    found = _explained(SEEDED, ("tensorflow", "1.14.1"))
    assert found.unlisted == {"tensorflow": "1.14.1"}
    assert found.subject is not None
    page = _page(SEEDED, ("tensorflow", "1.14.1"))
    assert "No record of d9m is about TensorFlow 1.14.1" in page
    assert "You did not name a release" not in page


def test_what_is_no_version_is_an_error() -> None:
    with pytest.raises(UsageError, match="'abc' is not a version of torch"):
        _explained(SEEDED, ("torch", "abc"))


def test_a_text_that_names_no_runs_is_told_how_it_was_read() -> None:
    page = _page("My results are not reproducible", ("torch", "2.4"))
    read = page.index(flat('Read as "Two runs of the same program differ"'))
    assert page.index("To make training repeat") < read < page.index("Shell, before Python starts")
    assert "symptoms/other-batch-size" in page


def test_the_switch_is_named_above_the_settings() -> None:
    text = "Two runs with the same seed differ. torch.backends.cudnn.deterministic = True is set"
    page = _page(text, ("torch", "2.4"))
    named = page.index("The switch of PyTorch is torch.use_deterministic_algorithms(True).")
    assert named < page.index("Shell, before Python starts")
    assert "torch.backends.cudnn.deterministic reaches cuDNN only" in page
    assert "The switch of" not in _page(
        "Two runs with the same seed differ on MPS", ("torch", "2.4")
    )


@pytest.mark.parametrize(
    "text",
    [
        SEEDED,
        "predictions change with the batch size",
        "the same script gives a different result in each run",
    ],
)
def test_a_text_that_says_what_it_compares_is_not(text: str) -> None:
    assert _explained(text).reading is None


def test_an_op_that_can_differ_with_all_settings_comes_before_other_causes() -> None:
    text = (
        "torch.svd_lowrank of a sparse tensor differs between runs. All seeds are set, "
        "CUBLAS_WORKSPACE_CONFIG=:4096:8 and torch.use_deterministic_algorithms(True) too."
    )
    page = _page(text, ("torch", "2.5"))
    assert page.index("to_dense()") < page.index("Where else the difference can come from")
    assert "has another cause" not in page


def test_a_type_that_a_text_names_decides_what_an_op_does() -> None:
    page = _page("F.linear(x, w) differs from call to call in bfloat16 on MPS", ("torch", "2.12"))
    assert page.startswith("linear (bfloat16) can differ between runs")
    assert "M5" in page


def test_a_text_is_not_asked_whether_it_means_what_it_does_not_name() -> None:
    reading = _explained("I used the seed argument in the parser, but results still vary").reading
    assert reading is None or "symptoms/tpu" not in reading.others
    text = "same network, input and optimizer, but the loss is different in the end"
    reading = _explained(text).reading
    assert reading is not None
    assert "symptoms/nan-in-empty-memory" not in reading.others


def test_what_a_named_helper_sets_is_not_asked_for_again() -> None:
    text = (
        "PPO in OpenAI Gym differs in each run, with "
        "stable_baselines3.common.utils.set_random_seed(seed, using_cuda=True)"
    )
    subject = _explained(text).subject
    assert subject is not None
    covered = {step.name for step in subject.advice.steps if step.covered_by is not None}
    assert {"torch.manual_seed", "random.seed", "numpy.random.seed"} <= covered
    assert covered.isdisjoint(step.name for step in subject.missing)


def test_a_parameter_that_the_text_gives_is_not_advised_again() -> None:
    page = _page("LightGBM 3.1.1 differs in every run with deterministic=True and seed=0")
    assert "You already set deterministic and seed." in page
    assert "force_col_wise=true" in page
    assert "deterministic=true #" not in page


@pytest.mark.parametrize(
    ("text", "point"),
    [
        ("Another batch size gives other results in JAX", "TF32, which makes"),
        (
            "Training gives another result in each run with TensorFlow 1.9",
            "before 1.14 has no setting",
        ),
    ],
)
def test_a_point_for_gpus_is_left_out_on_a_cpu(text: str, point: str) -> None:
    assert point in _page(text)
    assert point not in _page(f"{text}, on the CPU")


def test_jax_on_a_cpu_has_a_point_of_its_own() -> None:
    page = _page("Another batch size gives other results on the CPU in JAX", ("jax", None))
    assert "JAX on a CPU" in page


@pytest.mark.parametrize("value", ["deterministic=off", "'deterministic': no", "seed=None"])
def test_a_parameter_that_is_switched_off_is_still_to_set(value: str) -> None:
    page = _page(f"LightGBM 3.1.1 differs in every run with {value}")
    assert "You already set" not in page


def test_a_point_for_some_words_waits_for_them() -> None:
    text = "Another batch size gives other results"
    noise = "Noise that is drawn for the whole batch"
    assert noise not in _page(text)
    assert noise in _page(f"{text}. The seed is fixed.")


def test_a_symptom_comes_before_an_op_of_which_much_is_open() -> None:
    page = _page("Does MONAI avoid nondeterministic functions such as F.interpolate?")
    assert page.index("It avoids no function") < page.index("interpolate depends on how")


def test_a_switch_that_the_release_does_not_know_is_not_switched_on() -> None:
    text = "On the CPU runs differ although I set TF_DETERMINISTIC_OPS=1"
    old = _explained(text, ("tensorflow", "1.9"))
    new = _explained(text, ("tensorflow", "2.3"))
    assert [found.id for found in old.found] != ["symptoms/switch-is-on"]
    assert [found.id for found in new.found] == ["symptoms/switch-is-on"]


def test_the_value_of_a_variable_is_said_only_where_it_was_left_out() -> None:
    text = "Every run differs although I use TF_DETERMINISTIC_OPS{} with TensorFlow 2.3"
    bare, valued = _page(text.format("")), _page(text.format("=1"))
    assert "Check TF_DETERMINISTIC_OPS: it must be 1 or true." in bare
    assert "You already set TF_DETERMINISTIC_OPS" not in bare
    assert "You already set TF_DETERMINISTIC_OPS" in valued


def test_a_symptom_of_a_library_comes_before_what_the_newest_release_does() -> None:
    page = _page("dgl: RelGraphConv gives other numbers in each call for the same graph")
    assert page.index("DGL sums the messages") < page.index("RelGraphConv repeats depends")


def test_a_package_whose_releases_are_not_listed_can_be_fixed_from_one_on() -> None:
    text = "different platforms, on CPU: other results with numpy and torch.manual_seed(0)"
    subject = _explained(text).subject
    assert subject is not None
    assert any("numpy" in (op.fixed_in or {}) for op in subject.advice.ops)
    assert "ATEN_CPU_CAPABILITY" in _page(text)


def test_what_fits_the_words_leads() -> None:
    shared = "Training differs between runs only when the GPU is occupied by another process"
    first = _explained(shared, ("torch", "2.9")).found[0]
    assert first.is_led
    assert first.advice.startswith("Runs that differ only while another program uses the GPU")


@pytest.mark.parametrize(("also", "leads"), [("", True), ("torch.manual_seed(0)", False)])
def test_a_lead_stays_away_where_the_text_says_more(also: str, leads: bool) -> None:
    found = _explained(f"{SEEDED}, with torch.cuda.manual_seed(0) {also}", ("torch", "2.9")).found[
        0
    ]
    assert found.is_led is leads


def test_a_setting_can_be_said_without_its_name() -> None:
    text = "I had the message confirming the patch, and training still differs in every run"
    subject = _explained(text, ("tensorflow", "1.15")).subject
    assert subject is not None
    assert "tfdeterminism.patch" in subject.applied
    there = _explained(text, ("torch", "2.9")).subject
    assert there is not None
    assert there.applied == []


CUMSUM = (
    "cumsum_cuda_kernel does not have a deterministic implementation, but you set "
    "'torch.use_deterministic_algorithms(True, warn_only=True)'."
)


def test_a_message_that_comes_again_and_cut_off_is_one_message() -> None:
    whole = f"UserWarning: {CUMSUM} You can file an issue at https://github.com/pytorch/pytorch"
    found = _explained(f"{whole}\n\nUserWarning: {CUMSUM}").found
    assert [one.id for one in found] == ["pytorch/cumsum"]


def test_what_stands_next_to_a_message_is_answered() -> None:
    warning = f"lib/site-packages/mamba_ssm/ops/triton/a.py:3: UserWarning: {CUMSUM}"
    (found,) = _explained(f"{warning} You can file an issue\nMy outputs are all NaN").found
    assert "NaN has another cause" in found.advice
    assert "d9m advise --with mamba-ssm=VERSION" in found.advice


def test_seeds_that_a_text_says_are_set_are_to_check_not_to_set() -> None:
    subject = _explained(SEEDED, ("torch", "2.4")).subject
    assert subject is not None
    assert "torch.manual_seed" in [step.name for step in subject.unnamed_seeds]
    assert "torch.manual_seed" not in [step.name for step in subject.missing]
    page = _page(SEEDED, ("torch", "2.4"))
    assert "Make sure that it is these: torch.manual_seed" in page


@pytest.mark.parametrize(
    "text",
    [
        "How do I set the seed? Every run gives another loss",
        "I set np.random.seed(0), the random seed is fixed, and every run gives another loss",
    ],
)
def test_seeds_are_to_set_where_a_text_asks_for_them_or_lists_its_own(text: str) -> None:
    subject = _explained(text, ("torch", "2.4")).subject
    assert subject is not None
    assert subject.unnamed_seeds == []
    assert "torch.manual_seed" in [step.name for step in subject.missing]


def test_a_value_that_is_the_cause_is_not_made() -> None:
    text = "onnxruntime gives another output in each run with cudnn_conv_algo_search='{}'"
    for value, is_made in (("Exhaustive", False), ("heuristic", True)):
        subject = _explained(text.format(value), ("onnxruntime", "1.17")).subject
        assert subject is not None
        assert ("CUDAExecutionProvider(cudnn_conv_algo_search)" in subject.applied) == is_made


def test_an_option_of_a_command_line_is_made() -> None:
    text = "llama-server --parallel 1 --seed 1 gives another answer to the same prompt each time"
    page = _page(text, ("llama-cpp", None))
    assert "--no-cache-prompt" in page
    assert "can differ with the batch" not in page


def test_a_setting_of_old_releases_decides_which_one_stands_in() -> None:
    page = _page("env.seed(0) does not make my gym environment reproducible")
    assert "OpenAI Gym 0.25" in page


def test_a_text_that_is_near_a_symptom_says_how_it_was_read() -> None:
    near = _page("cumsum appears non-deterministic under torch.compile")
    assert flat('Read as "Compiled code gives other results than eager code"') in near
    assert "Read as" not in _page("loss differs after resume from checkpoint")


def test_a_library_that_computes_alone_has_no_trouble_of_a_framework() -> None:
    text = "onnxruntime: two instances of the same model on the GPU do not give the same result"
    assert "symptoms/models-built-twice" not in [found.id for found in _explained(text).found]
    framework = text.replace("onnxruntime", "PyTorch")
    assert [found.id for found in _explained(framework).found] == ["symptoms/models-built-twice"]


def test_a_text_about_one_part_of_a_library_gets_that_part() -> None:
    explained = _explained("cuML UMAP with random_state gives another embedding every run")
    assert explained.subject is not None
    sources = {source.id for op in explained.subject.advice.ops for source in op.sources}
    assert "cuml/umap" in sources
    assert "cuml/kernel-shap" not in sources


def test_an_image_gives_its_parts_the_releases_of_its_time() -> None:
    setup = Setup(container="nvcr.io/nvidia/pytorch:24.09-py3", packages=(("nccl", None),))
    whole = explain(knowledge_base(), "all_reduce differs between runs", setup)
    assert whole.subject is not None
    release = whole.subject.advice.environment.packages["nccl"]
    assert key(release) < key("2.24")
