"""What a scan says of the programs and environments that it found."""

from __future__ import annotations

from scan.projects import scanned

TRAIN = """
import random
import torch
from tools import setup

setup(1)
random.shuffle(x)
loss.backward()
"""
TOOLS = """
import torch

def setup(seed):
    torch.manual_seed(seed)
    torch.use_deterministic_algorithms(True)
"""


def test_a_program_says_which_files_it_reaches_and_what_is_set() -> None:
    answer = scanned({"train.py": TRAIN, "tools.py": TOOLS, "other.py": "x = 1\n"}, torch="2.4.1")
    (program,) = answer.programs
    assert (program.path, program.files) == ("train.py", ["tools.py", "train.py"])
    lines = {check.name: check for check in program.checks}
    assert (lines["seeds"].status, lines["flag"].status) == ("missing", "missing")
    assert "random.seed is set nowhere" in lines["seeds"].text
    assert "CUBLAS_WORKSPACE_CONFIG" in lines["flag"].text


def test_an_environment_says_where_its_versions_come_from() -> None:
    answer = scanned({"train.py": TRAIN + "import transformers\n"}, torch="2.4.1")
    (environment,) = answer.environments
    assert environment.packages["torch"].version == "2.4.1"
    assert environment.packages["torch"].from_ == "requirements.txt:1"
    assert environment.packages["transformers"].how == "assumed"
    assert environment.assumed == ["transformers"]
