"""What launchers are told passes the checks of the very release that it is for.

The checks are written down here once more, from the sources of the releases, as
the programs make them: types, keys, asserted values.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pytest

from d9m.api import advise
from d9m.environment.environment import Setup
from d9m.model.advice import Advice
from d9m.model.versions import key
from d9m.render.advice import render
from d9m.render.interface import Answer
from golden import knowledge_base, unfounded


def answer(*packages: tuple[str, str | None], ops: list[str] | None = None) -> Advice:
    return advise(knowledge_base(), Setup(packages), ops)


def rendered(advice: Advice, format_: str) -> str:
    body = render(format_, Answer(advice, knowledge_base())).body
    assert isinstance(body, str)
    return body


def shell(script: str, **variables: str) -> subprocess.CompletedProcess[str]:
    environment = {"PATH": os.environ["PATH"], **variables}
    return subprocess.run(
        ["bash", "-c", script], capture_output=True, text=True, check=True, env=environment
    )


# --- Megatron ----------------------------------------------------------------------

SEEN = [
    "also when UNSET (no default filled). Exact string match",
    "adds assert not cross_entropy_loss_fusion",
    "every token in {Ring, CollnetDirect, CollnetChain, ^NVLS}",
    "AssertionError for any other value (including ':4096:2' and ':0:0')",
    "determinism.py asserts value in {'0'}",
    "flash-attn allowed, Tree rejected, tp_comm_overlap rejected, env defaults filled",
    "disables SSM determinism under --deterministic-mode. Unset it or set to",
]


def test_the_checks_are_in_the_sources() -> None:
    assert [
        each for each in SEEN if unfounded({"fact": "stack.md", "quote": each}) is not None
    ] == []


def megatron_faults(
    release: str, arguments: Sequence[str], variables: Mapping[str, str]
) -> Iterator[str]:
    """What `validate_args` and Transformer Engine's layer say under --deterministic-mode."""
    at = key(release)
    if "--deterministic-mode" not in arguments:
        return
    if at < key("0.8"):
        yield "unrecognized arguments: --deterministic-mode"
        return
    for flag in sorted(refused(release) & set(arguments)):
        yield f"{flag} is refused"
    algorithm = variables.get("NCCL_ALGO")
    if at < key("0.19"):
        if algorithm not in ("Tree", "Ring", "CollnetDirect", "CollnetChain", "^NVLS"):
            yield f"NCCL_ALGO must be one of five, not {algorithm}"
    else:
        tokens = (algorithm or "Ring").split(",")
        yield from (
            f"NCCL_ALGO: {each}"
            for each in tokens
            if each not in ("Ring", "CollnetDirect", "CollnetChain", "^NVLS")
        )
        if variables.get("CUBLAS_WORKSPACE_CONFIG", ":4096:8") not in (":4096:8", ":16:8"):
            yield "CUBLAS_WORKSPACE_CONFIG is not a deterministic setting"
        if variables.get("MAMBA_DETERMINISTIC", "1")[:1] != "1":
            yield "MAMBA_DETERMINISTIC disables SSM determinism"
    if variables.get("NVTE_ALLOW_NONDETERMINISTIC_ALGO", "0" if at >= key("0.19") else "1") != "0":
        yield "NVTE_ALLOW_NONDETERMINISTIC_ALGO is not 0"


def refused(release: str) -> set[str]:
    """Options that the mode does not let pass."""
    at = key(release)
    fused = {"--cross-entropy-loss-fusion"} if at >= key("0.9") else set()
    return fused | ({"--use-flash-attn"} if at < key("0.19") else {"--tp-comm-overlap"})


MEGATRON = [each for each in knowledge_base().releases("megatron-core") if key(each) >= key("0.8")]
OLD_MEGATRON = [
    each for each in knowledge_base().releases("megatron-core") if key(each) < key("0.8")
]


def launched(advice: Advice, **variables: str) -> tuple[list[str], dict[str, str]]:
    """Arguments and variables that the emitted block leaves a launch line."""
    script = (
        f"{rendered(advice, 'megatron')}\nprintf '%s\\n' \"${{DETERMINISTIC_ARGS[@]}}\"; "
        "echo --; env"
    )
    arguments, _, environment = shell(script, **variables).stdout.partition("--\n")
    return arguments.split(), dict(line.partition("=")[::2] for line in environment.splitlines())


@pytest.mark.parametrize("release", MEGATRON)
def test_the_megatron_block_passes_the_checks_of_its_release(release: str) -> None:
    advice = answer(("megatron-core", release), ("transformer-engine", None))
    arguments, variables = launched(advice)
    assert arguments == ["--deterministic-mode"]
    assert list(megatron_faults(release, arguments, variables)) == []


@pytest.mark.parametrize("release", MEGATRON)
def test_every_value_that_is_called_accepted_passes_too(release: str) -> None:
    advice = answer(("megatron-core", release), ("transformer-engine", None))
    arguments, variables = launched(advice)
    tried = 0
    for step in advice.steps:
        for value in step.accepts if step.kind == "env" and not step.any_value else ():
            assert list(megatron_faults(release, arguments, {**variables, step.name: value})) == []
            tried += 1
    assert tried >= 5


@pytest.mark.parametrize("release", MEGATRON)
def test_what_the_mode_refuses_is_told_to_be_left_out_and_nothing_else(release: str) -> None:
    advice = answer(("megatron-core", release), ("transformer-engine", None))
    assert {each.name for each in advice.settings.avoid if each.kind == "flag"} == refused(release)
    block = rendered(advice, "megatron")
    assert all(f"# also, leave out: {flag}" in block for flag in refused(release))


@pytest.mark.parametrize("release", OLD_MEGATRON)
def test_a_release_without_the_mode_gets_no_argument(release: str) -> None:
    assert launched(answer(("megatron-core", release)))[0] == []


WRONG = [
    ("0.7.0", "--deterministic-mode", {}),
    ("0.18.2", "--deterministic-mode", {"NVTE_ALLOW_NONDETERMINISTIC_ALGO": "0"}),
    (
        "0.18.2",
        "--deterministic-mode",
        {"NVTE_ALLOW_NONDETERMINISTIC_ALGO": "0", "NCCL_ALGO": "ring"},
    ),
    (
        "0.18.2",
        "--deterministic-mode",
        {"NVTE_ALLOW_NONDETERMINISTIC_ALGO": "0", "NCCL_ALGO": "Ring,Tree"},
    ),
    ("0.18.2", "--deterministic-mode", {"NCCL_ALGO": "Ring"}),
    (
        "0.8.0",
        "--deterministic-mode --use-flash-attn",
        {"NVTE_ALLOW_NONDETERMINISTIC_ALGO": "0", "NCCL_ALGO": "Tree"},
    ),
    ("0.19.0", "--deterministic-mode", {"NCCL_ALGO": "Tree"}),
    ("0.19.0", "--deterministic-mode", {"NCCL_ALGO": "allreduce:tree"}),
    ("0.19.0", "--deterministic-mode", {"CUBLAS_WORKSPACE_CONFIG": ":4096:2"}),
    ("0.19.0", "--deterministic-mode", {"MAMBA_DETERMINISTIC": "true"}),
    ("0.19.0", "--deterministic-mode", {"NVTE_ALLOW_NONDETERMINISTIC_ALGO": "1"}),
    ("0.19.0", "--deterministic-mode --tp-comm-overlap", {}),
]


@pytest.mark.parametrize(("release", "arguments", "variables"), WRONG)
def test_the_checks_notice_what_a_release_refuses(
    release: str, arguments: str, variables: dict[str, str]
) -> None:
    assert len(list(megatron_faults(release, arguments.split(), variables))) == 1


# --- Clara Train -------------------------------------------------------------------

CLARA_SEEN = [
    {
        "seed": "003",
        "quote": (
            "is set with a string of numerical value. All others are set with positive integers"
        ),
    },
    {"fact": "stack.md", "quote": "Only this key is a string; the others are positive integers."},
    {"fact": "stack.md", "quote": "config_train.json 'determinism': {\"random_seed\": 0}"},
]


def test_the_rules_of_the_clara_section_are_in_the_documents() -> None:
    assert [fault for each in CLARA_SEEN if (fault := unfounded(each)) is not None] == []


def clara_faults(release: str, section: Mapping[str, Any]) -> Iterator[str]:
    """What a release would not understand of a determinism section."""
    seeds = (
        ("random_seed",)
        if key(release) >= key("4.0")
        else ("python_seed", "random_seed", "numpy_seed", "tf_seed")
    )
    yield from (f"no {name}" for name in seeds if name not in section)
    for name, value in section.items():
        if name not in seeds:
            yield f"unknown {name}"
        elif name == "python_seed":
            if not (isinstance(value, str) and value.isdigit()):
                yield "python_seed is a string of digits"
        elif type(value) is not int or value < 1:
            yield f"{name} is a positive integer"


@pytest.mark.parametrize("release", knowledge_base().releases("clara-train"))
@pytest.mark.parametrize("beside", [(), (("horovod", None),)], ids=["alone", "with horovod"])
def test_the_clara_section_is_what_its_release_reads(
    release: str, beside: tuple[tuple[str, None], ...]
) -> None:
    configuration = json.loads(rendered(answer(("clara-train", release), *beside), "clara"))
    assert list(clara_faults(release, configuration.pop("determinism"))) == []
    assert configuration == ({"cudnn_benchmark": False} if key(release) >= key("4.0") else {})


@pytest.mark.parametrize(
    "section",
    [
        {"python_seed": 1, "random_seed": 1, "numpy_seed": 1, "tf_seed": 1},
        {"python_seed": "1", "random_seed": "1", "numpy_seed": 1, "tf_seed": 1},
        {"python_seed": "1", "random_seed": 0, "numpy_seed": 1, "tf_seed": 1},
        {"python_seed": "1", "random_seed": 1, "numpy_seed": 1},
        {"python_seed": "1", "random_seed": 1, "numpy_seed": 1, "tf_seed": 1, "torch_seed": 1},
    ],
)
def test_a_section_that_clara_3_would_not_understand_is_noticed(section: dict[str, Any]) -> None:
    assert len(list(clara_faults("3.1", section))) == 1


# --- Slurm and Docker --------------------------------------------------------------

STACKS = [
    (("torch", "2.4"), ("megatron-core", "0.19"), ("transformer-engine", "2.18")),
    (("jax", "0.8"),),
    (("clara-train", "3.1"), ("horovod", "0.19")),
    (("tensorflow", "2.0"),),
]


@pytest.mark.parametrize("packages", STACKS, ids=lambda packages: packages[-1][0])
def test_a_slurm_script_runs_with_the_advised_environment_and_arguments(
    packages: tuple[tuple[str, str], ...],
) -> None:
    advice = answer(*packages)
    script = f'srun() {{ echo "$@"; env; }}\n{rendered(advice, "slurm")}'
    first, *rest = shell(script).stdout.splitlines()
    assert first == " ".join(["python train.py", *advice.settings.flags])
    found = dict(line.partition("=")[::2] for line in rest)
    assert {name: found.get(name) for name in advice.settings.env} == advice.settings.env


@pytest.mark.parametrize("packages", STACKS, ids=lambda packages: packages[-1][0])
def test_a_dockerfile_has_only_instructions_and_comments(
    packages: tuple[tuple[str, str], ...],
) -> None:
    advice = answer(*packages)
    lines = rendered(advice, "dockerfile").splitlines()
    assert [
        line
        for line in lines
        if not re.match(r'# |ENV [A-Z_0-9]+="[^"]*(\$\{[^}]*\}[^"]*)?"$|RUN pip install ', line)
    ] == []
    told = {line.split("=")[0].removeprefix("ENV ") for line in lines if line.startswith("ENV")}
    assert told == {*advice.settings.env, *advice.settings.append}


LISTS = [(("jax", "0.4.30"), "XLA_FLAGS"), (("jax", "0.8"), "XLA_FLAGS")]


@pytest.mark.parametrize(("package", "variable"), LISTS)
@pytest.mark.parametrize("before", ["--mine=1 --yours", None], ids=["set before", "not set before"])
def test_a_list_variable_is_appended_to_in_every_format(
    package: tuple[str, str], variable: str, before: str | None
) -> None:
    advice = answer(package)
    wanted = [*(before.split() if before else []), *advice.settings.append[variable]]
    variables = {variable: before} if before else {}
    for format_ in ("env", "slurm"):
        script = f'srun() {{ :; }}\n{rendered(advice, format_)}\nprintf %s "${variable}"'
        assert shell(script, **variables).stdout.split() == wanted
    (line,) = [
        line
        for line in rendered(advice, "dockerfile").splitlines()
        if line.startswith(f"ENV {variable}=")
    ]
    assert (
        shell(f'{line.removeprefix("ENV ")}\nprintf %s "${variable}"', **variables).stdout.split()
        == wanted
    )
    block = rendered(advice, "python")
    assignment = next(
        line for line in block.splitlines() if line.startswith(f"os.environ[{variable!r}]")
    )
    told = subprocess.run(
        ["python3", "-c", f"import os\n{assignment}\nprint(os.environ[{variable!r}])"],
        capture_output=True, text=True, check=True, env={"PATH": os.environ["PATH"], **variables},
    )  # fmt: skip
    assert told.stdout.split() == wanted
