"""People tell a symptom in words of their own; `explain` finds the record that means it."""

from __future__ import annotations

import pytest

from d9m.browse.explain import explain
from d9m.browse.similarity import Likeness, SymptomWords
from d9m.environment.environment import Setup
from d9m.errors import UsageError
from golden import knowledge_base

COMPLAINTS = {
    "all-seeds-set": [
        (
            "I have set all the seeds (random, numpy, torch) and still get a different loss each "
            "time "
            "I run it"
        ),
        "Why are my results not reproducible although I fixed the random seed?",
        "seeded everything but the accuracy varies between runs",
        "torch.manual_seed(0) is set, results still vary",
    ],
    "runs-differ": [
        "jax results differ between runs on gpu",
        "how do I make my training deterministic in PyTorch",
    ],
    "same-numbers-in-workers": [
        "each DataLoader worker produces the same np.random numbers",
        "My numpy augmentations are identical across workers",
        "all workers return identical random crops",
        "np.random gives duplicate values in different worker processes",
    ],
    "resume-differs": [
        (
            "When I resume from a checkpoint the loss is not the same as in the run that was never "
            "interrupted"
        ),
        "resumed run differs from uninterrupted run",
        "after reloading my checkpoint the training curve is different from the original run",
    ],
    "slow-with-the-flag": [
        "training became twice as slow after torch.use_deterministic_algorithms(True)",
        "enable_op_determinism makes my model 2x slower",
        "deterministic mode halves my training speed",
    ],
    "differs-between-machines": [
        "I get different results on two GPUs, an A100 and an H100",
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
        "why does the output for one sample depend on what else is in the batch",
        "inference with batch size 1 and 32 do not match",
    ],
    "temperature-zero": [
        "my LLM gives different answers with temperature=0",
        "greedy decoding is not deterministic",
    ],
    "jax-on-a-gpu": [
        "how can I get deterministic behaviour in JAX on a GPU",
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
        "model returns a different output every time I call it on the same input",
        "validation loss is different from the training loss for identical data",
    ],
    "nan-in-empty-memory": [
        "torch.empty contains NaN since I turned on deterministic algorithms",
        "I see NaNs in uninitialised memory",
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
def test_a_symptom_is_found_by_its_words(name: str, text: str) -> None:
    assert explain(knowledge_base(), text).found[0].id == f"symptoms/{name}"


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


def test_every_symptom_is_found_by_each_of_its_own_texts() -> None:
    kb = knowledge_base()
    next_to_message = kb.words[""].next_to_message.values()
    for id_ in kb.errors:
        error = kb.errors[id_]
        is_whole = error.kind == "symptom" and id_ not in next_to_message
        for each in error.texts if is_whole else ():
            assert explain(kb, each.text).found[0].id == id_, each.text


def test_what_stands_next_to_a_message_is_answered_with_it() -> None:
    message = "cumsum_cuda_kernel does not have a deterministic implementation"
    text = f"{message}. Without the switch the outputs are NaN."
    assert "NaN has another cause." in explain(knowledge_base(), text).found[0].advice


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("temperature-zero", "Request for deterministic support of the padding kernel"),
        ("evaluation-differs", "Dropout makes LSTM non-deterministic"),
        ("parallel-map", "the output is non deterministic because of autotune"),
        ("compiled-differs", "Randomness in reference scripts: results differ across executions"),
    ],
)
def test_one_word_with_other_meanings_is_no_symptom(name: str, text: str) -> None:
    assert f"symptoms/{name}" not in [found.id for found in explain(knowledge_base(), text).found]


def test_points_of_other_frameworks_stay_away() -> None:
    text = "Enabling tf.function(jit_compile=True) causes inconsistent results"
    found = explain(knowledge_base(), text, Setup((("tensorflow", "2.9"),))).found
    assert found[0].id == "symptoms/compiled-differs"
    assert "torch" not in found[0].advice.casefold()
    assert "jax" not in found[0].advice.casefold()


def test_a_point_can_be_the_answer_where_it_applies() -> None:
    text = "multi-GPU training is not reproducible between runs"
    kb = knowledge_base()
    old = explain(kb, text, Setup((("torch", "1.2"),))).found[0]
    new = explain(kb, text, Setup((("torch", "2.4"),))).found[0]
    assert old.id == new.id == "symptoms/several-gpus"
    assert old.advice.startswith("Upgrade")
    assert "set NCCL_ALGO" not in old.advice
    assert new.advice.startswith("Several GPUs add their gradients")
    assert "Upgrade to PyTorch" not in new.advice


def test_a_log_tells_no_symptom() -> None:
    with pytest.raises(UsageError):
        explain(knowledge_base(), "results differ between two GPUs\n" * 10_000)


def test_a_complaint_of_any_length_is_answered() -> None:
    text = "I train a detector. " * 200 + "Every run gives another loss, although seeds are set."
    assert explain(knowledge_base(), text).found[0].id == "symptoms/all-seeds-set"


def test_an_error_text_in_a_complaint_is_more_than_its_words() -> None:
    text = (
        "all seeds set, still different, and: cumsum_cuda_kernel does not have a deterministic "
        "implementation, but"
    )
    assert [each.id for each in explain(knowledge_base(), text).found] == ["pytorch/cumsum"]


def vocabulary() -> SymptomWords:
    return SymptomWords(knowledge_base().words[""])


def test_every_word_stands_in_one_group_and_every_group_has_a_use() -> None:
    kb = knowledge_base()
    words = kb.words[""]
    every = [*words.empty]
    for group in words.groups:
        every += group
    assert [word for word in set(every) if every.count(word) > 1] == []
    names = {group[0] for group in words.groups}
    asked = {name for topic in words.topics for name in topic}
    said_at_points: set[str] = set()
    for id_ in kb.errors:
        record = kb.errors[id_]
        asked.update(record.not_about, *record.about)
        for point in record.points:
            said_at_points.update(point.said)
    assert asked <= names | set(words.several.values()) | words.ruling_out.keys()
    assert words.ruling_out.keys() <= asked | said_at_points
    assert not words.ruling_out.keys() & names
    assert set(words.implies) | set(words.implies.values()) | set(words.several) <= names


def test_likeness_ignores_endings_order_and_synonyms() -> None:
    known = [vocabulary().telling(text) for text in ("workers repeat numbers", "slow training")]
    said = vocabulary().telling("my worker repeats its values")
    likeness = Likeness(known)
    assert (likeness.to(0, said), likeness.to(1, said)) == (1.0, 0.0)
