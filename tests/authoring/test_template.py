"""`d9m kb new`: a template says every key, and lint says what is missing in it."""

from __future__ import annotations

import shutil
from pathlib import Path

import msgspec
import pytest
import yaml

from d9m.authoring import template
from d9m.authoring.lint import lint
from d9m.errors import UsageError
from d9m.kb.kinds import KINDS

BASE = Path(__file__).parent / "lint" / "base"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return shutil.copytree(BASE, tmp_path / "kb")


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_a_template_has_every_key_of_its_kind_and_is_yaml(kind) -> None:
    text = template.template(kind.type, "torch")
    fields = msgspec.structs.fields(kind.type)
    written = yaml.load(text, yaml.CBaseLoader) or {}
    assert set(written) == {field.encode_name for field in fields if field.required}
    assert all(f"\n# {each.encode_name}:" in text for each in fields if not each.required)
    optional = "\n".join(
        line.removeprefix("# ")
        for line in text.splitlines()
        if line.startswith("# ") and (line.endswith((": []", ": {}", ': ""')))
    )
    assert isinstance(yaml.load(optional, yaml.CBaseLoader) or {}, dict)


def test_a_new_source_is_written_where_it_belongs_and_lint_names_what_is_missing(
    root: Path,
) -> None:
    path = template.new(root, "source", "tensorflow/example")
    assert path == root / "sources/tensorflow/example.yaml"
    assert "\ntimeline:\n  tensorflow:\n" in path.read_text()
    faults = lint(root)
    assert {fault.file for fault in faults} == {"sources/tensorflow/example.yaml"}
    fields = {fault.field for fault in faults}
    assert {"title", "summary", "mechanism", "evidence.0.kind"} <= fields
    assert any(field.startswith("timeline.tensorflow.0") for field in fields)


@pytest.mark.parametrize(
    ("kind", "id_", "said"),
    [
        ("sorce", "tensorflow/example", "source"),
        ("source", "tensorflo/example", "tensorflow"),
        ("source", "tensorflow/bias-add", "is there already"),
        ("document", "../../notes", "is not an id"),
    ],
)
def test_a_record_that_cannot_be_new_is_refused(root: Path, kind: str, id_: str, said: str) -> None:
    before = {path: path.read_bytes() for path in root.rglob("*.yaml")}
    with pytest.raises(UsageError) as error:
        template.new(root, kind, id_)
    assert said in f"{error.value.what} {error.value.nearest}"
    assert {path: path.read_bytes() for path in root.rglob("*.yaml")} == before
