"""The site is built with d9m installed from a wheel, from the records of the checkout, as README
says.
"""

from __future__ import annotations

import shutil
import subprocess
from importlib.util import find_spec
from pathlib import Path

import archives
from installations import ROOT, installed

from conftest import needs

README_SAYS = "pip install '.[site]' && mkdocs build"

SMALL = ROOT / "tests" / "render" / "kb"


def test_the_site_is_built_from_the_records_around_it_however_d9m_is_installed(
    tmp_path: Path,
) -> None:
    needs(
        find_spec("material"),
        "MkDocs with its Material theme",
        "pip install 'd9m[site]' (Python 3.11 or newer)",
    )
    assert README_SAYS in " ".join((ROOT / "README.md").read_text(encoding="utf-8").split())
    checkout = tmp_path / "checkout"
    leave = shutil.ignore_patterns("__pycache__", "_kb")
    shutil.copytree(ROOT / "site", checkout / "site", ignore=leave)
    shutil.copytree(SMALL, checkout / "kb")
    shutil.copytree(ROOT / "schema", checkout / "schema")
    shutil.copytree(ROOT / "resolver", checkout / "resolver", ignore=leave)
    for name in ("mkdocs.yml", "README.md", "CONTRIBUTING.md"):
        shutil.copy(ROOT / name, checkout)
    python = (
        installed(archives.wheel(), tmp_path / "environment", "site").environment / "bin" / "python"
    )
    done = subprocess.run(
        [str(python), "-m", "mkdocs", "build", "--strict"],
        cwd=checkout,
        env={"NO_MKDOCS_2_WARNING": "1", "LANG": "C.UTF-8"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert (checkout / "build" / "site" / "sources" / "frame" / "add" / "index.html").is_file()
