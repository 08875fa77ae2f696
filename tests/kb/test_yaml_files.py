"""Reading YAML: as written, with places, and with every fault of a file, whatever the file
holds.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from d9m.authoring.lint import loading
from d9m.kb import build, validate
from d9m.kb.kinds import DOCUMENTS, KINDS, PACKAGES, PULL_REQUESTS
from d9m.kb.yaml_files import Fault, Loaded, Records, load, parse, read
from d9m.model import records
from d9m.model.wheel_facts import Published
from golden import KB

CODES = {rule.code for rule in loading.RULES}

DOCUMENT = 'title: "2.10"\nurl: https://example.org\n'


def parsed(text: str, type_: Any = records.Document) -> list[Loaded | Fault]:
    return list(parse(text, "file.yaml", "documents", "file", type_))


@pytest.mark.parametrize("value", ["2.10", "no", "2020-01-02", "1e3", "0x10", "null", "~", "08"])
def test_a_value_stays_as_it_is_written(value: str) -> None:
    (loaded,) = parsed(f"title: {value}\nurl: https://example.org\n")
    assert isinstance(loaded, Loaded)
    assert loaded.record.title == value


def test_a_field_knows_its_line_and_one_that_is_not_written_that_of_the_field_around_it() -> None:
    (loaded,) = parsed(
        "title: A\nsummary: B\nmechanism: c\n"
        'timeline:\n  tensorflow:\n    - {from: "1.0",\n       outcome: unknown}\nevidence: []\n',
        records.Source,
    )
    assert isinstance(loaded, Loaded)
    assert loaded.line("timeline", "tensorflow", 0, "outcome") == 7
    assert loaded.line("timeline", "tensorflow", 0, "by", 3) == 6
    assert loaded.line("costs") == 1


TOOL = """
title: Tool
kind: library
evidence: []
contains:
  "1.0": {cuda: "8.0"}
  "1.10": {cuda: "9.0"}
releases:
  "0.9": {date: "2019", with: {cuda: "7.0"}}
  "1.2": {note: odd}
"""
LISTED = Published(
    {"1.0": "2020-01-01", "1.2": "2020-02-02", "1.10": "", "2.0": "2021-01-01"},
    {"1.2": "withdrawn", "2.0": "2.0.post1 counts as 2.0"},
    {"1.2": {"torch": "2.0"}},
)


def tool(root: Path, text: str = TOOL, listed: str = "tool") -> Records:
    for folder in ("versions", "evidence/releases"):
        (root / folder).mkdir(parents=True)
    (root / "versions/tool.yaml").write_text(text)
    (root / f"evidence/releases/{listed}.json").write_bytes(LISTED.encoded())
    return load(root)


def test_a_package_has_the_releases_that_its_evidence_lists_and_what_its_record_adds(
    tmp_path: Path,
) -> None:
    loaded = tool(tmp_path)
    assert loaded.faults == []
    assert loaded.of(PACKAGES)["tool"].releases == {
        "0.9": records.Release(date="2019", with_={"cuda": "7.0"}),
        "1.0": records.Release(date="2020-01-01", with_={"cuda": "8.0"}),
        "1.2": records.Release(
            date="2020-02-02", with_={"cuda": "8.0", "torch": "2.0"}, note="odd"
        ),
        "1.10": records.Release(with_={"cuda": "9.0"}),
        "2.0": records.Release(date="2021-01-01", note="2.0.post1 counts as 2.0"),
    }


def test_contents_of_an_unknown_release_and_releases_of_an_unknown_package_are_faults(
    tmp_path: Path,
) -> None:
    faults = tool(tmp_path / "a", TOOL.replace('"1.10"', '"1.11"')).faults
    assert [(fault.file, fault.line, fault.rule, fault.value) for fault in faults] == [
        ("versions/tool.yaml", 7, "unknown-version", "1.11")
    ]
    faults = tool(tmp_path / "b", TOOL.partition("contains")[0], listed="tol").faults
    assert [(fault.file, fault.rule) for fault in faults] == [
        ("evidence/releases/tol.json", "file-place")
    ]


REQUEST = """
repository: owner/tool
number: "12"
title: Sort first
status: merged
evidence: []
"""
CITING = """
title: Sums
summary: Sums differ.
mechanism: atomic-float-add
timeline: {tool: [{from: "1.0", outcome: unsolved}]}
references: ["tool#12"]
evidence: [{kind: documented, url: "https://example.org", date: "2020-02-03"}]
"""


def cited(root: Path, request: str) -> Records:
    for file, text in (("pull_requests/tool/12", request), ("sources/tool/sums", CITING)):
        (root / file).parent.mkdir(parents=True)
        (root / f"{file}.yaml").write_text(text)
    return load(root)


def test_the_address_of_a_pull_request_and_the_records_that_cite_it_are_derived(
    tmp_path: Path,
) -> None:
    request = cited(tmp_path, REQUEST).of(PULL_REQUESTS)["tool/12"]
    assert request.url == "https://github.com/owner/tool/pull/12"
    assert request.records == ["sources/tool/sums"]


def test_a_pull_request_that_lists_its_records_is_a_fault(tmp_path: Path) -> None:
    (fault,) = cited(tmp_path, f"{REQUEST}records: [sources/tool/sums]\n").faults
    assert (fault.file, fault.line, fault.value) == ("pull_requests/tool/12.yaml", 7, "records")


def test_the_date_of_the_edition_is_the_newest_day_that_a_record_names(tmp_path: Path) -> None:
    dated = REQUEST.replace("evidence", 'merged: "2020-02"\nopened: "2019-12-31"\nevidence')
    assert build.build(cited(tmp_path, dated)).meta.date == "2020-02-03"


def test_a_folder_with_broken_files_is_read_and_each_broken_file_is_a_fault(tmp_path: Path) -> None:
    (tmp_path / "documents").mkdir()
    (tmp_path / "documents/good.yaml").write_text(DOCUMENT)
    (tmp_path / "documents/bad.yaml").write_bytes(b"\xff\xfe\x00")
    (tmp_path / "documents/empty.yaml").write_bytes(b"")
    (tmp_path / "stray.txt").write_text("")
    loaded = load(tmp_path)
    assert list(loaded.of(DOCUMENTS)) == ["good"]
    assert [(each.file, each.rule) for each in loaded.faults] == [
        ("documents/bad.yaml", "yaml-syntax"),
        ("documents/empty.yaml", "schema"),
        ("stray.txt", "file-place"),
    ]


@pytest.mark.parametrize("text", ["[", "- ", "{a: ", "? "])
def test_a_text_nested_a_hundred_thousand_deep_is_a_fault_not_a_crash(text: str) -> None:
    (fault,) = parsed(text * 100_000)
    assert isinstance(fault, Fault)
    assert fault.rule == "yaml-syntax"


def test_every_record_can_be_read_without_libyaml() -> None:
    """It takes more than PyYAML does, which reads where libyaml is missing."""
    refused: dict[Path, str] = {}
    for path in sorted(KB.rglob("*.yaml")):
        try:
            list(yaml.parse(path.read_text(encoding="utf-8"), yaml.BaseLoader))
        except yaml.YAMLError as error:
            refused[path] = str(error)
    assert not refused


def test_a_block_that_an_anchor_names_may_be_repeated_but_not_within_itself() -> None:
    text = "a: &a [x]\nb: *a\n"
    (loaded,) = parsed(text, dict[str, list[str]])
    assert isinstance(loaded, Loaded)
    assert loaded.record == {"a": ["x"], "b": ["x"]}
    many = "a: &a [x]\n" + "".join(f"b{n}: *a\n" for n in range(21))
    for bad in ("a: &a [*a]\n", "a: &a [x]\nb: &b [*a]\n", many):
        faults = [each for each in parsed(bad, dict[str, Any]) if isinstance(each, Fault)]
        assert {fault.rule for fault in faults} == {"yaml-feature"}


def test_no_line_of_a_record_is_longer_than_140_columns() -> None:
    texts = {path: path.read_text("utf-8") for path in KB.rglob("*.yaml")}
    assert [
        f"{path.relative_to(KB)}: {line}"
        for path, text in texts.items()
        if path.parent.name != "symptoms" and path.name != "words.yaml"
        for line in text.splitlines()
        if len(line) > 140 and max(map(len, line.split())) < 100
    ] == []


def test_aliases_are_not_followed_so_a_short_text_cannot_become_a_huge_value() -> None:
    lines = [
        "a0: &a0 [x, x]",
        *(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 40)),
    ]
    faults = parsed("\n".join(lines))
    assert {each.rule for each in faults if isinstance(each, Fault)} == {"yaml-feature"}


YAML_LETTERS = st.text(
    alphabet="ab:- \n\t[]{}#&*!|>'\"%@`,?<=.~0\u00a0\ufeff\x00\x85é", max_size=60
)


@given(st.one_of(st.text(), YAML_LETTERS))
@settings(max_examples=400)
def test_no_text_makes_the_loader_raise(text: str) -> None:
    for type_ in (records.Document, records.Source, dict[str, records.Fact]):
        for each in parsed(text, type_):
            assert isinstance(each, Loaded) or (
                each.rule in CODES and each.line >= 1 and each.message
            )


@given(st.binary(max_size=80))
def test_no_bytes_make_the_loader_raise(
    tmp_path_factory: pytest.TempPathFactory, content: bytes
) -> None:
    root = tmp_path_factory.getbasetemp() / "bytes"
    path = root / "documents" / "any.yaml"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    for each in read(path, root):
        assert isinstance(each, Loaded) or each.rule in CODES


NAMES = sorted(
    {
        name
        for kind in KINDS
        for part in msgspec.json.schema(kind.type).get("$defs", {}).values()
        for name in part.get("properties", {})
    }
)
WORDS = st.sampled_from(
    ["", "1", "true", "maybe", "null", "2.10", "solved", "stock", "documented", "env", "int"]
)
VALUES = st.recursive(
    st.one_of(st.none(), WORDS),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(st.sampled_from(NAMES), inner, max_size=4)
    ),
    max_leaves=12,
)


@given(
    VALUES,
    st.sampled_from(
        [
            *(kind.type for kind in KINDS),
            records.TimelineStep,
            records.SettingChange,
            records.Evidence,
            records.Fact,
        ]
    ),
)
@settings(max_examples=500)
def test_the_walk_that_tells_all_faults_finds_one_exactly_where_the_types_refuse(
    value: Any, type_: Any
) -> None:
    try:
        msgspec.convert(value, type_, strict=False)
        refused = False
    except msgspec.ValidationError:
        refused = True
    assert bool(list(validate.misfits(value, type_))) == refused
