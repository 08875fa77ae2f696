"""Ids, and names that must have one owner."""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterator
from typing import TypeAlias

from d9m.authoring.lint.index import RecordIndex
from d9m.authoring.lint.rule import Finding, rule
from d9m.kb.validate import Path
from d9m.kb.yaml_files import Loaded
from d9m.model import records

_WORDS = re.compile(r"[a-z0-9]+([.-][a-z0-9]+)*")
_NUMBERED = ("pull_requests", "issues")


@rule(
    "id-path",
    "Path that is not an id",
    """A record's id is its path. Ids appear in addresses, in JSON and in other records, so they are
    lower-case words joined by hyphens, the same on every file system. Pull requests and issues live
    at repository/number, which is how everybody cites them, and their address must lead to that
    number.""",
)
def id_path(index: RecordIndex) -> Iterator[Finding]:
    for kind, loaded in index.kinds.items():
        for at in loaded.values():
            if not all(_WORDS.fullmatch(part) for part in at.id.split("/")):
                yield Finding(
                    at, (), "id is not lower-case words with hyphens", at.id, tip=_slug(at.id)
                )
            if kind in _NUMBERED:
                yield from _numbered(at)


def _slug(id_: str) -> str:
    words = (re.sub(r"[^a-z0-9.]+", "-", part.lower()).strip("-.") for part in id_.split("/"))
    return f"name the file {'/'.join(words)}.yaml"


def _numbered(at: Loaded) -> Iterator[Finding]:
    record: records.PullRequest | records.Issue = at.record
    owner, _slash, name = record.repository.lower().partition("/")
    folders = dict.fromkeys((name or owner, owner, f"{owner}-{name}"))
    allowed = [f"{folder}/{record.number}" for folder in folders]
    if at.id not in allowed:
        message = "id is not repository/number"
        yield Finding(
            at, ("number",), message, at.id, ", ".join(allowed), f"move it to {allowed[0]}.yaml"
        )
    if record.repository.lower() not in record.url.lower() or record.number not in record.url:
        tip = "the address is that of the pull request, commit or issue itself"
        yield Finding(
            at,
            ("url",),
            f"does not lead to {record.repository} {record.number}",
            record.url,
            tip=tip,
        )


@rule(
    "unknown-home",
    "Folder of no package",
    """The first folder of a source names its home package: its ops are that package's ops, and its
    timeline follows that package's releases. The folder must be the `folder` of a record under
    versions/.""",
)
def unknown_home(index: RecordIndex) -> Iterator[Finding]:
    if not index.complete("versions"):
        return
    for at in index.kinds["sources"].values():
        folder = at.id.partition("/")[0]
        if folder not in index.homes:
            tip = "add `folder` to the package's record under versions/"
            yield Finding(
                at, (), "folder of no package", folder, ", ".join(sorted(index.homes)), tip
            )


Owned: TypeAlias = tuple[str, Hashable, Loaded, Path, str]
"""Kind of name, the name as compared, its owner, where it says so, the name as written."""


@rule(
    "owned-twice",
    "Name with two owners",
    """A name that a person types has to mean one thing. If two packages claimed an alias, two
    solutions a label, or two records one pull request, which of them is meant would depend on the
    order of files. Upper and lower case count as equal where users may type either.""",
)
def owned_twice(index: RecordIndex) -> Iterator[Finding]:
    owners: dict[tuple[str, Hashable], Loaded] = {}
    for what, name, owner, path, written in _names(index):
        first = owners.setdefault((what, name), owner)
        if first is not owner:
            yield Finding(
                owner,
                path,
                f"{what} already belongs to {first.file}",
                written,
                tip="only one can have it",
            )


def _names(index: RecordIndex) -> Iterator[Owned]:
    for at in index.kinds["versions"].values():
        yield "package name", at.id, at, (), at.id
    for at in index.kinds["versions"].values():
        yield from _package_names(at)
    for at in index.kinds["solutions"].values():
        yield "label", at.record.label.lower(), at, ("label",), at.record.label
    for at in index.kinds["settings"].values():
        yield "setting", at.record.name, at, ("name",), at.record.name
    for kind in _NUMBERED:
        for at in index.kinds[kind].values():
            cited = f"{at.record.repository.lower()}#{at.record.number}"
            yield "number", cited, at, ("number",), cited
    for at in index.kinds["ops"].values():
        file: records.OpRecords = at.record
        for name in file.ops:
            yield "op", (file.package, name), at, ("ops", name), name
        for name in file.reach:
            yield "name", (file.package, name), at, ("reach", name), name


def _package_names(at: Loaded) -> Iterator[Owned]:
    package: records.Package = at.record
    for field in ("aliases", "distributions"):
        for place, name in enumerate(getattr(package, field)):
            yield "package name", name.lower(), at, (field, place), name
    if package.folder:
        yield "folder", package.folder, at, ("folder",), package.folder


@rule(
    "case-twin",
    "Names that differ in case only",
    """Op names ignore case where they do not collide. A name that reaches ops and a catalogued op
    that differ in nothing but case would make that rule unpredictable: which one answers would
    depend on how a person types.""",
)
def case_twin(index: RecordIndex) -> Iterator[Finding]:
    for at in index.kinds["ops"].values():
        file: records.OpRecords = at.record
        ops = {name.lower(): name for name in index.catalogues[file.package].ops}
        for name in file.reach:
            twin = ops.get(name.lower(), name)
            if twin != name:
                yield Finding(
                    at,
                    ("reach", name),
                    f"the op {twin} differs in case only",
                    name,
                    tip="drop one of the two",
                )


RULES = (id_path, unknown_home, owned_twice, case_twin)
