"""The schema of d9m's JSON is made from the types, and is true of what the commands print.

`process.d9m` holds every JSON that any test gets from a command against the schema.
"""

from __future__ import annotations

import copy
import functools
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema_rs
import msgspec
import pytest
from typer.main import get_command

import output_schema
from d9m.about import SCHEMA_VERSION
from d9m.authoring import json_schema
from d9m.authoring.public_share import public_shares
from d9m.authoring.stats import stats
from d9m.authoring.struct_types import held
from d9m.browse.explain import explain
from d9m.browse.show import Shown, show
from d9m.check.against import bits, hold, read
from d9m.check.evidence import record
from d9m.check.plan import catalogue
from d9m.check.result import OddResult, RankDevice, Report
from d9m.check.settings import SettingCheck
from d9m.cli.application import application
from d9m.environment.environment import Setup
from d9m.errors import UsageError
from d9m.kb import kinds
from golden import KB, knowledge_base
from process import d9m


def plain(output: Any) -> Any:
    return json.loads(msgspec.json.encode(output))


def test_the_checked_in_schema_is_what_the_types_give() -> None:
    assert output_schema.FILE.read_bytes() == json_schema.encoded(), output_schema.WRITE


def test_the_schema_follows_its_standard() -> None:
    jsonschema_rs.meta.validate(output_schema.whole())
    assert output_schema.whole()["$id"].endswith(f"/schema/{SCHEMA_VERSION}.json")


def test_every_type_in_the_schema_has_a_unique_name() -> None:
    roots = [*(each.type for each in json_schema.OUTPUTS), *json_schema.RECORDS]
    names = [type_.__name__ for type_ in held(roots)]
    assert len(set(names)) == len(names)
    commands = {each.name for each in json_schema.OUTPUTS}
    assert set(names) | commands == output_schema.whole()["$defs"].keys()


def test_every_command_that_prints_json_is_in_the_schema() -> None:
    printing = list(_printing(get_command(application([])), []))
    assert {"advise", "check", "scan", "hunt", "kb lint"} <= {" ".join(each) for each in printing}
    assert [each for each in printing if not output_schema.names(each)] == []


def _printing(command: Any, words: list[str]) -> Iterator[list[str]]:
    """The words of each command below one whose `--format` takes json."""
    for name, below in getattr(command, "commands", {}).items():
        yield from _printing(below, [*words, name])
    if any("--format" in each.opts and "json" in each.metavar for each in command.params):
        yield words


def test_every_output_and_field_says_what_it_is() -> None:
    definitions = output_schema.whole()["$defs"]
    assert [each.name for each in json_schema.OUTPUTS if not definitions[each.name]["$ref"]] == []
    field = definitions["Explained"]["properties"]["candidates"]
    assert "the most likely first" in field["description"]
    inherited = definitions["Collective"]["properties"]["ladder"]
    assert "climbed until something varies" in inherited["description"]


def test_further_keys_are_allowed() -> None:
    assert '"additionalProperties":false' not in json.dumps(
        output_schema.whole(), separators=(",", ":")
    )


# --- what commands print


QUESTIONS = [
    "advise --torch 2.4 --ops cumsum,nn.Linear,interpolate:mode=bilinear",
    "advise --torch 2.4 --ops nn.Linear --env-file settings.env",
    "advise --with torch=2.4 --with lightning --calls Trainer(deterministic=True)",
    "advise --with vllm=0.12 --scope batch",
    "advise --torch any --ops scatter_add --diff 1.9..2.6",
    "explain CUBLAS_WORKSPACE_CONFIG",
    "list",
    "list versions --package torch",
    "list claims --package jax",
    "list rules",
    "list facts",
    "show UDA cumsum torch.relu TF_DETERMINISTIC_OPS tensorflow",
    "scan --no-cache .",
    "scan --no-cache --strict .",
    "check --list",
    "check --list --framework jax --ops cumsum",
]

PROGRAM = """\
import os, random, torch
from torch.utils.data import DataLoader

for number, name in enumerate(set(os.listdir("data"))):
    print(number, name)
os.environ["PYTHONHASHSEED"] = "0"
torch.manual_seed(0)
torch.backends.cudnn.benchmark = True
model = torch.nn.Linear(2, 2)
torch.use_deterministic_algorithms(True)
for batch in DataLoader(list(range(9)), shuffle=True):
    loss = torch.nn.functional.interpolate(batch, mode="bilinear").cumsum(0).sum()
    loss.backward()
x = random.random()  # d9m: ignore[order]
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    found = tmp_path_factory.mktemp("project")
    (found / "train.py").write_text(PROGRAM)
    (found / "broken.py").write_text("def (")
    (found / "requirements.txt").write_text("torch==2.4.1\n")
    (found / "job.slurm").write_text("#!/bin/sh\nexport TF_USE_CUDNN_AUTOTUNE=0\npython train.py\n")
    (found / "settings.env").write_text("CUBLAS_WORKSPACE_CONFIG=:0:0\nCUDNN_DETERMINSTIC=1\n")
    (found / "report.json").write_bytes(msgspec.json.encode(everything()))
    return found


def everything() -> Report:
    """A report of `d9m check` with one of everything."""
    import sys

    sys.path.insert(0, str(Path(__file__).parent / "check"))
    from test_ranks import report

    found = report("a", "b", None)
    probes = [
        msgspec.structs.replace(each, arms={**each.arms, "advised": each.arms["default"]})
        for each in found.probes
    ]
    return msgspec.structs.replace(
        found,
        probes=probes,
        settings=[SettingCheck("NAME", "1", "2", "wrong", "export NAME=1")],
        notes=["a note"],
        ranks=[RankDevice(0, "node", 0, "cpu")],
        newer={"torch": "2.15.0"},
        odd=[OddResult("torch/op-0", "float32", "default", [1], 2)],
    )


@pytest.mark.parametrize("question", QUESTIONS)
def test_what_a_command_prints_is_as_the_schema_says(question: str, folder: Path) -> None:
    done = d9m(*question.split(), "--format", "json", cwd=folder)
    assert done.returncode in (0, 1, 3), done.stderr
    assert _whole().is_valid(json.loads(done.stdout))


@functools.cache
def _whole() -> Any:
    return jsonschema_rs.Draft202012Validator(output_schema.whole())


def test_what_check_writes_is_as_the_schema_says(folder: Path) -> None:
    report = everything()
    held_to = msgspec.structs.replace(
        report, against=hold(report, read(str(folder / "report.json")))
    )
    assert held_to.against is not None
    assert output_schema.faults(plain(held_to), ["check"]) == []
    assert output_schema.faults(plain(record(report)), ["check-evidence"]) == []
    assert bits(report).results
    assert output_schema.faults(plain(bits(report)), ["check-digests"]) == []


COMPLAINTS = [
    ("I set all the seeds and every run gives another loss", {"torch": "2.4", "no-such": None}),
    ("torch.use_deterministic_algorithms(True) random.seed(1) torch.manual_seed(0) "
     "CUBLAS_WORKSPACE_CONFIG=:4096:8 torch.backends.cudnn.benchmark = False, still differs", {}),
    ("index_add_ gives different results on each run with torch 2.3 and 2.7", {"torch": "2.7"}),
    ("RuntimeError: cumsum_cuda_kernel does not have a deterministic implementation", {}),
    ("RuntimeError: cumsum_cuda_kernel has no determnistic implementation, but you set", {}),
    ("training with XGBoost gpu_hist differs between runs", {"xgboost": "9.9"}),
    ("Mixtral in vLLM answers differently when several requests run at once", {"vllm": "0.12"}),
    ("np.random.seed(0) CUBLAS_WORKSPACE_CONFIG=:0:0 NCCL_DETERMINISTIC=1 and runs differ", {}),
]  # fmt: skip


def test_explanations_are_as_the_schema_says() -> None:
    wrong: list[str] = []
    filled: set[str] = set()
    for text, packages in COMPLAINTS:
        try:
            found = plain(explain(knowledge_base(), text, Setup(packages=tuple(packages.items()))))
        except UsageError:
            continue
        filled.update(key for key, value in found.items() if value)
        wrong += output_schema.faults(found, ["explain"])
    assert wrong == []
    assert filled >= {"found", "subject", "unknown_packages", "settings", "releases"}


def test_every_record_is_shown_as_the_schema_says() -> None:
    kb = knowledge_base()
    wrong: list[str] = []
    for shown in _shown():
        wrong += output_schema.faults(plain(shown), ["Shown"])
    assert wrong == []
    for names in (["UDA", "cumsum"], ["pytorch/cumsum"], ["torch"], ["TF_DETERMINISTIC_OPS"]):
        assert output_schema.faults(plain(show(kb, names)), ["show"]) == []


def _shown() -> Iterator[Shown]:
    """Every record, and some ops, without their histories."""
    kb = knowledge_base()
    for kind in kinds.KINDS:
        for key, entry in kb.of(kind).items() if kind.table else ():
            yield Shown(kind.noun, key, msgspec.to_builtins(entry), [], [])
    for place in list(kb.ops)[::20]:
        yield Shown("op", place, msgspec.to_builtins(kb.ops[place]), [], [])


def test_the_figures_of_the_knowledge_base_are_as_the_schema_says() -> None:
    kb = knowledge_base()
    found = stats(kb, catalogue.exercised(), public_shares(kb, KB))
    assert output_schema.faults(plain(found), ["kb-stats"]) == []


# --- whether a fault would be seen


def _without(path: str) -> Any:
    """A list of rules without a key."""
    found = json.loads(d9m("list", "rules", "--format", "json").stdout)
    place = found
    *above, last = path.split(".")
    for name in above:
        place = place[int(name)] if name.isdigit() else place[name]
    del place[last]
    return found


@pytest.mark.parametrize("path", ["schema_version", "d9m", "d9m.version", "rows", "rows.0.id"])
def test_a_key_that_is_missing_is_seen(path: str) -> None:
    assert output_schema.faults(_without(path), ["list"])


def test_a_key_that_the_schema_lacks_is_seen_at_any_depth() -> None:
    right = json.loads(
        d9m("advise", "--torch", "2.4", "--ops", "cumsum", "--format", "json").stdout
    )
    assert output_schema.faults(right, ["advise"]) == []
    found = copy.deepcopy(right)
    found["ops"][0]["sources"][0]["evidence"][0]["new"] = 1
    assert "new" in output_schema.faults(found, ["advise"])[0]
    assert _whole().is_valid(found), "a program that reads the JSON must accept new keys"
    assert output_schema.faults({**right, "schema_version": 2}, ["advise"])
    assert output_schema.faults({**right, "outcome": "good"}, ["advise"])
