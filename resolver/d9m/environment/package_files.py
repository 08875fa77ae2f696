"""Files that say what is installed: requirements, lock files, conda environments, Dockerfiles,
collect_env's report.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable, Iterator

import msgspec

from d9m import files
from d9m.environment.container import contents, find_image
from d9m.environment.environment import Setup
from d9m.environment.releases import listed
from d9m.errors import DataError, UsageError, quote, reason
from d9m.kb.store import KnowledgeBase


class ListedPackages(msgspec.Struct, frozen=True):
    """The content of a file, in its own words."""

    packages: tuple[tuple[str, str | None], ...] = ()
    """Name and version of everything that it lists, known to d9m or not."""
    container: str | None = None
    gpu: str | None = None
    device: str | None = None
    facts: dict[str, str] = {}


def with_file(kb: KnowledgeBase, setup: Setup, file: str) -> Setup:
    """Return a setup with what a file of the disk says beyond it; ``-`` is standard input. Raises
    DataError, and UsageError for a version that was never released.
    """
    place = "standard input" if file == "-" else file
    try:
        text = sys.stdin.read(files.LARGEST) if file == "-" else files.text(file)
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"{quote(file)}: cannot be read: {reason(error)}") from None
    found = read(text, place)
    typed = {kb.find_package(name) for name, _version in setup.packages}
    for name, version in found.packages:
        package = kb.distribution(name)
        if package is not None and package not in typed and setup.container is None:
            try:
                listed(kb, package, version)
            except UsageError as error:
                at = f"{place}:{_line(text, name, version or '')}"
                what, near = f"{at}: {error.what}", error.nearest
                raise UsageError(what, nearest=near, allowed=error.allowed, tip=error.tip) from None
    return merged(kb, setup, found)


def _line(text: str, name: str, version: str) -> int:
    """Return the first line that has the version, at or after the one that has the name."""
    lines = text.splitlines()
    start = next((at for at, line in enumerate(lines) if name in line), 0)
    return next((at for at in range(start, len(lines)) if version in lines[at]), start) + 1


def merged(kb: KnowledgeBase, setup: Setup, file: ListedPackages) -> Setup:
    """Return a setup with what a file says beyond it: what was typed wins."""
    typed = dict(setup.facts)
    return msgspec.structs.replace(
        setup,
        container=setup.container or _container(kb, setup, file.container),
        device=setup.device or (None if setup.gpu else file.device),
        facts=(
            *setup.facts,
            *((name, value) for name, value in file.facts.items() if name not in typed),
        ),
        gpu=setup.gpu or (None if setup.device else file.gpu),
        listed=(*setup.listed, *file.packages),
    )


def _container(kb: KnowledgeBase, setup: Setup, reference: str | None) -> str | None:
    """Return the image of a Dockerfile, if it is known and holds nothing that was typed."""
    if reference is None:
        return None
    try:
        held = contents(kb, find_image(kb, reference))
    except UsageError:
        return None
    return (
        None
        if any(kb.package_named(name) in held for name, _version in setup.packages)
        else reference
    )


MOST_TEXT = 20_000_000
"""Characters. The largest lock file seen has two million."""


def read(text: str, file: str) -> ListedPackages:
    """Read a file by its content; its name does not matter. Raises DataError where it lists
    nothing.
    """
    if len(text) > MOST_TEXT:
        raise DataError(f"{file}: {len(text)} characters, {MOST_TEXT} are allowed")
    lines = text.splitlines()
    found = next(reader(lines) for recognised, reader in _READERS if recognised(text))
    if not found.packages and found.container is None:
        raise DataError(
            f"{file}: no package is listed there",
            allowed=[
                "requirements.txt or pip freeze",
                "uv.lock",
                "poetry.lock",
                "a conda environment",
                "a Dockerfile",
                "the output of python -m torch.utils.collect_env",
            ],
        )
    return found


def _matches(pattern: str) -> Callable[[str], bool]:
    compiled = re.compile(pattern, re.MULTILINE)
    return lambda text: compiled.search(text) is not None


# --- pip ---------------------------------------------------------------------------

_BOUND = r"[<>=!~]={0,2} ?[\w.*+!\-]+"
_REQUIREMENT = re.compile(
    r"(?P<name>[A-Za-z0-9][\w.\-]*) ?(?:\[[^\]]*\] ?)?"
    rf"(?:@ ?(?P<url>\S+)|(?P<version>(?:{_BOUND}(?:(?: ?, ?| ){_BOUND})* ?,?)?)) ?(?:[;#].*)?"
)
"""Of a text with single blanks. What separates two bounds is needed: a pattern that can read one
text in many ways tries them all.
"""
_WHEEL = re.compile(r"[\w.]+-(\d[\w.]*(?:(?:%2B|\+)[\w.]+)?)-")


def requirement(text: str) -> tuple[str, str | None] | None:
    """Name and version of one requirement as pip takes it; None for anything else.

    >>> requirement("torch[opt]==2.4.0+cu121 ; python_version > '3.8'")
    ('torch', '2.4.0+cu121')
    >>> requirement("transformers >=4.40, <5"), requirement("--hash=sha256:1")
    (('transformers', '>=4.40,<5'), None)
    """
    match = _REQUIREMENT.fullmatch(" ".join(text.split()))
    if match is None:
        return None
    if match["url"]:
        wheel = _WHEEL.search(match["url"].rpartition("/")[2])
        return match["name"], wheel[1].replace("%2B", "+") if wheel else None
    return match["name"], _version(match["version"])


def _version(specifier: str) -> str | None:
    """Return a pinned version without its signs; a range unchanged."""
    plain = re.sub(r"\s", "", specifier).strip(",")
    pinned = re.fullmatch(r"={2,3}([^,*]+)", plain)
    return pinned[1] if pinned else plain or None


def _requirements(lines: Iterable[str]) -> ListedPackages:
    """requirements.txt, pip freeze, and the table of pip list or conda list."""
    found: list[tuple[str, str | None]] = []
    for line in _joined(lines):
        text = re.split(r"\s#|\s--", line.strip())[0].rstrip()
        row = re.fullmatch(r"([A-Za-z][\w.\-]*)\s+(\d[\w.+!]*)(\s.*)?", text)
        exported = re.fullmatch(r"([A-Za-z][\w.\-]*)=(\d[\w.+!]*)=[\w.]+", text)
        plain = row or exported
        package = (plain[1], plain[2]) if plain else requirement(text)
        if package is not None and not text.startswith(("#", "-")):
            found.append(package)
    return ListedPackages(tuple(found))


def _joined(lines: Iterable[str]) -> Iterator[str]:
    """Lines with those that a backslash continues."""
    before: list[str] = []
    for line in lines:
        if line.rstrip().endswith("\\"):
            before.append(line.rstrip()[:-1] + " ")
        else:
            yield "".join([*before, line])
            before = []
    if before:
        yield "".join(before)


# --- lock files --------------------------------------------------------------------


def _lock(lines: Iterable[str]) -> ListedPackages:
    """uv.lock, poetry.lock, pdm.lock, pylock.toml: tables of packages that a program wrote, one key
    a line.
    """
    found: list[tuple[str, str | None]] = []
    name: str | None = None
    for line in lines:
        if line.startswith("["):
            name = None
        match = re.fullmatch(r'(name|version)\s*=\s*"([^"]*)"', line.strip())
        if match and match[1] == "name":
            name = match[2]
        elif match and name is not None:
            found.append((name, match[2]))
            name = None
    return ListedPackages(tuple(found))


# --- conda -------------------------------------------------------------------------


def _conda(lines: Iterable[str]) -> ListedPackages:
    """A conda environment: ``- pytorch=2.4.0=py3.10_cuda12.1``, and requirements below ``-
    pip:``.
    """
    found: list[tuple[str, str | None]] = []
    listed = False
    for line in lines:
        if re.match(r"[A-Za-z]", line):
            listed = line.startswith("dependencies:")
        item = re.match(r"\s*-\s*[\"']?(?:[\w\-/.]+::)?([^\"'#]+)", line)
        if listed and item and not item[1].strip().endswith(":"):
            package = _conda_package(item[1].strip())
            if package is not None:
                found.append(package)
    return ListedPackages(tuple(found))


def _conda_package(text: str) -> tuple[str, str | None] | None:
    match = re.fullmatch(r"([\w.\-]+)\s*=\s*([\d][\w.*]*)(?:=\S*)?", text)
    return (match[1], match[2].removesuffix(".*")) if match else requirement(text)


# --- Docker ------------------------------------------------------------------------


def _dockerfile(lines: Iterable[str]) -> ListedPackages:
    """Return the base image of the last stage, and what pip installs there by name."""
    arguments: dict[str, str] = {}
    stages: dict[str, str] = {}
    image: str | None = None
    found: list[tuple[str, str | None]] = []
    for line in _joined(line for line in lines if not line.lstrip().startswith("#")):
        word, _blank, rest = line.strip().partition(" ")
        if word.upper() == "ARG" and "=" in rest:
            name, _equals, value = rest.strip().partition("=")
            arguments[name] = value[:LONGEST_VALUE].strip("\"' ")
        elif word.upper() == "FROM":
            words = _expanded(rest, arguments).split()
            parts = [word for word in words if not word.startswith("--")]
            image = stages.get(parts[0], parts[0]) if parts else None
            if image is not None and len(parts) == 3 and parts[1].lower() == "as":
                stages[parts[2]] = image
        elif word.upper() == "RUN" and len(rest) <= LONGEST_COMMAND:
            found += pip_installs(_expanded(rest, arguments))
    return ListedPackages(tuple(found), image)


LONGEST_VALUE = 200
"""Characters of an argument. An image or a version has fewer, and a longer one that a command
repeats has no end.
"""

LONGEST_COMMAND = 100_000
"""Characters of a command. A thousand pinned packages have fewer."""


def _expanded(text: str, arguments: dict[str, str]) -> str:
    def value(match: re.Match[str]) -> str:
        return arguments.get(match[1] or match[3], match[2] or match[0])

    return re.sub(r"\$\{(\w+)(?::-([^}]{0,200}))?\}|\$(\w+)", value, text)


def pip_installs(command: str) -> Iterator[tuple[str, str | None]]:
    """The packages that the pip commands of a shell line name."""
    for part in re.split(r"&&|;|\|\|", command):
        match = re.search(r"\b(?:pip3?|uv pip|python3? -m pip)\s+install\s(.*)", part)
        skip = False
        for word in match[1].split() if match else ():
            if skip or word.startswith("-"):
                skip = not skip and word in _WITH_VALUE
                continue
            package = requirement(word.strip("\"'"))
            if package is not None and "/" not in word:
                yield package


_WITH_VALUE = {
    "-r",
    "-c",
    "-e",
    "-i",
    "-f",
    "-t",
    "--requirement",
    "--constraint",
    "--index-url",
    "--extra-index-url",
    "--find-links",
    "--target",
    "--root",
    "--prefix",
    "--timeout",
    "--trusted-host",
}
"""Options of pip that take the next word."""


# --- torch.utils.collect_env ---------------------------------------------------------


def _collected(lines: Iterable[str]) -> ListedPackages:
    """Return what torch.utils.collect_env printed, as people paste it into an issue."""
    found: dict[str, str] = {}
    gpu: str | None = None
    device: str | None = None
    facts: dict[str, str] = {}
    for line in lines:
        name, _colon, value = line.strip().lstrip("-*> ").partition(": ")
        value = value.strip()
        listed = re.match(r"\[(?:pip3?|conda)\]\s+([\w.\-]+)(?:==|\s+)(\d[\w.+]*)", line.strip())
        if listed:
            found.setdefault(listed[1], listed[2])
        elif name in _COLLECTED and re.match(r"\d", value):
            found[_COLLECTED[name]] = value.split()[0]
            device = "rocm" if name.startswith("ROCM") else device
        elif name.startswith("GPU 0"):
            gpu = value
        elif name == "OS":
            system = next((system for word, system in _SYSTEMS.items() if word in value), None)
            facts = {"os": system} if system else {}
    found.pop("rocm", None)
    return ListedPackages(tuple(found.items()), None, gpu, device, facts)


_COLLECTED = {
    "PyTorch version": "torch",
    "CUDA used to build PyTorch": "cuda",
    "ROCM used to build PyTorch": "rocm",
    "Python version": "python",
}
"""Line of the report -> package."""

_SYSTEMS = {"Windows": "windows", "macOS": "macos", "Mac OSX": "macos"}

_READERS: tuple[tuple[Callable[[str], bool], Callable[[list[str]], ListedPackages]], ...] = (
    (_matches(r"^[^\w\n]*PyTorch version: "), _collected),
    (_matches(r"^\[\[packages?\]\]"), _lock),
    (_matches(r"^dependencies:[ \t]*$"), _conda),
    (_matches(r"^[ \t]*(?i:FROM)\s+\S"), _dockerfile),
    (lambda text: True, _requirements),
)
"""How a file is recognised, and what reads it; the first that fits."""
