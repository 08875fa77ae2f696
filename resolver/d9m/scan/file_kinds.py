"""Tell the kind of a file by its name, or by the first line of a script."""

from __future__ import annotations

import re
from typing import Literal, TypeAlias

Kind: TypeAlias = Literal[
    "python",
    "notebook",
    "shell",
    "dockerfile",
    "yaml",
    "env",
    "makefile",
    "launch",
    "packages",
]
"""``packages`` states versions and holds nothing else; a Dockerfile, YAML, scripts and notebooks
can do so, too.
"""

_PACKAGE_FILES = re.compile(
    r"requirements.*\.(txt|in)|.*requirements\.(txt|in)|uv\.lock|poetry\.lock|pdm\.lock|Pipfile"
    r"|Pipfile\.lock|pylock(\..+)?\.toml|pyproject\.toml|setup\.cfg"
    r"|conda-lock\.ya?ml|environment.*\.ya?ml|.*conda.*\.ya?ml"
)

_NAMES: tuple[tuple[Kind, re.Pattern[str]], ...] = (
    ("packages", _PACKAGE_FILES),
    ("python", re.compile(r".+\.pyw?")),
    ("notebook", re.compile(r".+\.ipynb")),
    ("shell", re.compile(r".+\.(sh|bash|zsh|ksh|csh|slurm|sbatch|sub|pbs|lsf|qsub)")),
    ("dockerfile", re.compile(r"(Dockerfile|Containerfile)([._-].+)?|.+\.[Dd]ockerfile")),
    ("yaml", re.compile(r".+\.ya?ml")),
    ("env", re.compile(r"\.env(\..+)?|.+\.env|\.envrc")),
    ("makefile", re.compile(r"(GNU)?[Mm]akefile|.+\.mk")),
    ("launch", re.compile(r"(launch|tasks|devcontainer|settings)\.json")),
)


def kind_of(path: str, first_line: str) -> Kind | None:
    """Return the kind of a file; None for one that no scan reads.

    >>> kind_of("docker/Dockerfile.gpu", ""), kind_of("requirements/dev.txt", "")
    ('dockerfile', 'packages')
    >>> kind_of("bin/train", "#!/usr/bin/env python3"), kind_of("LICENSE", "")
    ('python', None)
    """
    folder, _slash, name = path.replace("\n", " ").rpartition("/")
    for kind, pattern in _NAMES:
        if pattern.fullmatch(name):
            return kind
    if folder.rpartition("/")[2] == "requirements" and name.endswith((".txt", ".in")):
        return "packages"
    script = re.match(r"#!.*\b(python|bash|sh|zsh|ksh|csh|tcsh)", first_line)
    if script is None:
        return None
    return "python" if script[1] == "python" else "shell"
