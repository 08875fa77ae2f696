"""A GPU by its name: what it decides, and what contradicts it."""

from __future__ import annotations

import pytest

from d9m.environment.environment import Setup, describe
from d9m.environment.gpu import find_gpu
from d9m.errors import UsageError
from golden import knowledge_base


@pytest.mark.parametrize(
    ("text", "name", "sm"),
    [
        ("H100", "H100", "90"),
        ("NVIDIA H100 80GB HBM3", "H100", "90"),
        ("a100", "A100", "80"),
        ("NVIDIA A100-SXM4-40GB", "A100", "80"),
        ("A10", "A10", "86"),
        ("Tesla V100-SXM2-16GB", "V100", "70"),
        ("NVIDIA GeForce RTX 4090", "RTX 4090", "89"),
        ("rtx4090", "RTX 4090", "89"),
        ("4090", "RTX 4090", "89"),
        ("RTX 3080 Ti Laptop GPU", "RTX 3080 Ti", "86"),
        ("NVIDIA RTX 6000 Ada Generation", "RTX 6000 Ada", "89"),
        ("Quadro RTX 6000", "Quadro RTX 6000", "75"),
        ("DGX Spark", "GB10", "121"),
        ("AMD Instinct MI300X", "MI300X", None),
    ],
)
def test_a_gpu_is_found_as_people_and_tools_write_it(text: str, name: str, sm: str | None) -> None:
    found, gpu = find_gpu(knowledge_base(), text)
    assert (found, gpu.sm) == (name, sm)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("H10", "unknown GPU 'H10'\n  did you mean H100, H20 or A10"),
        (
            "6000",
            (
                "--gpu '6000' may be any of 3\n  allowed: Quadro RTX 6000, RTX 6000 Ada, RTX PRO "
                "6000 "
                "Blackwell"
            ),
        ),
        ("", "unknown GPU"),
        ("abacus", "--fact sm=90"),
    ],
)
def test_an_unknown_gpu_is_refused(text: str, says: str) -> None:
    with pytest.raises(UsageError, match=says):
        find_gpu(knowledge_base(), text)


def test_a_gpu_decides_its_device_and_compute_capability() -> None:
    kb = knowledge_base()
    nvidia = describe(kb, Setup((("torch", "2.4"),), gpu="L4"))
    assert (nvidia.gpu, nvidia.device, nvidia.facts["sm"]) == ("L4", "cuda", "89")
    amd = describe(kb, Setup((("torch", "2.4"),), gpu="MI300X"))
    assert (amd.device, amd.facts) == ("rocm", {"gfx": "other"})
    assert describe(kb, Setup((("torch", "2.4"),), gpu="MI100")).facts == {}
    assert describe(kb, Setup((("torch", "2.4"),), device="gpu", gpu="M2")).device == "mps"


@pytest.mark.parametrize(
    ("setup", "says"),
    [
        (Setup(device="cuda", gpu="MI300X"), "--device cuda contradicts --gpu MI300X"),
        (Setup(facts=(("sm", "80"),), gpu="H100"), "sm=80 contradicts --gpu H100, whose sm is 90"),
        (
            Setup(facts=(("gfx", "other"),), gpu="MI350X"),
            "gfx=other contradicts --gpu MI350X, whose gfx is gfx950",
        ),
    ],
)
def test_what_contradicts_a_gpu_is_refused(setup: Setup, says: str) -> None:
    with pytest.raises(UsageError, match=says):
        describe(knowledge_base(), setup)
