"""Which files of a project are programs: scripts are, libraries are not."""

from __future__ import annotations

import pytest

from scan.projects import scanned

STEP = "import torch\ndef step(loss):\n    loss.backward()\n    return loss\n"


@pytest.mark.parametrize(
    "line",
    [
        "import logging\nlogger = logging.getLogger(__name__)",
        "import re\nNAME = re.compile('[a-z]+')",
        "from typing import TypeVar\nT: TypeVar = TypeVar('T')",
        "import torch\nDEVICE = torch.device('cuda' if torch.cuda.is_available() else 'cpu')",
        "from pathlib import Path\nFOLDER, NAME = Path(__file__).parent, str.upper('steps')",
        "NAMES = [name.upper() for name in ('train', 'test')]",
    ],
)
def test_a_module_that_keeps_the_value_of_a_call_is_a_library(line: str) -> None:
    programs = scanned({"steps.py": f"{STEP}{line}\n"}).programs
    assert [program.path for program in programs] == ["."]  # the project as one


@pytest.mark.parametrize(
    "line",
    [
        "step('data')",
        "import asyncio\nasyncio.run(step('data'))",
        "await step('data')",
        "for name in ('train', 'test'):\n    step(name)",
        "import sys\nsys.exit(step('data'))",
        "last = step('data')",
    ],
)
def test_a_module_that_does_something_is_a_program(line: str) -> None:
    programs = scanned({"steps.py": f"{STEP}{line}\n"}).programs
    assert [program.path for program in programs] == ["steps.py"]


def test_a_call_that_trains_makes_a_program_though_its_value_is_kept() -> None:
    files = {
        "train.py": "import engine\nhistory = engine.fit()\n",
        "engine.py": "import torch\ndef fit():\n    loss.backward()\n",
    }
    assert [program.path for program in scanned(files).programs] == ["train.py"]
