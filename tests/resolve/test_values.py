"""Texts of settings, as the programs that read them understand them."""

from __future__ import annotations

import pytest

from d9m.api import advise
from d9m.environment.environment import Environment, Setup, describe
from d9m.model.advice import Existing
from d9m.model.records import Setting
from d9m.resolve import values
from golden import knowledge_base

TF_BOOLEANS = ["TF_DETERMINISTIC_OPS", "TF_CUDNN_DETERMINISTIC", "TF_DETERMINISTIC_ORDER"]
"""Read by ReadBoolFromEnvVar of tensorflow/core/util/env_var.cc."""

ORDERED = "--xla_gpu_deterministic_ops"


def environment(**packages: str) -> Environment:
    named = tuple((name.replace("_", "-"), version) for name, version in packages.items())
    return describe(knowledge_base(), Setup(named))


def judged(name: str, text: str, ops: list[str] | None = None, **packages: str) -> Existing:
    named = tuple((package.replace("_", "-"), version) for package, version in packages.items())
    advice = advise(knowledge_base(), Setup(named), ops or [], settings=[{name: text}])
    return next(made for made in advice.existing if made.name == name)


@pytest.mark.parametrize("name", TF_BOOLEANS)
@pytest.mark.parametrize(
    ("text", "value"),
    [("1", "1"), ("true", "1"), ("True", "1"), ("TRUE", "1"), ("0", "0"), ("False", "0")],
)
def test_tensorflow_reads_booleans_in_any_case(name: str, text: str, value: str) -> None:
    assert values.read(knowledge_base(), name, text) == value


@pytest.mark.parametrize("name", TF_BOOLEANS)
@pytest.mark.parametrize("text", ["yes", "on", "2", "", " 1"])
def test_tensorflow_takes_no_other_word_for_a_boolean(name: str, text: str) -> None:
    fault = values.fault(knowledge_base().settings[name], text)
    assert fault == "accepts 1, 0, true or false, in any case"


# Tried with jaxlib 0.4.20, 0.4.21 and 0.10.2 on a CPU; ParseBoolFlag in command_line_flags.cc.
@pytest.mark.parametrize(
    ("flag", "is_on", "was_on"),
    [
        (ORDERED, True, True),
        (f"{ORDERED}=true", True, True),
        (f"{ORDERED}=TRUE", True, True),
        (f"{ORDERED}=1", True, False),
        (f"{ORDERED}=0", False, False),
        (f"{ORDERED}=yes", False, False),
        (f"{ORDERED.upper()}=true", False, False),
    ],
)
def test_xla_reads_its_flags_by_release(flag: str, is_on: bool, was_on: bool) -> None:
    kb = knowledge_base()
    for release, expected in [("0.10.2", is_on), ("0.4.21", is_on), ("0.4.20", was_on)]:
        text = values.read(kb, "XLA_FLAGS", f"--mine=1 {flag}", environment(jax=release))
        assert (f"{ORDERED}=true" in text.split()) == expected, release


# parse_flags_from_env.cc: what does not begin with a dash is a file; unknown flags end the process.
@pytest.mark.parametrize(
    "text",
    [
        "xla_gpu_deterministic_ops=true",
        "-xla_gpu_deterministic_ops",
        "--xla_gpu_deterministic_op=true",
        "--foo",
        "--xla_gpu_autotune_level=four",
        f"{ORDERED}=yes",
    ],
)
def test_flags_that_abort_xla_are_refused_and_not_appended_to(text: str) -> None:
    made = judged("XLA_FLAGS", text, ["jax.numpy.cumsum"], jax="0.10")
    assert made.status == "invalid", made
    setup, found = Setup((("jax", "0.10"),)), {"XLA_FLAGS": f"--xla_dump_to=/x {text}"}
    advice = advise(knowledge_base(), setup, None, settings=[found])
    assert advice.settings.env["XLA_FLAGS"] == f"--xla_dump_to=/x {ORDERED}=true"
    assert "XLA_FLAGS" not in advice.settings.append


def test_a_flag_of_another_release_aborts_xla_too() -> None:
    made = judged("XLA_FLAGS", "--xla_gpu_exclude_nondeterministic_ops=true", jax="0.4.20")
    assert (made.status, made.why) == (
        "invalid",
        "--xla_gpu_exclude_nondeterministic_ops is no flag of this release",
    )


# parseList in NCCL's graph/tuning.cc: strcasecmp; Megatron compares with its own spelling.
def test_nccl_ignores_case_and_megatron_does_not() -> None:
    assert judged("NCCL_ALGO", "ring", nccl="2.27.5").status == "needed"
    assert judged("NCCL_ALGO", "RING", nccl="2.27.5").status == "needed"
    assert judged("NCCL_ALGO", "Ring", nccl="2.27.5", megatron_core="0.15").status == "needed"
    assert judged("NCCL_ALGO", "ring", nccl="2.27.5", megatron_core="0.15").status == "invalid"


@pytest.mark.parametrize(
    ("text", "is_known"),
    [
        ("Ring,Tree", True),
        ("^NVLS,NVLSTree", True),
        ("ring,collnetdirect;allreduce:tree,collnetdirect;broadcast:ring", True),
        ("AllReduce:Ring", True),
        ("rong", False),
        ("ring;everything:tree", False),
        ("Ring Tree", False),
    ],
)
def test_each_word_of_nccl_algo_must_be_known(text: str, is_known: bool) -> None:
    fault = values.fault(knowledge_base().settings["NCCL_ALGO"], text, environment(nccl="2.27.5"))
    assert (fault is None) == is_known, fault


# Python/bootstrap_hash.c: random, or a number from 0 to 4294967295.
@pytest.mark.parametrize("text", ["abc", "-1", "4294967296", "1.5", "0x1"])
def test_a_hash_seed_that_stops_python_is_invalid(text: str) -> None:
    made = judged("PYTHONHASHSEED", text, ["mm"], torch="2.4")
    assert (made.status, made.value) == ("invalid", text)
    assert made.why == "must be a whole number from 0 up to 4294967295"


@pytest.mark.parametrize(
    ("name", "text", "is_taken"),
    [
        ("JAX_THREEFRY_PARTITIONABLE", "Yes", True),  # bool_env in jax/_src/config.py
        ("JAX_THREEFRY_PARTITIONABLE", "off", True),
        ("JAX_THREEFRY_PARTITIONABLE", "maybe", False),
        ("JAX_DEFAULT_PRNG_IMPL", "rbg", True),
        ("JAX_DEFAULT_PRNG_IMPL", "RBG", False),
        ("JAX_RANDOM_SEED_OFFSET", "one", False),
        ("FLAGS_cudnn_deterministic", "TRUE", True),  # SetValueFromString in flags_native.cc
        ("FLAGS_cudnn_deterministic", "tRUE", False),
        ("OMP_DYNAMIC", "false", True),  # OpenMP: values of the variables ignore case
        ("OMP_NUM_THREADS", "4,2", True),  # OpenMP: one number for each level of nesting
        ("OMP_NUM_THREADS", "4,x", False),
        ("TORCHINDUCTOR_DETERMINISTIC", "true", False),  # torch/_inductor/config.py: == "1"
        ("CUBLAS_WORKSPACE_CONFIG", "4096:8", False),
    ],
)
def test_a_variable_takes_what_its_reader_takes(name: str, text: str, is_taken: bool) -> None:
    fault = values.fault(knowledge_base().settings[name], text)
    assert (fault is None) == is_taken, fault


TIMED = [
    ("PYTORCH_TUNABLEOP_ENABLED", "2.2", "2.3"),
    ("TORCHINDUCTOR_MAX_AUTOTUNE", "1.13", "2.0"),
    ("TORCHINDUCTOR_MAX_AUTOTUNE_GEMM", "2.0", "2.1"),
    ("TORCHINDUCTOR_MAX_AUTOTUNE_POINTWISE", "2.0", "2.1"),
    ("TORCHINDUCTOR_COORDINATE_DESCENT_TUNING", "2.0", "2.1"),
]
"""Variable -> the last release whose wheel lacks it, and the first that has it."""


@pytest.mark.parametrize(("name", "before", "since"), TIMED)
def test_variables_that_let_timing_choose_are_faults(name: str, before: str, since: str) -> None:
    assert judged(name, "1", ["mm"], torch=since).status == "contradictory"
    assert judged(name, "1", ["mm"], torch=before).status == "no-effect"
    assert judged(name, "0", ["mm"], torch=since).status == "harmless"


SILENCED = [
    ("TF_DISABLE_SEGMENT_REDUCTION_OP_DETERMINISM_EXCEPTIONS", "2.5", "2.7"),
    ("TF_DISABLE_SPARSE_SOFTMAX_XENT_WITH_LOGITS_OP_DETERMINISM_EXCEPTIONS", "2.6", "2.7"),
    ("TF_DISABLE_DEPTHWISE_CONV_DETERMINISM_EXCEPTIONS", "2.9", "2.10"),
    ("TF_DISABLE_SCATTER_OP_DETERMINISM", "2.12", None),
]
"""Variable -> the first release in which it lets a nondeterministic kernel run on GPUs, and the
first in which there is none that it could let run.
"""


@pytest.mark.parametrize(("name", "since", "until"), SILENCED)
def test_variables_that_let_nondeterministic_kernels_run_are_faults(
    name: str, since: str, until: str | None
) -> None:
    def status(value: str, release: str, device: str) -> str:
        setup = Setup((("tensorflow", release),), device=device)
        found = advise(knowledge_base(), setup, None, settings=[{name: value}]).existing
        return next(made.status for made in found if made.name == name)

    assert status("1", since, "cuda") == "contradictory"
    assert status("0", since, "cuda") == "harmless"
    assert status("1", since, "cpu") == "harmless"
    assert until is None or status("1", until, "cuda") in ("harmless", "no-effect")


def test_inductor_may_time_where_its_deterministic_mode_stops_the_harm() -> None:
    assert judged("TORCHINDUCTOR_MAX_AUTOTUNE", "1", ["mm"], torch="2.9").status == "contradictory"
    assert judged("TORCHINDUCTOR_MAX_AUTOTUNE", "1", ["mm"], torch="2.13").status == "harmless"
    assert judged("PYTORCH_TUNABLEOP_ENABLED", "1", ["mm"], torch="2.13").status == "contradictory"


@pytest.mark.parametrize("ops", [None, ["nn.LSTM"], ["nn.Linear"], ["nn.LSTM", "nn.Linear"]])
@pytest.mark.parametrize("torch", ["1.8", "2.4", "2.9"])
def test_cublas_has_one_value_for_all_ops(torch: str, ops: list[str] | None) -> None:
    kb, name = knowledge_base(), "CUBLAS_WORKSPACE_CONFIG"
    advice = advise(kb, Setup((("torch", torch),)), ops, settings=[{name: ":4096:2"}])
    assert advice.settings.env[name] == ":4096:8"
    made = next(made for made in advice.existing if made.name == name)
    assert made.status == "contradictory", made


VARIABLES = [
    setting
    for setting in knowledge_base().settings.values()
    if setting.kind in ("env", "flag") and setting.effect == "always"
]


@pytest.mark.parametrize("setting", VARIABLES, ids=lambda setting: setting.name)
def test_every_documented_spelling_is_taken_and_others_are_refused(setting: Setting) -> None:
    kb = knowledge_base()
    for text in setting.accepts:
        assert values.fault(setting, text) is None
        assert values.spelled(setting, values.spelled(setting, text)) == text
    for rule in setting.reading:
        assert set(rule.same.values()) <= set(setting.accepts)
        if rule.condition.cuts:
            continue
        for text, value in rule.same.items():
            spellings = {text, text.upper(), text.title()} if rule.ignores_case else {text}
            for spelling in spellings:
                assert values.read(kb, setting.name, spelling) == value
                assert values.fault(setting, spelling) is None
    if setting.accepts or setting.value_type == "integer":
        for text in ("no such value", "\u0665", "1e99"):
            fault = values.fault(setting, text)
            assert (fault or "").startswith(("accepts ", "must be ")), text
