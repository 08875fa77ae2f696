"""Each rule finds its fault at the right line, and nothing in a near miss.

A folder under ``lint/CODE/`` is laid over ``lint/base/``, a knowledge base without
a fault. In a ``bad…`` one, each line that ends in ``# FAULT`` has one fault of that
code, and no other line has any.
"""

from __future__ import annotations

import json
import random
import re
import shutil
from pathlib import Path

import pytest

import output_schema
from d9m.about import SCHEMA_VERSION
from d9m.authoring.lint import RULES, Fault, as_json, as_text, find, lint
from d9m.errors import DataError, UsageError
from d9m.kb import build, yaml_files

TREES = Path(__file__).parent / "lint"
CASES = sorted(path for path in TREES.glob("*/*") if path.parent.name != "base")
REAL = Path(__file__).parents[2] / "kb"


def overlaid(case: Path | None, root: Path) -> Path:
    shutil.copytree(TREES / "base", root)
    if case is not None:
        shutil.copytree(case, root, dirs_exist_ok=True)
    return root


def marked(case: Path) -> set[tuple[str, int, str]]:
    """Where a case says that its faults are."""
    return {
        (path.relative_to(case).as_posix(), number, case.parent.name)
        for path in case.rglob("*")
        if path.is_file()
        for number, line in enumerate(path.read_bytes().splitlines(), 1)
        if line.rstrip().endswith(b"# FAULT")
    }


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.parent.name}-{case.name}")
def test_a_rule_finds_what_is_marked_and_nothing_else(case: Path, tmp_path: Path) -> None:
    faults = lint(overlaid(case, tmp_path / "kb"))
    assert {(each.file, each.line, each.rule) for each in faults} == marked(case), as_text(faults)
    assert case.name.startswith("bad") == bool(faults)


def test_the_base_of_all_cases_has_no_fault(tmp_path: Path) -> None:
    assert lint(overlaid(None, tmp_path / "kb")) == []


@pytest.mark.parametrize("names", [(), ("facts.yaml",)])
def test_lint_refuses_a_folder_without_records(names: tuple[str, ...], tmp_path: Path) -> None:
    for name in names:
        shutil.copy(TREES / "base" / name, tmp_path)
    with pytest.raises(DataError, match="no records there"):
        lint(tmp_path)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.code)
def test_every_rule_has_a_bad_record_a_near_miss_and_a_reason(rule) -> None:
    kinds = {case.name.partition("-")[0] for case in CASES if case.parent.name == rule.code}
    assert kinds == {"bad", "good"}
    assert len(rule.why) > 100
    assert rule.why.endswith(".")
    assert rule.title[0].isupper()
    assert not rule.title.endswith(".")


def test_every_case_belongs_to_a_rule_and_codes_are_unique() -> None:
    codes = [rule.code for rule in RULES]
    assert len(set(codes)) == len(codes)
    assert {case.parent.name for case in CASES} == set(codes)


def test_a_base_without_faults_can_be_indexed(tmp_path: Path) -> None:
    kb = build.build(yaml_files.load(overlaid(None, tmp_path / "kb")))
    assert list(kb.sources) == ["tensorflow/bias-add"]


@pytest.mark.parametrize(
    "file",
    sorted(path.relative_to(TREES / "base").as_posix() for path in TREES.glob("base/**/*.yaml")),
)
def test_a_file_that_cannot_be_read_takes_only_itself_out(file: str, tmp_path: Path) -> None:
    root = overlaid(None, tmp_path / "kb")
    (root / file).write_text("title: [never closed")
    assert [(each.file, each.rule) for each in lint(root)] == [(file, "yaml-syntax")]


def test_faults_of_all_files_come_in_one_run_sorted_by_file_and_line(tmp_path: Path) -> None:
    root = overlaid(TREES / "schema" / "bad", tmp_path / "kb")
    for more in ("missing-evidence", "step-order", "duplicate-key"):
        shutil.copytree(TREES / more / "bad", root, dirs_exist_ok=True)
    faults = lint(root)
    assert {"duplicate-key", "missing-evidence", "step-order"} <= {each.rule for each in faults}
    assert faults == sorted(faults, key=lambda each: (each.file, each.line))


def test_all_faults_of_one_file_come_at_once(tmp_path: Path) -> None:
    root = overlaid(None, tmp_path / "kb")
    (root / "documents/notes.yaml").write_text("url: [a]\nkind: pagee\ndat: x\nkind: page\n")
    told = {(each.line, each.rule, each.field) for each in lint(root)}
    assert told == {
        (1, "schema", "title"),
        (1, "schema", "url"),
        (2, "schema", "kind"),
        (3, "unknown-key", "dat"),
        (4, "duplicate-key", "kind"),
    }


def test_a_fault_of_shape_hides_no_other_fault_of_its_file(tmp_path: Path) -> None:
    root = overlaid(None, tmp_path / "kb")
    source = root / "sources/tensorflow/bias-add.yaml"
    text = source.read_text()
    source.write_text(
        text.replace("title:", "titel:")
        .replace("mechanism:", "status: sure\nmechanism:")
        .replace("[TDO]", "[TDQ]")
        .replace("document: notes", "document: note")
    )
    found = {(each.rule, each.field) for each in lint(root)}
    assert {
        ("unknown-key", "titel"),
        ("schema", "title"),
        ("schema", "status"),
        ("dangling-reference", "timeline.tensorflow.1.by.0"),
        ("dangling-reference", "evidence.0.document"),
    } <= found


def test_a_fault_names_value_what_is_allowed_and_the_likeliest_meaning(tmp_path: Path) -> None:
    root = overlaid(TREES / "unknown-key" / "bad", tmp_path / "kb")
    (fault,) = lint(root)
    assert (fault.field, fault.value, fault.tip) == ("dat", "dat", "did you mean date?")
    assert "title, url, date" in fault.allowed


def test_a_text_cut_at_a_comma_is_told_to_be_quoted(tmp_path: Path) -> None:
    root = overlaid(None, tmp_path / "kb")
    (root / "myths").mkdir()
    evidence = "[{kind: documented, document: notes, note: Slow, but safe}]"
    (root / "myths/slow.yaml").write_text(f"myth: A\nfact: B\nevidence: {evidence}\n")
    (fault,) = lint(root)
    assert (fault.rule, fault.value) == ("unknown-key", "but safe")
    assert "quotes" in fault.tip


FAULTS = [
    Fault("a.yaml", 3, "schema", "expected text", "url", "[1]", "text", "quote it"),
    Fault("b.yaml", 1, "cycle", "reaches itself"),
]


def test_text_names_file_line_and_code_first_and_ends_with_a_count() -> None:
    assert as_text(FAULTS).splitlines() == [
        "a.yaml:3: [schema] expected text",
        "    field:   url",
        "    value:   [1]",
        "    allowed: text",
        "    tip:     quote it",
        "b.yaml:1: [cycle] reaches itself",
        "2 faults in 2 files",
    ]
    assert as_text([]) == "no faults"
    assert as_text(FAULTS[:1]).endswith("\n1 fault in 1 file")


def test_json_lists_faults_and_counts_them_by_rule() -> None:
    told = json.loads(as_json(FAULTS))
    assert not output_schema.faults(told, ["kb-lint"])
    assert told["schema_version"] == SCHEMA_VERSION
    assert [(each["file"], each["line"]) for each in told["faults"]] == [
        ("a.yaml", 3),
        ("b.yaml", 1),
    ]
    assert told["counts"] == {"faults": 2, "files": 2, "by_rule": {"cycle": 1, "schema": 1}}


def test_a_rule_is_found_by_its_code_and_an_unknown_code_names_the_nearest() -> None:
    assert find("lost-zero").code == "lost-zero"
    with pytest.raises(UsageError, match="lost-zero"):
        find("lost-zeros")


WORDS = (
    "",
    "2.1",
    "2.10",
    "-1",
    "9" * 5000,
    "²",
    "tensorflow",
    "TDO",
    "TDO + TDP",
    "xla",
    "[]",
    "{}",
    "cpu",
    "#",
    "/",
    "(",
    "tf.nn.bias_add[",
    "{from: x}",
    "{from: '2', until: '1'}",
    "https://[",
    "stock",
    "raises",
    "no",
)


@pytest.mark.parametrize("seed", range(100))
def test_lint_never_raises_whatever_a_value_is_replaced_with(seed: int, tmp_path: Path) -> None:
    rng = random.Random(seed)
    root = overlaid(None, tmp_path / "kb")
    for file in rng.sample(sorted(root.rglob("*.yaml")), 3):
        lines = file.read_text().splitlines()
        place = rng.randrange(len(lines))
        words = re.split(r'([ ,\[\]{}":]+)', lines[place])
        words[rng.randrange(len(words))] = rng.choice(WORDS)
        lines[place] = "".join(words)
        file.write_text("\n".join(lines))
    assert all(fault.line >= 1 and fault.message for fault in lint(root))


def test_the_knowledge_base_itself_has_no_fault() -> None:
    faults = lint(REAL)
    assert not faults, as_text(faults)
