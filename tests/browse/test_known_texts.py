"""Known texts are found in a text of any length and encoding, once each, by their most particular
wording.
"""

from __future__ import annotations

import base64
import io
import random
import tracemalloc

import pytest

from d9m.browse import log
from d9m.browse.explain import explain
from d9m.browse.known_texts import LONG, Match, search
from d9m.environment.environment import Setup
from d9m.model.when import Range
from golden import knowledge_base
from growth import LINEAR, growth

CUMSUM = (
    "UserWarning: cumsum_cuda_kernel does not have a deterministic implementation, but you set "
    "'torch.use_deterministic_algorithms(True, warn_only=True)'. You can file an issue at"
)
STEP = (
    "[15:52:57 events]: eta: 7:49:54 iter: {} total_loss: 2.349 loss_cls: 0.58 deterministic: on\n"
)


def found(text: str) -> list[Match]:
    return search(knowledge_base(), [text])


def read(raw: bytes) -> str:
    return "".join(log.blocks(io.BytesIO(raw)))


def steps(number: int) -> str:
    return "".join(STEP.format(step) for step in range(number))


def test_a_message_that_is_cut_off_before_a_comma_is_one_of_every_release_that_begins_so() -> None:
    text = (
        "grid_sampler_2d_backward_cuda does not have a deterministic implementation, but you set "
        "'torch.use_deterministic_algorithms(True)'. You can turn off determinism just for this "
        "operation"
    )
    setup = Setup(packages=(("torch", "2.4"),))
    (explanation,) = explain(knowledge_base(), text, setup).found
    assert explanation.printed == "here"
    assert explanation.releases[0]["torch"] == Range(from_="1.8")


def test_a_message_is_found_behind_many_blocks_with_its_line() -> None:
    text = steps(40_000) + CUMSUM + "\n" + steps(10)
    assert len(text) > 3 * log.BLOCK
    (match,) = search(knowledge_base(), log.blocks(io.BytesIO(text.encode())))
    assert (match.id, match.line, match.prefix) == ("pytorch/cumsum", 40_001, "UserWarning: ")
    assert text[match.start :].startswith("cumsum_cuda_kernel")


@pytest.mark.parametrize(
    "place", [log.BLOCK - 300, log.BLOCK - 40, log.BLOCK - 1, log.BLOCK, log.BLOCK + 20]
)
def test_a_message_on_the_border_of_two_blocks_is_found(place: int) -> None:
    text = "x" * place + "\n" + CUMSUM + "\n" + "y" * log.BLOCK
    assert [
        match.id for match in search(knowledge_base(), log.blocks(io.BytesIO(text.encode())))
    ] == ["pytorch/cumsum"]


def test_a_repeated_message_is_found_at_its_first_place() -> None:
    other = CUMSUM.replace("cumsum_cuda_kernel", "_histc_cuda with floating point input")
    text = steps(3_000) + f"{CUMSUM}\n" * 2_000 + f"{other}\n" * 2_000
    assert len(text) > LONG
    assert [(match.id, match.line) for match in found(text)] == [
        ("pytorch/cumsum", 3_001),
        ("pytorch/histc", 5_001),
    ]


def test_a_kernel_that_no_record_names_is_found_beside_one_that_has_a_record() -> None:
    text = f"{CUMSUM}\n{CUMSUM.replace('cumsum', 'frobnicate')}"
    assert [(match.id, match.parts) for match in found(text)] == [
        ("pytorch/cumsum", {}),
        ("pytorch/not-deterministic", {"op": "frobnicate_cuda_kernel"}),
    ]


@pytest.mark.nightly
def test_a_long_word_without_blanks_costs_no_more_than_any_other_text() -> None:
    word = base64.b64encode(random.Random(0).randbytes(150_000)).decode()

    def work(size: int) -> None:
        assert [match.id for match in found(f"{word[:size]} {CUMSUM}")] == ["pytorch/cumsum"]

    assert growth(work, LONG // 10) < LINEAR


def test_letters_that_grow_in_lower_case_shift_nothing() -> None:
    (match,) = found("\u0130" * 50 + " " + CUMSUM)
    assert match.text.startswith("cumsum_cuda_kernel")


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be"])
def test_every_encoding_of_a_shell_is_read(encoding: str) -> None:
    text = f"Schritt über 12 →\r\n{CUMSUM}\r\n"
    assert read(text.encode(encoding)) == text.replace("\r\n", "\n")


def test_bytes_of_no_encoding_spoil_nothing_else() -> None:
    raw = b"\xff\xfe step 12\n" + CUMSUM.encode() + b"\n\x00\xc3"
    assert CUMSUM in read(raw)


@pytest.mark.parametrize(
    "escape",
    [
        "\x1b[31m",
        "\x1b[1;38;5;208m",
        "\x1b[K",
        "\x1b]0;train\x07",
        "\x1b]8;;https://x\x1b\\",
        "\x1b(B",
        "\x1b=",
        "\x1bM",
    ],
)
def test_what_only_a_terminal_shows_is_left_out(escape: str) -> None:
    assert log.readable(CUMSUM.replace(" ", f"{escape} ")) == CUMSUM


def test_a_line_that_a_progress_bar_overwrote_is_a_line() -> None:
    assert log.readable(f"10%\r20%\r{CUMSUM}") == f"10%\n20%\n{CUMSUM}"


def test_memory_does_not_grow_with_the_log() -> None:
    def peak(blocks: int) -> int:
        tracemalloc.start()
        search(knowledge_base(), (steps(3_000) for _ in range(blocks)))
        highest = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return highest

    peak(1)
    assert peak(40) < 1.2 * peak(4)
