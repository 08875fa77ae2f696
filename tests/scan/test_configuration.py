"""What a project says about its scans, and what is wrong with it."""

from __future__ import annotations

from pathlib import Path

import pytest

from d9m.errors import UsageError
from d9m.scan.configuration import Configuration, find_configuration
from golden import knowledge_base
from scan.folders import codes, scanned, write

FULL = """\
[tool.d9m.scan]
strict = true
paths = ["train", "scripts"]
exclude = ["third_party"]
entry-points = ["train.py", "pkg.cli:main"]
ignore = ["files"]
per-file-ignores = {"tools/**" = ["unused-ignore"]}
severity = {unused-ignore = "error"}
baseline = "known.json"
[tool.d9m.environment]
torch = "2.4.1"
device = "gpu"
facts = {xla = "TRUE"}
"""


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def read(text: str, file: str = "pyproject.toml") -> Configuration:
    Path(file).write_text(text, encoding="utf-8")
    return find_configuration(knowledge_base(), ".")


def test_every_key(here: Path) -> None:
    found = read(FULL)
    assert (found.file, found.folder) == ("pyproject.toml", str(here))
    assert (found.strict, found.paths) == (True, ("train", "scripts"))
    assert (found.exclude, found.ignore) == (("third_party",), ("files",))
    assert found.entry_points == ("train.py", "pkg.cli:main")
    assert found.per_file_ignores == (("tools/**", ("unused-ignore",)),)
    assert (found.severity, found.baseline) == ({"unused-ignore": "error"}, "known.json")
    assert found.environment is not None
    assert found.environment.packages == (("torch", "2.4.1"),)
    assert (found.environment.device, found.environment.facts) == ("cuda", (("xla", "true"),))


def test_the_nearest_file_counts_and_d9m_toml_has_no_prefix(here: Path) -> None:
    write(here, {"pyproject.toml": '[tool.d9m.scan]\nselect = ["order"]\n', "sub/deep/a.py": ""})
    kb = knowledge_base()
    assert find_configuration(kb, "sub/deep").select == ("order",)
    write(here, {"sub/d9m.toml": '[scan]\nselect = ["seeds"]\n'})
    assert find_configuration(kb, "sub/deep").select == ("seeds",)
    write(here, {"sub/pyproject.toml": "[project]\n", "sub/d9m.toml": ""})
    assert find_configuration(kb, "sub/deep").select == ()


def test_the_search_ends_at_the_top_of_the_repository(here: Path) -> None:
    write(here, {"pyproject.toml": "[tool.d9m.scan]\nstrict = true\n", "sub/.git/HEAD": ""})
    assert not find_configuration(knowledge_base(), "sub").strict


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[tool.d9m.scan]\n\nstrickt = true",
         "pyproject.toml:3: unknown key 'strickt' in [tool.d9m.scan]\n  did you mean strict?"),
        ('[tool.d9m.scam]\na = 1', "pyproject.toml:1: unknown key 'scam'"),
        ('[tool.d9m.scan]\nstrict = "yes"',
         "pyproject.toml:2: strict: expected true or false, found 'yes'"),
        ('[tool.d9m.scan]\nignore = ["unused-ignor"]',
         "pyproject.toml:2: ignore: no rule or family is called 'unused-ignor'"),
        ('[tool.d9m.scan]\nexclude = "x"', "pyproject.toml:2: exclude: expected a list of texts"),
        ('[tool.d9m.scan]\nseverity = {unused-ignore = "fatal"}', "severity: 'fatal' is unknown"),
        ("[tool.d9m.scan\n", "pyproject.toml:1: not TOML"),
        ('[tool.d9m.environment]\ntorch = 2', "pyproject.toml:2: torch: expected a text"),
        ('[tool.d9m.environment]\ntorhc = "2"', "unknown key 'torhc' in [tool.d9m.environment]"),
        ('[tool.d9m.environment]\ndevice = "tpu"', "pyproject.toml:2: device: unknown device"),
        ('[tool.d9m.environment]\nfacts = {xlaa = "true"}', "2: facts: unknown fact 'xlaa'"),
        ('[tool]\nd9m = 3', "[tool.d9m] is not a table"),
    ],
)  # fmt: skip
def test_a_fault_names_file_line_key_and_what_is_allowed(text: str, message: str) -> None:
    with pytest.raises(UsageError) as caught:
        read(text)
    assert message in caught.value.text()


def test_all_faults_are_named_at_once() -> None:
    with pytest.raises(UsageError) as caught:
        read('[tool.d9m.scan]\nstrickt = "x"\nstrict = "y"\n')
    assert "pyproject.toml:2: unknown key" in caught.value.text()
    assert "pyproject.toml:3: strict:" in caught.value.text()


def test_a_file_that_is_no_text(here: Path) -> None:
    (here / "d9m.toml").write_bytes(b"\xff\xfe")
    with pytest.raises(UsageError, match="cannot be read: it is not UTF-8"):
        find_configuration(knowledge_base(), ".")


IDLE = "a = 1  # d9m: ignore[order] it was once\n"


def test_ignored_codes_and_files(here: Path) -> None:
    write(here, {"a.py": IDLE, "tools/b.py": IDLE, "tools/c.py": IDLE})
    assert len(codes(scanned())) == 3
    write(here, {"d9m.toml": '[scan]\nper-file-ignores = {"tools/**" = ["files"]}\n'})
    assert codes(scanned()) == ["a.py:1 unused-ignore"]
    assert codes(scanned("tools")) == []
    write(here, {"d9m.toml": '[scan]\nignore = ["unused-ignore"]\n'})
    assert codes(scanned()) == []
    write(here, {"d9m.toml": '[scan]\nselect = ["order"]\n'})
    assert codes(scanned()) == []
    assert len(codes(scanned(select=("files",)))) == 3


def test_paths_and_excluded_folders(here: Path) -> None:
    write(here, {"a.py": IDLE, "tools/b.py": IDLE, "tools/old/c.py": IDLE})
    write(here, {"d9m.toml": '[scan]\npaths = ["tools"]\nexclude = ["tools/old"]\n'})
    assert codes(scanned()) == ["tools/b.py:1 unused-ignore"]
    assert codes(scanned("a.py")) == ["a.py:1 unused-ignore"]


def test_severities(here: Path) -> None:
    write(here, {"a.py": IDLE, "d9m.toml": '[scan]\nseverity = {unused-ignore = "place"}\n'})
    assert [finding.severity for finding in scanned().report.findings] == ["place"]
    write(here, {"d9m.toml": '[scan]\nseverity = {files = "error"}\n'})
    assert scanned().report.findings[0].severity == "error"
