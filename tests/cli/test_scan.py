"""`d9m scan` as a person or a CI server runs it: options, exit codes, formats."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import jsonschema_rs
import pytest

from d9m.about import SCHEMA_VERSION
from process import d9m

IDLE = "a = 1  # d9m: ignore[order] it was once\n"
SCHEMAS = Path(__file__).parent / "schemas"


@pytest.fixture(autouse=True)
def project(tmp_path: Path) -> Path:
    write(tmp_path, "train.py", IDLE)
    write(tmp_path, "good.py", "a = 1\n")
    return tmp_path


def write(root: Path, name: str, text: str) -> None:
    (root / name).parent.mkdir(parents=True, exist_ok=True)
    (root / name).write_text(text, encoding="utf-8")


def scan(root: Path, *words: str, **variables: str) -> subprocess.CompletedProcess[str]:
    return d9m("scan", "--no-cache", *words, cwd=root, **variables)


EXPECTED = """\
FINDINGS  1 warning in 2 files

train.py
  1  warning  unused-ignore  This comment hides nothing: order finds nothing
                             here.
                             → remove it [--fix]

1 can be fixed: d9m scan --fix · why: d9m scan --explain unused-ignore · kb DATE
"""


def test_what_a_person_sees(project: Path) -> None:
    done = scan(project, "--color", "never")
    date = done.stdout.split()[-1]
    assert done.stdout.replace(f"kb\n{date}", "kb DATE").replace(date, "DATE") == EXPECTED
    assert (done.returncode, done.stderr) == (1, "")


def test_nothing_found(project: Path) -> None:
    done = scan(project, "good.py")
    assert done.stdout.startswith("NOTHING FOUND  2 files\n")
    assert "does not prove that a run repeats" in done.stdout
    assert done.returncode == 0


@pytest.mark.parametrize(
    ("words", "code"),
    [
        ((), 1),
        (("--fail-on", "error"), 0),
        (("--fail-on", "never"), 0),
        (("--fail-on", "hint"), 1),
        (("--ignore", "files"), 0),
        (("--select", "order,seeds"), 0),
        (("--select", "unused-ignore"), 1),
        (("good.py",), 0),
        (("nothing.py",), 2),
        (("--select", "unused-ignor"), 2),
        (("--goal", "best"), 2),
        (("--format", "xml"), 2),
        (("--unsafe",), 2),
        (("--jobs", "0"), 2),
        (("--torch", "2.4.77"), 2),
        (("--changed",), 2),
        (("--explain", "unused"), 2),
        (("--baseline", "none.json"), 5),
        (("--write-baseline",), 2),
        (("--statistics", "--format", "json"), 2),
        (("-o", "nowhere/x.txt"), 2),
    ],
)
def test_exit_codes(project: Path, words: tuple[str, ...], code: int) -> None:
    done = scan(project, *words)
    assert done.returncode == code, done.stderr
    assert "Traceback" not in done.stderr
    assert (done.stdout == "") == (code in (2, 5))


def test_a_named_file_that_is_no_python_is_unknown(project: Path) -> None:
    write(project, "old.py", "print 'x'\n")
    write(project, "train.py", "")
    assert scan(project).returncode == 0
    done = scan(project, "old.py", "--ignore", "files")
    assert done.returncode == 3
    assert "old.py: it is not valid Python 3" in done.stdout
    assert scan(project, "old.py", "--ignore", "files", "--allow-unknown").returncode == 0


def test_faults_of_the_configuration_leave_stdout_empty(project: Path) -> None:
    write(project, "d9m.toml", '[scan]\ngaol = "x"\n')
    done = scan(project)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("d9m: d9m.toml:2: unknown key 'gaol' in [scan]")


def test_fixes_are_shown_or_made(project: Path) -> None:
    done = scan(project, "--diff")
    assert done.returncode == 1
    assert done.stdout.endswith("@@ -1 +1 @@\n-a = 1  # d9m: ignore[order] it was once\n+a = 1\n")
    assert (project / "train.py").read_text() == IDLE
    done = scan(project, "--fix")
    assert (done.returncode, done.stderr) == (0, "fixed 1 in train.py\n")
    assert (project / "train.py").read_text() == "a = 1\n"
    assert scan(project, "--fix").stderr == ""


def test_a_baseline(project: Path) -> None:
    done = scan(project, "--baseline", "known.json", "--write-baseline")
    assert (done.returncode, done.stderr) == (0, "known.json: 1 findings\n")
    assert json.loads((project / "known.json").read_text())["findings"][0]["path"] == "train.py"
    done = scan(project, "--baseline", "known.json")
    assert done.returncode == 0
    assert "1 known from the baseline" in done.stdout
    write(project, "d9m.toml", '[scan]\nbaseline = "known.json"\n')
    assert scan(project).returncode == 0
    write(project, "train.py", "")
    assert "1 entry of the baseline gone" in scan(project).stdout
    assert scan(project, "good.py").returncode == 0
    assert scan(project, "good.py", "--write-baseline").returncode == 2


def test_a_file_beside_stdout(project: Path) -> None:
    done = scan(project, "--format", "json", "-o", "out.json")
    assert (done.returncode, done.stdout) == (1, "")
    assert json.loads((project / "out.json").read_text())["findings"][0]["line"] == 1


def test_files_that_differ_from_a_revision(project: Path) -> None:
    git = ["git", "-c", "user.name=n", "-c", "user.email=e@example.org"]
    for words in (["init", "-q"], ["add", "."], ["commit", "-qm", "first"]):
        subprocess.run([*git, *words], cwd=project, check=True)
    assert scan(project, "--changed").returncode == 0
    write(project, "good.py", f"\n{IDLE}")
    for words in (("--changed",), ("--changed", "HEAD"), ("--changed", "."), ("--changed=HEAD",)):
        done = scan(project, *words, "--format", "json")
        assert [finding["path"] for finding in json.loads(done.stdout)["findings"]] == ["good.py"]


def test_the_json_of_the_contract(project: Path) -> None:
    report = json.loads(scan(project, "--format", "json").stdout)
    assert report["schema_version"] == SCHEMA_VERSION
    assert (report["root"], report["goal"], report["hints"], report["suppressed"]) == (
        ".", "auto", 0, 0,
    )  # fmt: skip
    assert report["files"] == {"read": 2, "unreadable": []}
    finding: dict[str, Any] = report["findings"][0]
    assert {
        "code", "family", "severity", "confidence", "path", "line", "column", "end_line",
        "end_column", "cell", "message", "because", "related", "fix", "fingerprint", "help",
    } <= finding.keys()  # fmt: skip
    assert finding["fix"] == {
        "safe": True,
        "title": "Remove the comment",
        "edits": [{"start": [1, 6], "end": [1, 40], "text": ""}],
    }
    assert finding["help"] == "https://d9m.github.io/d9m/scan/unused-ignore/"


def sarif(root: Path, *words: str) -> dict[str, Any]:
    text = scan(root, "--format", "sarif", *words).stdout
    schema = json.loads((SCHEMAS / "sarif-as-written.json").read_text())
    log = json.loads(text)
    jsonschema_rs.validator_for(schema).validate(log)
    return log["runs"][0]


def test_jobs_that_start_a_program_of_the_project(project: Path) -> None:
    write(project, "run.sh", "python train.py\n")
    write(project, "setup.sh", "python -m venv .venv\npython other.py\n")
    write(project, "pkg/__main__.py", "")
    write(project, "Makefile", "all:\n\tpython -m pkg\n")
    write(project, ".github/workflows/ci.yml", "run: python train.py\n")
    report = json.loads(scan(project, "--format", "json").stdout)
    assert report["jobs"] == ["Makefile", "run.sh"]
    assert "jobs: Makefile, run.sh" in scan(project).stdout


def test_sarif(project: Path) -> None:
    run = sarif(project)
    result = run["results"][0]
    rule = run["tool"]["driver"]["rules"][result["ruleIndex"]]
    assert rule["id"] == result["ruleId"] == "unused-ignore"
    assert rule["properties"] == {"tags": ["determinism", "files"], "precision": "high"}
    assert "```python" in rule["help"]["markdown"]
    place = result["locations"][0]["physicalLocation"]
    assert place["artifactLocation"] == {"uri": "train.py", "uriBaseId": "%SRCROOT%"}
    assert place["region"] == {"startLine": 1, "startColumn": 8, "endLine": 1, "endColumn": 40}
    replaced = result["fixes"][0]["artifactChanges"][0]["replacements"][0]
    assert replaced["insertedContent"] == {"text": ""}


def test_sarif_of_notebooks_odd_names_and_what_is_hidden(project: Path) -> None:
    cell = {"cell_type": "code", "source": IDLE}
    write(project, "a b.ipynb", json.dumps({"cells": [{"cell_type": "markdown"}, cell]}))
    write(project, "old.py", "print 'x'\n")
    scan(project, "--baseline", "known.json", "--write-baseline")
    results = sarif(project, "--baseline", "known.json")["results"]
    assert {one["suppressions"][0]["kind"] for one in results} == {"external"}
    notebook = next(one for one in results if "logicalLocations" in one["locations"][0])
    location = notebook["locations"][0]
    assert location["physicalLocation"]["artifactLocation"]["uri"] == "a%20b.ipynb"
    assert location["logicalLocations"] == [{"name": "cell 2", "kind": "module"}]


def test_the_schema_refuses_what_sarif_does(project: Path) -> None:
    schema = json.loads((SCHEMAS / "sarif-as-written.json").read_text())
    validator = jsonschema_rs.validator_for(schema)
    log = json.loads(scan(project, "--format", "sarif").stdout)
    log["runs"][0]["results"][0]["level"] = "hint"
    assert not validator.is_valid(log)


def test_annotations_of_github(project: Path, tmp_path: Path) -> None:
    write(project, "odd,100%.py", IDLE)
    write(project, "many.py", IDLE * 20)
    done = scan(project, "--format", "github", GITHUB_STEP_SUMMARY=str(tmp_path / "summary.md"))
    lines = done.stdout.splitlines()
    assert len(lines) == 11
    assert lines[0] == (
        "::warning file=many.py,title=unused-ignore,line=1,endLine=1,col=8::"
        "This comment hides nothing: order finds nothing here.%0A-> remove it"
    )
    assert lines[-1] == "FINDINGS  22 warnings in 4 files"
    assert "### odd,100%.py" in (tmp_path / "summary.md").read_text()
    write(project, "many.py", "")
    odd = scan(project, "--format", "github").stdout.splitlines()[0]
    assert odd.startswith("::warning file=odd%2C100%25.py,title=")


def test_junit(project: Path) -> None:
    suite = ElementTree.fromstring(scan(project, "--format", "junit").stdout)
    assert (suite.get("tests"), suite.get("failures")) == ("1", "1")
    case = suite.find("testcase")
    assert case is not None
    assert (case.get("file"), case.get("line")) == ("train.py", "1")
    assert case.find("failure") is not None
    passed = ElementTree.fromstring(scan(project, "good.py", "--format", "junit").stdout)
    assert (passed.get("tests"), passed.get("failures")) == ("1", "0")


def test_markdown(project: Path) -> None:
    write(project, "a_b.py", IDLE)
    text = scan(project, "--format", "markdown").stdout
    assert "### a\\_b.py" in text
    assert (
        "| 1 | warning | [unused-ignore](https://d9m.github.io/d9m/scan/unused-ignore/) |" in text
    )


def test_statistics(project: Path) -> None:
    write(project, "requirements.txt", "torch==2.3.0\n")
    write(project, "uv.lock", '[[package]]\nname = "torch"\nversion = "2.4.1"\n')
    text = scan(project, "--statistics").stdout
    assert "1         warning   unused-ignore" in text
    assert "torch: 2.4.1 (uv.lock:2), not 2.3.0 (requirements.txt:1)" in text


def test_rules_are_explained_and_listed() -> None:
    done = d9m("scan", "--explain", "unused-ignore")
    assert done.returncode == 0
    assert done.stdout.startswith("unused-ignore: An ignore comment that hides nothing\n")
    assert "Good (train.py)\n  seed = 0\n" in done.stdout
    rows = json.loads(d9m("list", "rules", "--format", "json").stdout)["rows"]
    assert "unused-ignore" in [row["id"] for row in rows]
    assert "rules" in d9m("list").stdout
    assert d9m("list", "rules", "--package", "torch").returncode == 2
    assert "did you mean" in d9m("list", "rule").stderr


def test_nothing_is_written_that_nobody_asked_for(project: Path) -> None:
    before = sorted(project.rglob("*"))
    scan(project)
    assert sorted(project.rglob("*")) == before
    d9m("scan", cwd=project)
    assert (project / ".d9m_cache" / "files").exists()


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("environment.yml", "dependencies:\n  - pytorch=0.2.0\n"),
        ("requirements.txt", "torch==0.2.0\n"),
    ],
)
def test_a_release_older_than_the_records_is_unknown(project: Path, file: str, text: str) -> None:
    """And not the newest one, which has settings that it lacks."""
    write(project, "train.py", "import torch\n\ntorch.use_deterministic_algorithms(True)\n")
    write(project, file, text)
    done = scan(project)
    assert done.returncode == 3
    assert "torch 0.2.0 is older than the records: what holds there is not known." in done.stdout
    assert scan(project, "--allow-unknown").returncode == 0


def test_a_release_beyond_the_records_is_unknown(project: Path) -> None:
    write(project, "train.py", "import torch\n\ntorch.manual_seed(0)\n")
    write(project, "requirements.txt", "torch==99.1\n")
    done = scan(project)
    assert done.returncode == 3
    assert "torch 99.1 is newer than the records" in done.stdout
    assert scan(project, "--allow-unknown").returncode == 0
    done = scan(project, "--torch", "2.4.1")
    assert (done.returncode, done.stdout.split("\n")[1]) == (0, "torch 2.4.1 (command line) · cuda")
