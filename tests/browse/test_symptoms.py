"""People tell a symptom in words of their own; `explain` lists the record that means it."""

from __future__ import annotations

import pytest

from d9m.browse.explain import explain
from d9m.errors import UsageError
from d9m.kb.symptom_index import Tokens, stem
from golden import KB, knowledge_base

COMPLAINTS = {
    "all-seeds-set": [
        "random, numpy and torch are all seeded, and each run still ends with a different loss",
        "The random seed is fixed, so what keeps my results from being reproducible?",
        "seeded everything but the accuracy varies between runs",
        "torch.manual_seed(0) is set, results still vary",
    ],
    "runs-differ": [
        "jax results differ between runs on gpu",
        "what makes a PyTorch training deterministic",
    ],
    "same-numbers-in-workers": [
        "each DataLoader worker produces the same np.random numbers",
        "every worker makes the same numpy augmentations",
        "all workers return identical random crops",
        "np.random gives duplicate values in different worker processes",
    ],
    "resume-differs": [
        "the loss after I resume from a checkpoint does not match that of an uninterrupted run",
        "resumed run differs from uninterrupted run",
        "after reloading my checkpoint the training curve is different from the original run",
    ],
    "slow-with-the-flag": [
        "training became twice as slow after torch.use_deterministic_algorithms(True)",
        "enable_op_determinism makes my model 2x slower",
        "deterministic mode halves my training speed",
    ],
    "differs-between-machines": [
        "an A100 and an H100, two GPUs, have different results",
        "same seed and code, but other results on my colleague's machine",
        "the model gives different numbers on the server and on my laptop",
    ],
    "tiny-differences": [
        "my loss differs in the 7th digit from run to run",
        "tiny numerical differences around 1e-7 between two runs",
        "results only agree up to the last decimal places",
    ],
    "other-batch-size": [
        "predictions change with the batch size",
        "the output for a sample changes with the other samples of its batch",
        "inference with batch size 1 and 32 do not match",
    ],
    "temperature-zero": [
        "my LLM gives different answers with temperature=0",
        "greedy decoding is not deterministic",
    ],
    "jax-on-a-gpu": [
        "can JAX be made deterministic on a GPU",
        "which flag makes jax deterministic",
    ],
    "after-an-upgrade": [
        "after upgrading from torch 2.3 to 2.5 my results are different",
        "results changed when I updated the CUDA driver",
        "new TensorFlow version, different accuracy",
    ],
    "first-epoch-equal": [
        "the first epoch is identical, afterwards the two runs drift apart",
        "two runs start equal but diverge after a few hundred steps",
    ],
    "evaluation-differs": [
        "eval results differ from train results on the same batch",
        "each call of the model with the same input has a different output",
        "validation loss is different from the training loss for identical data",
    ],
    "nan-in-empty-memory": [
        "since deterministic algorithms are on, torch.empty holds NaN",
        "uninitialised memory holds NaNs since I turned on deterministic algorithms",
    ],
    "other-number-of-gpus": [
        "results are different with 8 GPUs than with 4 GPUs",
        "single GPU and multi-GPU training do not give the same loss",
    ],
    "number-of-workers": ["changing num_workers changes my results"],
    "number-of-threads": ["the loss changes with the number of CPU threads"],
    "several-gpus": ["DDP training is not reproducible from run to run"],
    "cpu-and-gpu": ["my GPU output does not match the CPU output"],
    "order-of-sets": [
        "iterating over a set gives another order in each run",
        "python string hash changes each run",
    ],
    "compiled-differs": [
        "torch.compile model output does not match eager",
        "jit_compile=True changes my outputs",
    ],
    "same-augmentation-each-epoch": [
        "random augmentations are the same in each epoch with tf.data map",
        "my data is shuffled in the same order in all epochs",
    ],
    "notebook-cell": ["rerunning the same notebook cell gives another result"],
}


@pytest.mark.parametrize(
    ("name", "text"), [(name, text) for name, texts in COMPLAINTS.items() for text in texts]
)
def test_a_symptom_is_among_three_by_its_words(name: str, text: str) -> None:
    assert f"symptoms/{name}" in _ids(text)[:3]


@pytest.mark.parametrize(
    "text",
    [
        "CUDA out of memory. Tried to allocate 2.00 GiB",
        "ModuleNotFoundError: No module named 'torch'",
        "How do I install TensorFlow on Windows?",
        "loss does not decrease",
        "the weather is different today",
        "ValueError: Shapes (None, 1) and (None, 10) are incompatible",
        "different",
        "batch",
    ],
)
def test_other_troubles_are_no_symptom(text: str) -> None:
    with pytest.raises(UsageError):
        explain(knowledge_base(), text)


def test_each_phrase_of_a_symptom_lists_that_symptom() -> None:
    for id_, symptom in knowledge_base().symptoms.items():
        for phrase in symptom.phrases:
            assert f"symptoms/{id_}" in _ids(phrase), phrase


def test_a_log_tells_no_symptom() -> None:
    with pytest.raises(UsageError):
        explain(knowledge_base(), "results differ between two GPUs\n" * 10_000)


def test_a_complaint_of_any_length_is_answered() -> None:
    text = "I train a detector. " * 200 + "Every run gives another loss, although seeds are set."
    assert "symptoms/all-seeds-set" in _ids(text)


def test_an_error_text_in_a_complaint_is_more_than_its_words() -> None:
    text = (
        "all seeds set, still different, and: cumsum_cuda_kernel does not have a deterministic "
        "implementation, but"
    )
    assert [each.id for each in explain(knowledge_base(), text).found] == ["pytorch/cumsum"]


def _ids(text: str) -> list[str]:
    return [each.id for each in explain(knowledge_base(), text).candidates]


def test_every_group_of_words_is_used_and_has_more_than_one() -> None:
    words = knowledge_base().word_lists
    names = [group[0] for group in words.groups]
    assert len(set(names)) == len(names)
    assert all(len(group) > 1 for group in words.groups)
    assert set(words.topics) <= set(names)


def test_the_words_stay_small() -> None:
    assert (KB / "words.yaml").stat().st_size <= 15_000


@pytest.mark.parametrize(
    ("one", "other"),
    [("training", "trained"), ("results", "result"), ("seeds", "seed"), ("workers", "worker")],
)
def test_endings_make_no_difference(one: str, other: str) -> None:
    assert stem(one) == stem(other)


def test_names_of_code_keep_their_endings() -> None:
    assert stem("index_adds") == "index_adds"


def test_a_phrase_of_a_group_counts_as_its_group() -> None:
    tokens = Tokens(knowledge_base().word_lists)
    assert "#determinism" in tokens.of("bit exact")
