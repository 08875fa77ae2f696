"""`d9m scan` as a person or a CI server runs it: options, exit codes, formats."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import jsonschema_rs
import pytest

from d9m.about import SCHEMA_VERSION
from golden import knowledge_base
from process import d9m

IDLE = "a = 1  # d9m: ignore[order] it was once\n"
SCHEMAS = Path(__file__).parent / "schemas"


@pytest.fixture(autouse=True)
def project(tmp_path: Path) -> Path:
    write(tmp_path, "train.py", IDLE)
    write(tmp_path, "good.py", "import random\n\nrandom.seed(1)\n")
    return tmp_path


def write(root: Path, name: str, text: str) -> None:
    (root / name).parent.mkdir(parents=True, exist_ok=True)
    (root / name).write_text(text, encoding="utf-8")


def _git(root: Path, *words: str) -> None:
    git = ["git", "-c", "user.name=n", "-c", "user.email=e@example.org"]
    subprocess.run([*git, *words], cwd=root, check=True)


def scan(root: Path, *words: str, **variables: str) -> subprocess.CompletedProcess[str]:
    return d9m("scan", "--no-cache", *words, cwd=root, **variables)


EXPECTED = """\
No card: no program here uses a package that d9m knows.

1 error
  train.py:1  This comment hides nothing: order finds nothing here.
              [unused-ignore]
              → remove it [--fix]

d9m scan --fix · d9m scan --explain unused-ignore · kb DATE
"""


def test_what_a_person_sees(project: Path) -> None:
    done = scan(project, "--color", "never")
    date = done.stdout.split()[-1]
    assert done.stdout.replace(f"kb\n{date}", "kb DATE").replace(date, "DATE") == EXPECTED
    assert (done.returncode, done.stderr) == (1, "")


def test_nothing_found(project: Path) -> None:
    done = scan(project, "good.py")
    assert "0 errors" in done.stdout
    assert done.returncode == 0


PROGRAM = "import torch\n\ntorch.manual_seed(1)\ntorch.nn.Linear(1, 1)(torch.ones(1)).backward()\n"
LISTING = "import os\nimport random\n\nrandom.seed(1)\n"
SHUFFLE = "files = os.listdir('a')\nrandom.shuffle(files)\n"


def test_a_missing_line_fails_only_a_strict_scan(project: Path) -> None:
    write(project, "train.py", PROGRAM)
    assert "  ✗ flag " in scan(project).stdout
    assert scan(project).returncode == 0
    for words in (("--strict",), ("--fail-on", "missing"), ("--goal", "repeatable")):
        assert scan(project, *words).returncode == 1
    missing = ("--ignore", "card-flag,card-hash-seed")
    assert scan(project, "--strict", *missing).returncode == 0
    write(project, "d9m.toml", "[scan]\nstrict = true\n")
    assert scan(project).returncode == 1


def test_places_never_decide_the_exit_code_and_are_listed_on_request(project: Path) -> None:
    write(project, "train.py", LISTING + SHUFFLE * 5)
    done = scan(project)
    assert done.returncode == 0
    assert "5 places where order or chance enters (no verdict; d9m scan --places" in done.stdout
    assert done.stdout.count("[unsorted-listing]") == 3
    for option in ("--places", "--hints"):
        done = scan(project, option, "--strict")
        assert (done.returncode, done.stdout.count("[unsorted-listing]")) == (0, 5)
    for format_ in ("sarif", "github", "junit", "markdown"):
        assert "unsorted-listing " not in scan(project, "--format", format_).stdout
        assert "listing" in scan(project, "--format", format_, "--places").stdout
    findings = json.loads(scan(project, "--format", "json").stdout)["findings"]
    assert [finding["severity"] for finding in findings] == ["place"] * 5
    assert scan(project, "--diff").stdout == ""
    assert "sorted(" in scan(project, "--diff", "--places", "--unsafe").stdout


def test_every_format_has_the_missing_lines_of_a_card(project: Path) -> None:
    write(project, "train.py", PROGRAM)
    words = "train.py: flag: torch.use_deterministic_algorithms(True) is set nowhere."
    found = [one for one in sarif(project)["results"] if one["ruleId"] == "card-flag"]
    assert [(one["level"], one["message"]["text"]) for one in found] == [("warning", words)]
    github = scan(project, "--format", "github").stdout
    assert f"::warning file=train.py,title=card-flag,line=1::{words}\n" in github
    suite = ElementTree.fromstring(scan(project, "--format", "junit", "--strict").stdout)
    names = [
        case.get("name") for case in suite.iter("testcase") if case.find("failure") is not None
    ]
    assert names == ["card-flag train.py", "card-hash-seed train.py"]
    assert "| ✗ | flag | torch.use" in scan(project, "--format", "markdown").stdout
    program = json.loads(scan(project, "--format", "json").stdout)["programs"][0]
    assert {
        "path",
        "files",
        "packages",
        "device",
        "launcher",
        "ranks",
        "jobs",
        "checks",
    } <= program.keys()
    assert [(one["code"], one["status"]) for one in program["checks"]] == [
        ("card-seeds", "ok"), ("card-flag", "missing"), ("card-cudnn", "ok"),
        ("card-hash-seed", "missing"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("words", "code"),
    [
        ((), 1),
        (("--fail-on", "error"), 1),
        (("--fail-on", "never"), 0),
        (("--fail-on", "missing"), 1),
        (("--ignore", "files"), 0),
        (("--select", "order,seeds"), 0),
        (("--select", "unused-ignore"), 1),
        (("good.py",), 0),
        (("nothing.py",), 2),
        (("--select", "unused-ignor"), 2),
        (("--fail-on", "best"), 2),
        (("--format", "xml"), 2),
        (("--unsafe",), 2),
        (("--jobs", "0"), 2),
        (("--torch", "2.4.77"), 2),
        (("--changed",), 2),
        (("--explain", "unused"), 2),
        (("--baseline", "none.json"), 5),
        (("--write-baseline",), 2),
        (("--statistics", "--format", "json"), 2),
        (("--diff", "--format", "json"), 2),
        (("--select", "seeds", "--ignore", "seeds"), 2),
        (("--select", "unused-ignore", "--ignore", "files"), 2),
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
    write(project, "train.py", "import random\n\nrandom.seed(1)\n")
    done = scan(project)
    assert done.returncode == 0
    assert "1 file that no program here needs could not be read:\n  old.py: it is" in done.stdout
    done = scan(project, "old.py", "--ignore", "files")
    assert done.returncode == 3
    assert done.stdout.startswith("INCOMPLETE  1 file could not be read, 0 read\n")
    assert "old.py: it is not valid Python 3" in done.stdout
    assert scan(project, "old.py", "--ignore", "files", "--allow-unknown").returncode == 0
    (project / "good.py").unlink()
    (project / "train.py").unlink()
    assert scan(project).returncode == 3
    assert scan(project, "--allow-unknown").returncode == 0


def test_findings_win_over_files_that_cannot_be_read(project: Path) -> None:
    write(project, "old.py", "print 'x'\n")
    assert scan(project, "old.py", "train.py").returncode == 1
    assert scan(project, "old.py", "train.py", "--fail-on", "never").returncode == 3


def _not_a_file(path: Path) -> None:
    os.mkfifo(path)


UNREADABLE: dict[str, bytes | Callable[[Path], None]] = {
    "syntax.py": b"def f(:\n",
    "python2.py": b"print 'x'\n",
    "nul.py": b"x = 1\0\n",
    "latin.py": b"x = '\xe9'\n",
    "utf16.py": "x = 1\n".encode("utf-16"),
    "coding.py": b"# coding: unheard-of\nx = 1\n",
    "codec.py": b"# coding: rot13\nk = 1\n",
    "dangling.py": lambda path: path.symlink_to("nowhere.py"),
    "fifo.py": _not_a_file,
    "broken.ipynb": b"{",
    "json.ipynb": b"[1, 2]",
    "brackets.py": b"x = " + b"(" * 5000 + b")" * 5000 + b"\n",
    "minus.py": b"x = " + b"-" * 100_000 + b"1\n",
    "newer.py": b"type X = int\n" if sys.version_info < (3, 12) else b"match? x = 1\n",
    "template.py": b"import {{ module }}\n",
}
FORMATS = ("text", "json", "sarif", "github", "markdown", "junit")


@pytest.mark.parametrize("name", UNREADABLE)
def test_a_file_that_cannot_be_read_never_counts_as_clean(tmp_path: Path, name: str) -> None:
    root = tmp_path / "alone"
    root.mkdir()
    made = UNREADABLE[name]
    made(root / name) if callable(made) else (root / name).write_bytes(made)
    done = scan(root, "--strict")
    assert done.returncode == 3
    assert done.stdout.startswith("INCOMPLETE  ")
    assert name in done.stdout


def test_every_format_shows_what_was_not_read(tmp_path: Path) -> None:
    root = tmp_path / "alone"
    write(root, "old.py", "print 'x'\n")
    found = {format_: scan(root, "--format", format_) for format_ in FORMATS}
    assert {done.returncode for done in found.values()} == {3}
    why = "it is not valid Python 3: Missing parentheses in call to 'print' (line 1)"
    assert f"old.py: {why}" in found["text"].stdout.replace("\n    ", " ")
    assert json.loads(found["json"].stdout)["files"] == {
        "read": 0, "unreadable": [{"path": "old.py", "why": why, "needed": True}],
    }  # fmt: skip
    assert found["github"].stdout.startswith("::error file=old.py,title=unreadable::This file was")
    assert "- old.py: it is not valid Python 3" in found["markdown"].stdout
    suite = ElementTree.fromstring(found["junit"].stdout)
    assert (suite.get("errors"), suite.get("failures")) == ("1", "0")
    assert suite.find("testcase/error") is not None
    invocation = sarif(root)["invocations"][0]
    notification = invocation["toolExecutionNotifications"][0]
    assert notification["level"] == "error"
    assert notification["message"]["text"] == f"old.py was not read: {why}"
    place = notification["locations"][0]["physicalLocation"]["artifactLocation"]
    assert place["uri"] == "old.py"


def test_every_format_shows_files_that_no_program_needs(project: Path) -> None:
    write(project, "old.py", "print 'x'\n")
    github = scan(project, "good.py", "old.py", "--format", "github").stdout
    assert github.startswith("::error file=old.py")
    write(project, "train.py", "import random\n\nrandom.seed(1)\n")
    found = {format_: scan(project, "--format", format_) for format_ in FORMATS}
    assert {done.returncode for done in found.values()} == {0}
    assert found["github"].stdout.startswith("::notice file=old.py,title=unreadable::")
    suite = ElementTree.fromstring(found["junit"].stdout)
    assert (suite.get("errors"), suite.get("skipped")) == ("0", "1")
    notification = sarif(project)["invocations"][0]["toolExecutionNotifications"][0]
    assert notification["level"] == "note"
    assert all("old.py" in done.stdout for done in found.values())


NOTHING = {
    "an empty folder": ({}, "no Python file, notebook or job file"),
    "tests alone": ({"tests/test_a.py": "x = 1\n"}, "tests (--tests scans them)"),
    "excluded": (
        {"d9m.toml": '[scan]\nexclude = ["*"]\n', "a.py": "x = 1\n"}, "what exclude names",
    ),
    "in build": ({"build/a.py": "x = 1\n"}, "build/"),
    "in an environment": ({"env/pyvenv.cfg": "", "env/a.py": "x = 1\n"}, "env/"),
    "hidden": ({".hidden/a.py": "x = 1\n"}, ".hidden/"),
    "no ending": ({"train": "import torch\n"}, "files of other kinds"),
    "versions alone": ({"requirements.txt": "torch==2.4.1\n"}, "no Python file"),
}  # fmt: skip
UNKNOWN = {
    "a helper": {"w.py": "def add(x):\n    return x + 1\n"},
    "an empty file": {"w.py": ""},
    "a package without records": {"w.py": "import flask\n\napp = flask.Flask(__name__)\n"},
    "a job that starts nothing known": {"run.sh": "export A=1\npython server.py\n"},
}


@pytest.mark.parametrize("name", UNKNOWN)
def test_a_project_that_uses_nothing_on_record_is_no_answer(tmp_path: Path, name: str) -> None:
    root = tmp_path / "alone"
    root.mkdir()
    for path, text in UNKNOWN[name].items():
        write(root, path, text)
    for words in ((), tuple(UNKNOWN[name])):
        done = scan(root, *words)
        assert (done.returncode, done.stdout[:21]) == (4, "nothing to judge here")
    write(root, "train.py", PROGRAM)
    done = scan(root, *UNKNOWN[name])
    assert done.returncode == 0
    assert done.stdout.startswith("No card: ")


@pytest.mark.parametrize("name", NOTHING)
def test_nothing_to_scan_is_no_answer(tmp_path: Path, name: str) -> None:
    root = tmp_path / "alone"
    root.mkdir()
    files, why = NOTHING[name]
    for path, text in files.items():
        write(root, path, text)
    done = scan(root, "--allow-unknown")
    assert done.returncode == 4
    assert done.stdout.startswith("nothing to scan here: ")
    assert why in done.stdout.replace("\n", " ")


def test_nothing_is_written_where_there_was_nothing_to_scan(tmp_path: Path) -> None:
    root = tmp_path / "alone"
    root.mkdir()
    assert scan(root, "--fix").returncode == 4
    done = scan(root, "--diff")
    assert (done.returncode, done.stdout) == (4, "")
    assert done.stderr.startswith("nothing to scan here: ")
    done = scan(root, "--baseline", "known.json", "--write-baseline")
    assert (done.returncode, (root / "known.json").exists()) == (4, False)


def test_every_format_says_that_there_was_nothing_to_scan(tmp_path: Path) -> None:
    root = tmp_path / "alone"
    root.mkdir()
    found = {format_: scan(root, "--format", format_) for format_ in FORMATS}
    assert {done.returncode for done in found.values()} == {4}
    assert all("nothing to scan here" in done.stdout for done in found.values())
    assert found["github"].stdout.startswith("::error ::nothing to scan here")
    assert ElementTree.fromstring(found["junit"].stdout).get("errors") == "1"
    assert sarif(root)["invocations"][0]["executionSuccessful"] is False
    report = json.loads(found["json"].stdout)
    assert report["did_nothing"]
    assert report["nothing"].startswith("nothing to scan here: ")


def test_what_git_ignores_is_named_where_nothing_is_left(project: Path) -> None:
    write(project, ".gitignore", "*.py\n")
    _git(project, "init", "-q")
    done = scan(project)
    assert done.returncode == 4
    assert "what git ignores" in done.stdout.replace("\n", " ")


ODD_NAMES = {
    "a\nb.py": ("a\\nb.py", "a%0Ab.py"),
    "\udcff.py": ("\\xff.py", "%5Cxff.py"),
    "e\x1b[31m.py": ("e\\x1b[31m.py", "e%1B%5B31m.py"),
    "r\r.py": ("r\\r.py", "r%0D.py"),
    "turn\u202e.py": ("turn\\u202e.py", "turn%E2%80%AE.py"),
    "d\udc80/e.py": ("d\\x80/e.py", "d%5Cx80/e.py"),
}


@pytest.fixture
def odd(tmp_path: Path) -> Path:
    root = tmp_path / "odd"
    for name in ODD_NAMES:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(IDLE)
    return root


@pytest.mark.parametrize("format_", FORMATS)
def test_every_format_spells_odd_names_safely(odd: Path, format_: str) -> None:
    done = scan(odd, "--format", format_)
    assert (done.returncode, done.stderr) == (1, "")
    assert done.stdout.replace("\n", "").isprintable()
    shown = done.stdout
    if format_ == "markdown":
        shown = re.sub(r"\\([\\\[\]_])", r"\1", shown)
    if format_ == "json":
        paths = {finding["path"] for finding in json.loads(shown)["findings"]}
        assert paths == {
            spelled if re.search("[\udc80-\udcff]", name) else name
            for name, (spelled, _uri) in ODD_NAMES.items()
        }
    elif format_ == "junit":
        files = {case.get("file") for case in ElementTree.fromstring(shown).iter("testcase")}
        assert files == {spelled for spelled, _uri in ODD_NAMES.values()}
    else:
        for spelled, uri in ODD_NAMES.values():
            assert (uri if format_ == "sarif" else spelled) in shown


@pytest.mark.parametrize("how", ["named", "listed by git"])
def test_files_with_odd_names_are_read(odd: Path, how: str) -> None:
    if how == "listed by git":
        _git(odd, "init", "-q")
        _git(odd, "add", ".")
    words = tuple(ODD_NAMES) if how == "named" else ()
    assert len(json.loads(scan(odd, *words, "--format", "json").stdout)["findings"]) == 6
    assert scan(odd, *words, "--fix").returncode == 0
    assert {(odd / name).read_text() for name in ODD_NAMES} == {"a = 1\n"}


def test_the_cache_takes_odd_names(tmp_path: Path) -> None:
    root = tmp_path / "odd\udcff"
    root.mkdir()
    (root / "a\udcfe\n.py").write_text(IDLE)
    for _time in range(2):
        done = d9m("scan", "--format", "json", cwd=root)
        assert (done.returncode, done.stderr) == (1, "")


def test_a_name_that_is_spelled_as_another_is_not_skipped(tmp_path: Path) -> None:
    root = tmp_path / "odd"
    root.mkdir()
    (root / "\udcff.py").write_text(IDLE)
    (root / "\\xff.py").write_text("a = 1\n")
    report = json.loads(scan(root, "--format", "json").stdout)
    why = "another file has the name by which this one is shown"
    assert report["files"]["unreadable"] == [{"path": "\\xff.py", "why": why, "needed": True}]


@pytest.mark.parametrize(
    ("fail_on", "code"), [("error", 1), ("never", 3)], ids=["finding", "no finding"]
)
def test_a_fix_that_is_not_made_is_no_success(project: Path, fail_on: str, code: int) -> None:
    (project / "train.py").chmod(0o444)
    write(project, "other.py", IDLE)
    done = scan(project, "--fix", "--fail-on", fail_on)
    assert done.returncode == code
    assert done.stderr == "fixed 1 in other.py\nnot fixed: train.py: it is read-only\n"
    assert (project / "train.py").read_text() == IDLE
    assert (project / "other.py").read_text() == "a = 1\n"


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
    for words in (("good.py",), ("--ignore", "files"), ("sub",)):
        write(project, "sub/c.py", "")
        assert "gone" not in scan(project, *words).stdout
    (project / "train.py").unlink()
    assert "1 entry of the baseline gone" in scan(project).stdout
    write(project, "train.py", "def (")
    assert "gone" not in scan(project).stdout
    assert scan(project, "good.py").returncode == 0
    assert scan(project, "good.py", "--write-baseline").returncode == 2


def test_a_baseline_does_not_hold_an_unread_file_that_is_needed(project: Path) -> None:
    write(project, "old.py", "import torch\ndef (")
    words = ("--baseline", "known.json")
    done = scan(project, *words, "--write-baseline")
    assert (done.returncode, "not read: old.py" in done.stderr) == (3, True)
    assert "old.py" not in (project / "known.json").read_text()
    assert scan(project, *words).returncode == 3


def test_a_file_beside_stdout(project: Path) -> None:
    done = scan(project, "--format", "json", "-o", "out.json")
    assert (done.returncode, done.stdout) == (1, "")
    assert json.loads((project / "out.json").read_text())["findings"][0]["line"] == 1


def test_files_that_differ_from_a_revision(project: Path) -> None:
    for words in (["init", "-q"], ["add", "."], ["commit", "-qm", "first"]):
        _git(project, *words)
    done = scan(project, "--changed")
    assert done.returncode == 0
    assert done.stdout.startswith("no changed files: nothing that d9m scan reads differs from HEAD")
    junit = ElementTree.fromstring(scan(project, "--changed", "--format", "junit").stdout)
    assert (junit.get("tests"), junit.get("errors")) == ("1", "0")
    (project / "good.py").unlink()
    write(project, "notes.txt", "text")
    assert scan(project, "--changed").returncode == 0
    write(project, "old.py", "print 'x'\n")
    assert scan(project, "--changed").returncode == 3
    write(project, "new.py", "print(1)\n")
    assert scan(project, "--changed").returncode == 3
    (project / "new.py").unlink()
    (project / "old.py").unlink()
    write(project, "good.py", f"\n{IDLE}")
    for words in (("--changed",), ("--changed", "HEAD"), ("--changed", "."), ("--changed=HEAD",)):
        done = scan(project, *words, "--format", "json")
        assert [finding["path"] for finding in json.loads(done.stdout)["findings"]] == ["good.py"]


def test_the_json_of_the_contract(project: Path) -> None:
    report = json.loads(scan(project, "--format", "json").stdout)
    assert report["schema_version"] == SCHEMA_VERSION
    assert (report["root"], report["strict"], report["suppressed"]) == (".", False, 0)
    assert report["files"] == {"read": 2, "unreadable": []}
    assert (report["nothing"], report["did_nothing"]) == ("", False)
    finding: dict[str, Any] = report["findings"][0]
    assert {
        "code", "family", "severity", "path", "line", "column", "end_line",
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
        "::error file=many.py,title=unused-ignore,line=1,endLine=1,col=8::"
        "This comment hides nothing: order finds nothing here.%0A-> remove it"
    )
    assert lines[-1] == "22 errors, 0 missing, 0 places · 0 programs in 4 files"
    assert "### odd,100%.py" in (tmp_path / "summary.md").read_text()
    write(project, "many.py", "")
    odd = scan(project, "--format", "github").stdout.splitlines()[0]
    assert odd.startswith("::error file=odd%2C100%25.py,title=")


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
    assert "| 1 | error | [unused-ignore](https://d9m.github.io/d9m/scan/unused-ignore/) |" in text


def test_statistics(project: Path) -> None:
    write(project, "requirements.txt", "torch==2.3.0\n")
    write(project, "uv.lock", '[[package]]\nname = "torch"\nversion = "2.4.1"\n')
    text = scan(project, "--statistics").stdout
    assert "1         error     unused-ignore" in text
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


def test_nothing_is_written_without_an_option(project: Path) -> None:
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
    assert "torch 0.2.0 is older than the records: not verified for this release." in done.stdout
    assert scan(project, "--allow-unknown").returncode == 0


def test_a_release_beyond_the_records_is_unknown(project: Path) -> None:
    write(project, "train.py", "import torch\n\ntorch.manual_seed(0)\n")
    write(project, "requirements.txt", "torch==99.1\n")
    done = scan(project)
    assert done.returncode == 3
    assert "torch 99.1 is newer than the records" in done.stdout
    assert done.stdout.startswith("INCOMPLETE  1 release unknown, 3 read\n")
    assert scan(project, "--allow-unknown").returncode == 0
    done = scan(project, "--torch", "2.4.1")
    assert done.returncode == 0
    assert done.stdout.startswith("train.py  ·  PyTorch 2.4.1 (command line)  ·  CUDA (assumed)\n")


NEWEST = f"PyTorch {knowledge_base().releases('torch')[-1]}"
IMAGES = {
    "pytorch/pytorch": f"{NEWEST} (assumed: Dockerfile:1 names no release)",
    "pytorch/pytorch:latest": f"{NEWEST} (assumed: Dockerfile:1 names no release)",
    "pytorch/pytorch:2.4.1-cuda12.1-cudnn9-runtime@sha256:0a": "PyTorch 2.4.1 (Dockerfile:1)",
    "rocm/pytorch:latest": "Dockerfile:1 states rocm/pytorch:latest, which no record has.",
    "nvcr.io/nvidia/pytorch": "Dockerfile:1 states nvcr.io/nvidia/pytorch, which no record has.",
    "huggingface/transformers-pytorch-gpu:4.41.2": "-gpu:4.41.2, which no record has.",
    "ubuntu:22.04": f"{NEWEST} (assumed: no file names one)",
}


@pytest.mark.parametrize("image", IMAGES)
def test_a_release_that_an_image_does_not_name_is_no_fact(project: Path, image: str) -> None:
    write(project, "train.py", "import torch\n\ntorch.manual_seed(0)\n")
    write(project, "Dockerfile", f"FROM {image}\n")
    done = scan(project)
    assert IMAGES[image] in " ".join(done.stdout.split()).replace("  ", " ")
    assert done.returncode == (3 if "no record" in IMAGES[image] else 0)
    write(project, "requirements.txt", "torch==2.3.1\n")
    assert "PyTorch 2.4.1" in IMAGES[image] or "PyTorch 2.3.1" in scan(project).stdout


def test_a_moving_tag_that_is_typed_is_no_fact(project: Path) -> None:
    write(project, "train.py", "import torch\n\ntorch.manual_seed(0)\n")
    done = scan(project, "--container", "pytorch/pytorch:latest")
    assert f"{NEWEST} (assumed: command line names no release)" in done.stdout


@pytest.mark.parametrize(
    ("file", "text", "stated"),
    [
        ("requirements.txt", "torch==2.4.99\n", "torch 2.4.99"),
        ("requirements.txt", "torch>=2.4.98,<2.4.99\n", "torch >=2.4.98,<2.4.99"),
        ("Dockerfile", "FROM pytorch/pytorch:2.4.99\n", "pytorch/pytorch:2.4.99"),
        (
            "Dockerfile",
            "FROM nvcr.io/nvidia/pytorch:24.77-py3\n",
            "nvcr.io/nvidia/pytorch:24.77-py3",
        ),
    ],
)
def test_a_release_that_does_not_exist_is_unknown(
    project: Path, file: str, text: str, stated: str
) -> None:
    write(project, "train.py", "import torch\n\ntorch.manual_seed(0)\n")
    write(project, file, text)
    done = scan(project)
    assert done.returncode == 3
    assert done.stdout.startswith("INCOMPLETE  1 release unknown, ")
    sentence = f"{file}:1 states {stated}, which no record has."
    assert sentence in done.stdout.replace("\n", " ")
    for format_ in FORMATS[2:]:
        done = scan(project, "--format", format_)
        assert done.returncode == 3
        assert "which no record has" in done.stdout
    junit = ElementTree.fromstring(scan(project, "--format", "junit").stdout)
    assert junit.get("errors") == "1"
    assert scan(project, "--torch", "2.4.1").returncode == 0
    write(project, "uv.lock", '[[package]]\nname = "torch"\nversion = "2.4.1"\n')
    assert scan(project).returncode == 0
