"""Notebooks become Python of the same lines."""

from __future__ import annotations

import json

import pytest

from d9m.scan.notebooks import python_of, read_notebook


@pytest.mark.parametrize(
    ("cell", "python"),
    [
        ("%matplotlib inline\nx = 1", "pass\nx = 1"),
        ("% matplotlib inline\nx = 1", "pass\nx = 1"),
        ("%%time\nx = 1", "\nx = 1"),
        ("if x:\n    %cd data\n    !ls", "if x:\n    pass\n    pass"),
        ("files = !ls\ncount = %time 1", "files = None\ncount = None"),
        ("print('%d'\n      %(x))", "print('%d'\n      %(x))"),
        ("print('%d'\n      % (x))", "print('%d'\n      % (x))"),
        ("print('%d'\n      % len(x))", "print('%d'\n      % len(x))"),
        ("!pip install \\\n  torch\nx = 1", "pass\n\nx = 1"),
    ],
)
def test_what_is_not_python_is_blank(cell: str, python: str) -> None:
    assert python_of(cell.split("\n")) == python.split("\n")


def test_a_magic_and_a_percent_in_an_expression() -> None:
    cell = "%cd data\nprint('%d'\n      %(len(x)))"
    assert python_of(cell.split("\n")) == ["pass", "print('%d'", "      %(len(x)))"]


def test_cells_of_both_formats() -> None:
    code = {"cell_type": "code", "source": ["x = 1\n", "y = 2"]}
    text = {"cell_type": "markdown", "source": "words"}
    old = {"cell_type": "code", "input": "z = 3"}
    new = read_notebook(json.dumps({"cells": [text, code], "nbformat": 4}).encode())
    assert (new.text, new.cells) == ("x = 1\ny = 2", ((2, 0),))
    sheets = read_notebook(json.dumps({"worksheets": [{"cells": [text, old]}]}).encode())
    assert (sheets.text, sheets.cells) == ("z = 3", ((2, 0),))
