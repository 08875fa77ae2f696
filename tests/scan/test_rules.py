"""Every rule on small projects: what it must find, and what it must not."""

from __future__ import annotations

import random
import textwrap
from pathlib import Path

import msgspec
import pytest

from d9m.scan.project.project import Goal
from d9m.scan.rules import upkeep
from d9m.scan.rules.catalogue import RULES
from d9m.scan.rules.rule import ScanRule
from scan.projects import scanned

RULE_CASES = Path(__file__).parent / "rules"


class RuleCase(msgspec.Struct, forbid_unknown_fields=True):
    """A project, and where one rule must speak."""

    name: str
    files: dict[str, str]
    expect: list[str]
    """``path:line severity``."""
    torch: str | None = None
    tensorflow: str | None = None
    jax: str | None = None
    goal: Goal = "auto"


def cases() -> dict[str, list[RuleCase]]:
    return {
        file.stem: msgspec.yaml.decode(file.read_bytes(), type=list[RuleCase])
        for file in sorted(RULE_CASES.glob("*.yaml"))
    }


JUDGED = tuple(rule for rule in RULES if rule not in upkeep.RULES)
"""Rules that look at a project; those of comments look at what these find."""

CASES = cases()
EVERY = [(code, case) for code, found in CASES.items() for case in found]


@pytest.mark.parametrize(("code", "case"), EVERY, ids=lambda value: getattr(value, "name", value))
def test_a_rule_speaks_where_it_must_and_nowhere_else(code: str, case: RuleCase) -> None:
    versions = {"torch": case.torch, "tensorflow": case.tensorflow, "jax": case.jax}
    answer = scanned(case.files, case.goal, **versions)
    found = [
        f"{finding.path}:{finding.line} {finding.severity}"
        for finding in answer.findings
        if finding.code == code
    ]
    assert found == case.expect


def test_every_rule_has_three_cases_of_each_kind() -> None:
    assert CASES.keys() == {rule.code for rule in JUDGED}
    for code, found in CASES.items():
        bad = [case for case in found if case.expect]
        assert len(bad) >= 3, code
        assert len(found) - len(bad) >= 3, code


STATES = {"requirements.txt": {"train.py": "import torch\nloss.backward()\n"}}
"""Samples that state versions themselves, with a program that they speak of."""


@pytest.mark.parametrize("rule", JUDGED, ids=lambda rule: rule.code)
def test_the_samples_of_a_rule_show_it(rule: ScanRule) -> None:
    for text, speaks in ((rule.bad, True), (rule.good, False)):
        if rule.sample in STATES:
            answer = scanned({rule.sample: text, **STATES[rule.sample]})
        else:
            answer = scanned({rule.sample: text}, torch="2.4.1", jax="0.5.0")
        codes = {finding.code for finding in answer.findings}
        assert (rule.code in codes) is speaks, text


def test_what_an_argument_decides_is_not_said_to_vary() -> None:
    text = """
        import torch
        import torch.nn.functional as F
        torch.manual_seed(1)
        loss = F.cross_entropy(logits, targets)
        torch.index_add(x, 0, i, s).sum().backward()
    """
    answer = scanned({"train.py": textwrap.dedent(text)}, torch="1.13.1")
    said = [finding.message for finding in answer.findings if finding.code == "no-switch"]
    assert len(said) == 1
    assert "index_add can differ" in said[0]


def test_the_order_of_the_files_changes_nothing() -> None:
    files = {
        f"{number}.py": next(iter(case.files.values())) for number, (_, case) in enumerate(EVERY)
    }
    shuffled = list(files.items())
    random.Random(1).shuffle(shuffled)
    assert scanned(files).findings == scanned(dict(shuffled)).findings


def test_a_worker_gets_a_seed_of_its_own() -> None:
    text = """
        import os
        import numpy as np
        from torch.utils.data import DataLoader

        def start(number):
            np.random.seed(int.from_bytes(os.urandom(4), "big"))

        np.random.seed(os.getpid())
        loader = DataLoader(images, num_workers=4, worker_init_fn=start)
    """
    found = scanned({"train.py": textwrap.dedent(text)}).findings
    ways = [finding.way_out for finding in found if finding.code == "seed-from-chance"]
    assert ways == [
        "numpy.random.seed(torch.initial_seed() % 2**32)",
        "use a fixed number, or log the seed and accept it as an option",
    ]


def test_an_order_names_no_seed_that_another_module_sets() -> None:
    files = {
        "setup.py": "import random\ndef start(seed):\n    random.seed(seed)\nstart(1)\n",
        "data.py": "import os\nimport random\nfile = random.choice(os.listdir('data'))\n",
    }
    said = {name: text for name, text in files.items() if name == "data.py"}
    for project, ends in ((files, "machines."), (said, "either.")):
        found = scanned(project).findings
        messages = [each.message for each in found if each.code == "unsorted-listing"]
        assert len(messages) == 1
        assert messages[0].endswith(ends)


@pytest.mark.parametrize(
    ("version", "call"),
    [("1.15.5", "tensorflow.set_random_seed"), ("2.15.0", "tensorflow.random.set_seed")],
)
def test_a_missing_seed_is_that_of_the_stated_release(version: str, call: str) -> None:
    text = """\
        import numpy as np
        import tensorflow as tf
        np.random.seed(1)
        weights = tf.Variable(tf.random.truncated_normal([4, 4]))
        model.fit(weights)
    """
    found = scanned({"train.py": textwrap.dedent(text)}, tensorflow=version).findings
    ways = [finding.way_out for finding in found if finding.code == "unseeded-library"]
    assert ways == [f"{call}(seed)"]
