"""Names of ops, packages, settings and versions are found in a text, and nothing else."""

from __future__ import annotations

import pytest

from d9m.browse.explain import explain
from d9m.browse.mentions import Mentions, find
from d9m.environment.environment import Setup
from d9m.render.browse.explain import render
from golden import flat, knowledge_base


def mentions(text: str) -> Mentions:
    return find(knowledge_base(), text)


@pytest.mark.parametrize(
    ("text", "packages"),
    [
        ("torch==2.4.1 and torchvision 0.19.1", {"torch": "2.4.1", "torchvision": "0.19.1"}),
        ("PyTorch version: 2.1.0+cu121", {"torch": "2.1.0+cu121"}),
        ("vLLM v0.11.1 at temperature 0", {"vllm": "0.11.1"}),
        ("tensorflow-gpu 1.14 on Ubuntu 18.04", {"tensorflow": "1.14"}),
        ("pytorch lightning version 2.0.3", {"lightning": "2.0.3"}),
        ("after upgrading from torch 2.3 to torch 2.5", {"torch": "2.5"}),
        ("PyTorch from 1.12 to 1.13, and tf1.15", {"torch": "1.13", "tensorflow": "1.15"}),
        ("torch 1.99", {"torch": None}),
        ("other runtimes (llama.cpp) repeat a text, exllamav2 does not", {"exllamav2": None}),
        ("Unlike vLLM, SGLang 0.5.3 gives other text", {"sglang": "0.5.3"}),
        ("other runtimes (llama.cpp) repeat a text", {"llama-cpp": None}),
        ("TF_DETERMINISTIC_OPS=1 is set", {"tensorflow": None}),
        ("XLA_FLAGS=--xla_gpu_deterministic_ops=1 is set", {"jax": None}),
        ("PYTHONHASHSEED is set", {}),
        ("torch 2.4 with TF_DETERMINISTIC_OPS=1", {"torch": "2.4"}),
        ("Megatron-DeepSpeed after a rebase", {"megatron-deepspeed": None}),
        ("sentence-transformers/paraphrase-mpnet-base-v2 was fine-tuned", {}),
        ("TensorFlow/Keras", {"tensorflow": None}),
        ("xgboost differs.\nVersion used: 1.5.0", {"xgboost": "1.5.0"}),
        ("XGBoost version used: 1.5", {"xgboost": "1.5"}),
        ("lightgbm is not reproducible (v3.3.2)", {"lightgbm": "3.3.2"}),
        ("I'm on 2.1, torch differs", {"torch": "2.1"}),
        ("torchvision.__version__ == 0.16.0+cu121", {"torchvision": "0.16.0+cu121"}),
        ("print(jax.__version__) gives '0.4.13'", {"jax": None}),
        ("tf.__version__ '2.9.1'", {"tensorflow": "2.9.1"}),
        ("using torch==2.1.0+cu118", {"torch": "2.1.0+cu118"}),
        ("torch differs, gcc version 9.4", {"torch": None}),
        ("torch and torchvision differ. Version: 0.5.0", {"torch": None, "torchvision": "0.5.0"}),
        ("torch and jax differ, I'm on 0.4.1", {"torch": None, "jax": None}),
        ("the driver of the cache, in /usr/lib/python3/site-packages/vllm/engine.py", {}),
    ],
)
def test_packages_are_named_with_their_version(text: str, packages: dict[str, str | None]) -> None:
    assert mentions(text).packages == packages


def test_a_version_longer_than_any_number_is_no_release() -> None:
    endless = "9" * 5000 + ".1"
    assert mentions(f"torch {endless} differs").packages == {"torch": None}


@pytest.mark.parametrize(
    ("text", "ops"),
    [
        ("index_add_ and cumsum differ", ["index_add_", "cumsum"]),
        ("x.index_add_(0, i, s) differs", ["x.index_add_"]),
        ("a sum of the mean, max and scan of a set", []),
        ("loss = loss.mean() and np.random.shuffle(order)", []),
        ("tensor(4.8, grad_fn=<IndexBackward0>)", []),
        ('File "/lib/torch/cumsum.py", line 3', []),
        ("F.interpolate(x, mode='bilinear')", ["F.interpolate"]),
        ("an LSTM, no MAX", ["LSTM"]),
        ("scatter-add on a well-known GPU", ["scatter_add"]),
        ("torch.empty(3) differs", ["torch.empty"]),
    ],
)
def test_ops_are_named_by_code_or_by_unambiguous_words(text: str, ops: list[str]) -> None:
    assert [op.name for op in mentions(text).ops] == ops


def test_settings_are_named_with_their_value() -> None:
    text = (
        "np.random.seed(0) cudnn.benchmark = False os.environ['PYTHONHASHSEED'] = '0' "
        "CUBLAS_WORKSPACE_CONFIG=:4096:8, torch.cuda.manual_seed(1)"
    )
    assert mentions(text).settings == {
        "numpy.random.seed": "0",
        "torch.backends.cudnn.benchmark": "False",
        "CUBLAS_WORKSPACE_CONFIG": ":4096:8",
    }


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("bilinear interpolation", ("bilinear",)),
        ("bilinear or bicubic", ("bilinear", "bicubic")),
        ("constant differences", ()),
    ],
)
def test_words_are_read_as_values_of_arguments(text: str, values: tuple[str, ...]) -> None:
    assert mentions(text).values == values


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("CatBoost on GPU", "cuda"),
        ("XGBoost on the CPU", "cpu"),
        ("LightGBM", None),
        ("LightGBM on the GPU", "opencl"),
        ("PyTorch on the GPU", None),
    ],
)
def test_a_device_decides_what_a_boosting_library_trains_on(text: str, value: str | None) -> None:
    assert mentions(text).facts.get("boosting_device") == value


@pytest.mark.parametrize(
    ("text", "gpu", "device"),
    [
        ("on an H100", "H100", None),
        ("an A100 and an H100", None, None),
        ("with the MPS backend", None, "mps"),
        ("rocBLAS on ROCm", None, "rocm"),
        ("on MPS and on ROCm", None, None),
        ("I only use the CPU", None, "cpu"),
        ("not reproducible, no GPU here", None, "cpu"),
        ("works on CPU, differs on GPU", None, None),
        ("Training differs. On the CPU it is reproducible.", None, None),
        ("another loss in each run on CPU, an RTX 3090 gives the same", "RTX 3090", None),
    ],
)
def test_one_gpu_and_one_device_are_named(text: str, gpu: str | None, device: str | None) -> None:
    found = mentions(text)
    assert (found.gpu, found.device) == (gpu, device)


def test_flags_are_settings_with_their_value() -> None:
    said = "XLA_FLAGS='--xla_gpu_autotune_level=0 --xla_gpu_deterministic_ops=true --unknown=1'"
    flags = {name: value for name, value in mentions(said).settings.items() if name[0] == "-"}
    assert flags == {"--xla_gpu_autotune_level": "0", "--xla_gpu_deterministic_ops": "true"}


def test_a_release_that_is_named_does_not_hide_another_package_of_the_text() -> None:
    setup = Setup((("torch", "2.4"),))
    text = "flash_attn_func differs in every run"
    subject = explain(knowledge_base(), text, setup).subject
    assert subject is not None
    assert subject.ops == ["flash_attn_func"]
    assert "flash-attn" in subject.advice.environment.packages


def test_installed_packages_decide_only_what_the_text_leaves_open() -> None:
    kb, here = knowledge_base(), Setup((("torch", "2.1.2"), ("numpy", "1.26.0")))
    text = "all seeds are set, every run differs"
    subject = explain(kb, text, None, here).subject
    assert subject is not None
    assert subject.advice.environment.packages["torch"] == "2.1.2"
    named = explain(kb, f"torch 2.4.0: {text}", None, here).subject
    assert named is not None
    assert named.advice.environment.packages["torch"] == "2.4.0"
    assert explain(kb, f"TensorFlow: {text}", None, here).subject != subject


SEEDED = "I set all seeds and runs still differ with torch 2.4:\n"


def test_settings_that_the_text_makes_are_not_advised_again() -> None:
    text = f"{SEEDED}torch.use_deterministic_algorithms(True)\nrandom.seed(1)"
    subject = explain(knowledge_base(), text).subject
    assert subject is not None
    assert subject.set_in_text == {"torch.use_deterministic_algorithms": 2, "random.seed": 3}
    missing = {step.name for step in subject.missing}
    assert "torch.backends.cudnn.benchmark" in missing
    assert missing.isdisjoint(subject.set_in_text)


def test_a_setting_with_the_wrong_value_is_still_missing() -> None:
    text = f"{SEEDED}torch.manual_seed(0)\ntorch.backends.cudnn.benchmark = True"
    subject = explain(knowledge_base(), text).subject
    assert subject is not None
    assert "torch.backends.cudnn.benchmark" in {step.name for step in subject.missing}


@pytest.mark.parametrize(
    "said",
    [
        "I have not set torch.use_deterministic_algorithms(True).",
        "Do I need torch.use_deterministic_algorithms(True)?",
        "# torch.use_deterministic_algorithms(True)",
        "I use torch.use_deterministic_algorithms.",
        "torch.use_deterministic_algorithms(False)",
    ],
)
def test_a_sentence_that_mentions_a_setting_removes_it_from_no_recipe(said: str) -> None:
    kb = knowledge_base()
    found = explain(kb, f"{SEEDED}{said}")
    assert found.subject is not None
    assert found.subject.set_in_text == {}
    assert "torch.use_deterministic_algorithms" in found.subject.mentioned
    page = flat(render(kb, found).plain())
    assert "You already set" not in page
    assert "You mention torch.use_deterministic_algorithms: make sure it is on." in page


@pytest.mark.parametrize("text", ["cumsum", "torch.cumsum", "nn.Upsample"])
def test_a_bare_name_is_answered(text: str) -> None:
    subject = explain(knowledge_base(), text).subject
    assert subject is not None
    assert subject.ops == [text]


@pytest.mark.parametrize(
    ("text", "made"),
    [
        ('"deterministic": True,\n"seed": 0', {"deterministic": "True", "seed": "0"}),
        ("model = LGBMRegressor(deterministic=True)", {"deterministic": "True"}),
        ("the model is deterministic", {}),
        ("I use the same seed: it changes nothing", {}),
        ("params['seed'] = 4", {"seed": "4"}),
        ("lgb.cv(params, lgb.Dataset(x), seed=3)", {"seed": "3"}),
    ],
)
def test_parameters_are_read_in_code_next_to_their_library(text: str, made: dict[str, str]) -> None:
    known = mentions(f"LightGBM differs\n{text}").in_code
    assert {
        name: known[f"lightgbm({name})"].value
        for name in ("deterministic", "seed")
        if f"lightgbm({name})" in known
    } == made
    assert (
        mentions(text.replace("LGBM", "X").replace("lgb", "x"))
        .in_code.keys()
        .isdisjoint(f"lightgbm({name})" for name in made)
    )
