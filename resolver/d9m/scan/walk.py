"""Which files of a project a scan reads, and which of them it shows findings of."""

from __future__ import annotations

import fnmatch
import os
import subprocess
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence

import msgspec

from d9m.errors import UsageError, quote
from d9m.scan.file_kinds import Kind, kind_of
from d9m.scan.file_names import as_text, on_disk


class Unread(msgspec.Struct, frozen=True):
    """A file that a scan would read and cannot."""

    path: str
    why: str
    named: bool = False
    """Whether it was named on the command line."""


class Walk(msgspec.Struct, frozen=True):
    """The files of one scan. Paths are relative to `root`, with slashes, in order."""

    root: str
    files: tuple[tuple[str, Kind], ...]
    named: frozenset[str] = frozenset()
    """Files that were named, not found."""
    shown: frozenset[str] | None = None
    """Findings outside these files are left out; None: no file is left out."""
    unread: tuple[Unread, ...] = ()
    left_out: tuple[str, ...] = ()
    """The files that are in the folders and not scanned, the largest group first."""

    def shows(self, path: str) -> bool:
        return self.shown is None or path in self.shown


SKIPPED_FOLDERS = frozenset(
    {
        "__pycache__", "node_modules", "site-packages", "dist-packages", "build", "dist",
        "venv", "virtualenv",
    }
)  # fmt: skip
"""Folders of tools and of other people's code; so is every folder whose name begins with a dot or
ends in .egg-info, and every virtual environment.
"""

_NEVER_CODE = frozenset({"__pycache__", ".git", ".d9m_cache"})

READ_ANYWAY = frozenset({".github", ".devcontainer", ".vscode", ".circleci"})
"""Folders with a dot that hold jobs."""

TEST_FOLDERS = frozenset({"test", "tests", "testing", "unittests"})


def walk(
    paths: Sequence[str],
    *,
    exclude: Sequence[str] = (),
    exclude_from: str = ".",
    tests: bool = False,
    changed: str | None = None,
) -> Walk:
    """The files under `paths`. A named file brings its project along, but only its own findings
    are shown; `changed` shows those that differ from a git revision.

    `exclude` holds patterns of paths below the folder `exclude_from`. Raises UsageError.
    """
    for path in paths:
        if not path or not os.path.lexists(path):
            raise UsageError(f"there is no file or folder {quote(path)}")
    root = _root(paths)
    excluded_in = os.path.realpath(exclude_from)
    found: dict[str, Kind] = {}
    unread: list[Unread] = []
    left_out: Counter[str] = Counter()
    named: set[str] = set()

    def refuse(error: OSError) -> None:
        folder = as_text(_inside(root, error.filename))
        unread.append(Unread(folder, f"the system refuses: {error.strerror or error}"))

    for path in paths:
        if os.path.isdir(path):
            top = os.path.realpath(path)
            found |= _stated_above(root, top)
        else:
            named.add(_inside(root, os.path.abspath(path)))
            top = _project_of(os.path.realpath(path), root)
        for file in _files_below(top, tests, left_out, refuse):
            below = as_text(_inside(excluded_in, file)) if exclude else ""
            if any(fits(below, pattern) for pattern in exclude):
                left_out[_EXCLUDED] += 1
            elif not _add(root, _inside(root, file), found, unread):
                left_out[_OF_OTHER_KINDS] += 1
    for relative in sorted(named):
        _add(root, relative, found, unread, named=True)
    names = {as_text(relative) for relative in named}
    shown = _shown(root, paths, names, changed)
    ordered = tuple(sorted(found.items()))
    return Walk(
        root,
        ordered,
        frozenset(names),
        shown,
        tuple(_really_unread(root, unread, found)),
        tuple(sorted(+left_out, key=lambda what: (-left_out[what], what))),
    )


_EXCLUDED = "what exclude names"
_OF_OTHER_KINDS = "files of other kinds"
_TESTS = "tests (--tests scans them)"


def _really_unread(root: str, unread: Iterable[Unread], found: dict[str, Kind]) -> list[Unread]:
    """Each file once, in order of path, as named if it was named; without links to what is read."""
    kept: dict[str, Unread] = {}
    for file in sorted(unread, key=lambda file: (file.path, file.named)):
        if file.why == _OUTSIDE:
            target = os.path.realpath(on_disk(root, file.path))
            held = file.path in found or as_text(_inside(root, target)) in found
            if held or os.path.isdir(target):
                continue
        kept[file.path] = file
    return list(kept.values())


def _root(paths: Sequence[str]) -> str:
    """The current folder if all paths are in it; else the folder that they share."""
    here = os.path.realpath(".")
    folders: list[str] = []
    for path in paths:
        place = os.path.realpath(path)
        folders.append(place if os.path.isdir(path) else os.path.dirname(place))
    try:
        shared = os.path.commonpath(folders)
    except ValueError:
        raise UsageError("these paths are on several drives: scan them one by one") from None
    return here if _is_inside(shared, here) else shared


def _is_inside(path: str, folder: str) -> bool:
    return path == folder or path.startswith(os.path.join(folder, ""))


def _inside(root: str, path: str) -> str:
    """A path from `root`, with ``/``. Both are absolute, without detours."""
    start = os.path.join(root, "")
    below = path[len(start) :] if path.startswith(start) else os.path.relpath(path, root)
    return below.replace(os.sep, "/")


PROJECT_MARKS = (".git", "d9m.toml", "pyproject.toml", "setup.py", "setup.cfg", "requirements.txt")


def _project_of(file: str, root: str) -> str:
    """The folder of the project that a file belongs to, not above `root`."""
    folder = os.path.dirname(file)
    while _is_inside(folder, root):
        if any(os.path.exists(os.path.join(folder, mark)) for mark in PROJECT_MARKS):
            return folder
        folder = os.path.dirname(folder)
    return os.path.dirname(file)


def _stated_above(root: str, folder: str) -> dict[str, Kind]:
    """The files above a folder, up to the root, that state versions for it."""
    found: dict[str, Kind] = {}
    while folder != root and _is_inside(folder, root):
        folder = os.path.dirname(folder)
        for name in sorted(os.listdir(folder)):
            path = os.path.join(folder, name)
            if kind_of(name, "") == "packages" and os.path.isfile(path):
                found[as_text(_inside(root, path))] = "packages"
    return found


def _add(
    root: str, path: str, found: dict[str, Kind], unread: list[Unread], *, named: bool = False
) -> bool:
    """Add a file to those that are read or unread; false for one that no scan reads."""
    full, text = os.path.join(root, path), as_text(path)
    try:
        kind = kind_of(path, "") or kind_of(path, _first_line(full))
        why = _why_unread(root, path, kind, named)
    except OSError as error:
        kind, why = None, error.strerror or "cannot be read"
    if why:
        unread.append(Unread(text, why, named))
    elif kind is not None:
        found[text] = kind
    return bool(why) or kind is not None


_OUTSIDE = "a link to a file that is not scanned"


def _why_unread(root: str, path: str, kind: Kind | None, named: bool) -> str:
    """Return why a file that a scan would read cannot be read; empty if it can."""
    full, text = os.path.join(root, path), as_text(path)
    if not named and kind is None:
        return ""
    if os.path.islink(full) and not os.path.exists(full):
        return "a link that leads nowhere"
    if os.path.islink(full) and not named:
        return _OUTSIDE
    if os.path.exists(full) and not os.path.isfile(full):
        return "not a regular file"
    if named and kind is None:
        return "not a kind of file that d9m scan reads"
    if text != path and os.path.lexists(os.path.join(root, text)):
        return "another file has the name by which this one is shown"
    return ""


def _first_line(full: str) -> str:
    """The first line of a file without an ending; nothing of any other: only scripts have one."""
    name = os.path.basename(full)
    if "." in name or not os.path.isfile(full):
        return ""
    with open(full, "rb") as file:
        return file.readline(200).decode("utf-8", "replace")


def _files_below(
    top: str, tests: bool, left_out: Counter[str], refuse: Callable[[OSError], None]
) -> Iterator[str]:
    listed = _listed_by_git(top)
    for file in listed if listed is not None else _listed_by_folder(top, left_out, refuse):
        parts = _inside(top, file).split("/")
        skipped = next(filter(_is_skipped, parts[:-1]), None)
        if skipped is not None:
            left_out[f"{skipped}/"] += 1
        elif _is_test(parts) and not tests:
            left_out[_TESTS] += 1
        elif os.path.isdir(file) and not os.path.islink(file):
            left_out["git repositories inside this one"] += 1
        else:
            yield file


def _is_skipped(folder: str) -> bool:
    return folder in SKIPPED_FOLDERS or (
        folder.startswith(".") and folder not in READ_ANYWAY
    ) or folder.endswith(".egg-info")  # fmt: skip


def _is_test(parts: Sequence[str]) -> bool:
    name = parts[-1]
    return any(part.lower() in TEST_FOLDERS for part in parts[:-1]) or (
        name == "conftest.py" or fnmatch.fnmatchcase(name, "test_*.py")
        or fnmatch.fnmatchcase(name, "*_test.py")
    )  # fmt: skip


def _listed_by_git(top: str) -> list[str] | None:
    """List the files that git tracks or would track below a folder; None where it keeps nothing
    there.
    """
    options = ("ls-files", "-z", "--cached", "--others", "--exclude-standard")
    listed = run_git(top, *options)
    if listed is None:
        return None
    files = [os.path.join(top, name) for name in listed.split("\0") if name]
    return sorted(file for file in set(files) if os.path.lexists(file)) or None


def run_git(folder: str, *words: str) -> str | None:
    """Return the output of a git command; None where it fails, or where there is no git.

    No program of the repository runs: a monitor that its configuration names is switched off.
    """
    command = ["git", "-c", "core.fsmonitor=false", "-c", "core.quotePath=false", *words]
    try:
        done = subprocess.run(  # noqa: S603
            command, cwd=folder, capture_output=True, check=False, stdin=subprocess.DEVNULL
        )
    except OSError:
        return None
    return os.fsdecode(done.stdout) if done.returncode == 0 else None


def ignored_by_git(folder: str) -> bool:
    """Whether git ignores something in a folder."""
    options = ("ls-files", "-z", "--others", "--ignored", "--exclude-standard", "--directory")
    return bool(run_git(folder, *options))


def _is_venv(folder: str) -> bool:
    return os.path.exists(os.path.join(folder, "pyvenv.cfg"))


def _listed_by_folder(
    top: str, left_out: Counter[str], refuse: Callable[[OSError], None]
) -> Iterator[str]:
    for folder, folders, files in os.walk(top, onerror=refuse):
        read: list[str] = []
        for name in sorted(folders):
            if _is_skipped(name) or _is_venv(os.path.join(folder, name)):
                left_out[f"{name}/"] += name not in _NEVER_CODE
            else:
                read.append(name)
        folders[:] = read
        for name in sorted(files):
            yield os.path.join(folder, name)


def fits(path: str, pattern: str) -> bool:
    """Whether a pattern means a path: the path, a folder above it, or a glob (``tools/**``).

    >>> fits("tools/a/b.py", "tools"), fits("tools/a/b.py", "tools/**"), fits("tools.py", "tools")
    (True, True, False)
    >>> fits("a/b/old_train.py", "old_*.py")
    True
    """
    pattern = pattern.strip("/").removesuffix("/**")
    return _fits(path, pattern) or ("/" not in pattern and _fits(path, f"*/{pattern}"))


def _fits(path: str, pattern: str) -> bool:
    pattern = pattern.strip("/").removesuffix("/**")
    return fnmatch.fnmatchcase(path, pattern) or fnmatch.fnmatchcase(path, f"{pattern}/*")


def _shown(
    root: str, paths: Iterable[str], named: set[str], changed: str | None
) -> frozenset[str] | None:
    real = (os.path.realpath(path) for path in paths if os.path.isdir(path))
    folders = [as_text(_inside(root, folder)) for folder in real]
    if changed is not None:
        starts = tuple("" if folder == "." else f"{folder}/" for folder in folders)
        differing = changed_files(root, changed)
        return frozenset(path for path in differing if path in named or path.startswith(starts))
    return frozenset(named) if named and not folders else None


def changed_files(root: str, revision: str) -> set[str]:
    """The files that differ from a revision, and those that git does not know yet. Raises
    UsageError.
    """
    top = run_git(root, "rev-parse", "--show-toplevel")
    if top is None:
        raise UsageError(f"--changed needs a git repository; {quote(root)} is in none")
    top = top.rstrip("\n")
    differing = run_git(
        top, "diff", "--no-ext-diff", "--name-only", "-z", "--end-of-options", revision, "--"
    )
    if differing is None:
        raise UsageError(f"--changed: git knows no revision {quote(revision)}")
    new = run_git(top, "ls-files", "-z", "--others", "--exclude-standard") or ""
    full = (os.path.join(top, name) for name in f"{differing}{new}".split("\0") if name)
    real = os.path.realpath(root)
    return {as_text(_inside(real, path)) for path in full if _is_inside(path, real)}
