"""What a scan advises where the stated release lacks a call."""

from __future__ import annotations

import pytest

from scan.projects import scanned


@pytest.mark.parametrize(
    ("text", "versions", "expected"),
    [
        (
            "import tensorflow as tf\ntf.set_random_seed(1)\n",
            {"tensorflow": "2.15.1"},
            "tf.random.set_seed(seed)",
        ),
        (
            "import tensorflow as tf\ntf.config.experimental.enable_op_determinism()\n",
            {"tensorflow": "2.5"},
            "upgrade, or remove it",
        ),
        (
            "import torch\ntorch.set_deterministic(True)\n",
            {"torch": "2.4.1"},
            "torch.use_deterministic_algorithms(True)",
        ),
    ],
)
def test_a_call_that_the_release_lacks_has_a_successor(
    text: str, versions: dict[str, str], expected: str
) -> None:
    answer = scanned({"a.py": text}, **versions)
    assert [one.workaround for one in answer.findings if one.code == "wrong-release"] == [expected]


@pytest.mark.parametrize(
    ("script", "versions", "expected"),
    [
        ("export VLLM_ATTENTION_BACKEND=FLASH_ATTN", {"vllm": "0.19.1"},
         "--attention-backend FLASH_ATTN"),
        ("export ONEDNN_MAX_CPU_ISA=AVX2", {"onednn": "2.4"}, "DNNL_MAX_CPU_ISA=AVX2"),
        ("export TORCHINDUCTOR_DETERMINISTIC=1", {"torch": "2.4.1"},
         "remove it, or use another release of torch"),
    ],
)  # fmt: skip
def test_a_variable_that_the_release_does_not_read_has_a_successor(
    script: str, versions: dict[str, str], expected: str
) -> None:
    files = {"run.sh": f"{script}\npython train.py\n", "train.py": "loss.backward()\n"}
    answer = scanned(files, **versions)
    assert [one.workaround for one in answer.findings if one.code == "wrong-release"] == [expected]
