"""`mkdocs serve --dirty`: a changed record is shown without making every page again."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

from site_build import ROOT, need_mkdocs, variables

SMALL = ROOT / "tests" / "render" / "kb"
RECORD = "sources/frame/add.yaml"

TWICE = f"""
import json, sys
from pathlib import Path
from mkdocs.commands.build import build
from mkdocs.config import load_config

record, out = Path(sys.argv[1]), Path(sys.argv[2])
def built():
    build(load_config(str(Path({str(ROOT)!r}) / "mkdocs.yml"), site_dir=str(out)), dirty=True)
    files = [path for path in out.rglob("*") if path.is_file()]
    return {{path.relative_to(out).as_posix(): path.stat().st_mtime_ns for path in files}}

first = built()
record.write_text(record.read_text().replace("title: ", "title: Changed ", 1))
second = built()
print(json.dumps([path for path in second if first.get(path) != second[path]]))
"""
"""As MkDocs does while it serves: one process, a build after each change."""


def test_what_a_changed_record_does_not_concern_stays_as_it_was(tmp_path: Path) -> None:
    need_mkdocs()
    records, out = tmp_path / "kb", tmp_path / "site"
    shutil.copytree(SMALL, records)
    command = [sys.executable, "-c", TWICE, str(records / RECORD), str(out)]
    done = subprocess.run(
        command,
        cwd=ROOT,
        env=variables(records),
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )
    assert done.returncode == 0, done.stderr
    changed = json.loads(done.stdout.splitlines()[-1])
    page = RECORD.removesuffix(".yaml")
    assert {f"{page}/index.html", f"{page}.md", "sources/index.html"} <= {*changed}
    assert [path for path in changed if path.startswith(("settings/", "reference/", "lint/"))] == []
    assert "Changed " in (out / page / "index.html").read_text(encoding="utf-8")
