"""An arm for each setting whose price and effect are to be measured."""

from __future__ import annotations

from collections.abc import Iterator

from d9m.check.plan.arms import Arm, Statement
from d9m.environment.environment import Environment
from d9m.kb.store import KnowledgeBase

SINGLE: dict[str, tuple[tuple[tuple[str, str], ...], ...]] = {
    "torch": (
        (("torch.use_deterministic_algorithms", "True"),),
        (("CUBLAS_WORKSPACE_CONFIG", ":4096:8"),),
        (("CUBLAS_WORKSPACE_CONFIG", ":16:8"),),
        (("torch.backends.cudnn.benchmark", "True"),),
        (("torch.backends.cudnn.deterministic", "True"),),
        (("torch.backends.cuda.matmul.allow_tf32", "True"),),
        (("torch.backends.cudnn.allow_tf32", "False"),),
        (
            ("CUBLAS_WORKSPACE_CONFIG", ":4096:8"),
            ("torch.use_deterministic_algorithms", "True"),
            ("torch.utils.deterministic.fill_uninitialized_memory", "False"),
        ),
        (("NVIDIA_TF32_OVERRIDE", "0"),),
        (("CUDA_LAUNCH_BLOCKING", "1"),),
    ),
    "jax": (
        (("XLA_FLAGS", "--xla_gpu_deterministic_ops=true"),),
        (("XLA_FLAGS", "--xla_gpu_autotune_level=0"),),
        (("jax_default_matmul_precision", '"highest"'),),
        (("NVIDIA_TF32_OVERRIDE", "0"),),
    ),
}
"""Framework -> settings that are made together, the most telling ones first."""

PROBES: dict[str, tuple[str, ...]] = {
    "torch": (
        *("mm", "bmm", "conv2d", "conv2d-backward", "conv3d-backward", "linear-backward"),
        *("sdpa", "sdpa-backward", "sdpa-flash-backward", "sdpa-efficient-backward"),
        *("sdpa-cudnn-backward", "index-add", "index-put-accumulate", "scatter-add", "cumsum"),
        *("embedding-backward", "getitem-backward", "interpolate-bilinear-backward", "lstm"),
        *("empty", "max-pool2d-backward", "ctc-loss-backward"),
    ),
    "jax": (
        *("matmul", "matmul-long", "conv", "conv-backward", "scatter-add", "segment-sum"),
        *("attention-backward", "cumsum"),
    ),
}
"""Framework -> names of the probes on which settings are measured; those that exist are run."""


def single(kb: KnowledgeBase, environment: Environment, framework: str) -> list[Arm]:
    """The arms of all settings that this environment reads."""
    return [
        _arm(kb, made)
        for made in SINGLE.get(framework, ())
        if all(environment.holding(kb.settings[name].condition) for name, _value in made)
    ]


def _arm(kb: KnowledgeBase, made: tuple[tuple[str, str], ...]) -> Arm:
    env = {name: value for name, value in made if kb.settings[name].kind == "env"}
    return Arm(
        name=" ".join(f"{name}={value}" for name, value in made),
        env=env,
        statements=list(_statements(kb, made)),
    )


def _statements(kb: KnowledgeBase, made: tuple[tuple[str, str], ...]) -> Iterator[Statement]:
    for name, value in made:
        setting = kb.settings[name]
        if setting.statement is not None:
            text = setting.statement.replace("{value}", value)
            yield list(setting.imports), text, setting.before_import
