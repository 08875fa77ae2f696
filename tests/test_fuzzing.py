"""A few hundred broken inputs at every door; `python tests/fuzzing.py` puts a hundred thousand."""

from __future__ import annotations

import random

import pytest

from command_lines import command_line, commands
from fuzzing import WEIGHTS, fuzz


@pytest.mark.parametrize("door", WEIGHTS)
def test_what_is_broken_is_refused_or_answered(door: str) -> None:
    found = fuzz(40, seed=2, doors=[door])
    assert found.tried[door] == 40
    assert not found.failures, found.failures[0].text


def test_an_input_that_fails_is_made_again_by_its_number() -> None:
    tried = fuzz(40, seed=2, only=7).tried
    assert tried == fuzz(40, seed=2, only=7).tried
    assert sum(tried[door] for door in WEIGHTS) == 1


def test_every_option_of_every_command_is_in_some_line() -> None:
    every, chance = commands(), random.Random(1)
    lines = [command_line(chance, every, ["file"], ["hostile"]).words for _ in range(8000)]
    for name, command in every.items():
        used = {word for words in lines if tuple(words[: len(name)]) == name for word in words}
        options = [each for each in command.params if each.param_type_name == "option"]
        assert [each.name for each in options if used.isdisjoint(each.opts)] == [], name


def test_no_line_names_a_file_outside_its_folder() -> None:
    hostile = ["/etc/passwd", "../x", "~/x", "@/etc/passwd", "a/../../x"]
    every, chance = commands(), random.Random(1)
    for _ in range(2000):
        assert set(hostile).isdisjoint(command_line(chance, every, hostile, hostile).words)
