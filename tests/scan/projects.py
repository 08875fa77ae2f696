"""Small projects for tests of the scan, read and judged in this process."""

from __future__ import annotations

import functools
from collections.abc import Mapping

import msgspec

from d9m.kb.locate import open_knowledge_base
from d9m.kb.store import KnowledgeBase
from d9m.model.versions import in_order
from d9m.scan.facts import FileFacts
from d9m.scan.file_kinds import kind_of
from d9m.scan.jobs.read import read_job
from d9m.scan.read_file import read_file
from d9m.scan.run import judge
from d9m.scan.scanned import Scanned
from d9m.scan.surroundings.surrounding import ScanEnvironment, StatedVersion
from d9m.scan.surroundings.surroundings import surroundings
from d9m.scan.versions.read import read_versions
from d9m.scan.versions.stated import FileVersions
from d9m.scan.vocabulary import Vocabulary


@functools.cache
def knowledge() -> KnowledgeBase:
    return open_knowledge_base()


@functools.cache
def vocabulary() -> Vocabulary:
    return Vocabulary(knowledge())


def facts(path: str, text: str) -> FileFacts:
    kind = kind_of(path, "")
    if kind == "notebook":
        return read_file(vocabulary(), path, kind, text.encode()).facts
    job = read_job(path, kind, text) if kind is not None and kind != "python" else None
    if job is None and kind is not None and kind != "python":
        return FileFacts(path=path, kind="other")
    return job or read_file(vocabulary(), path, "python", text.encode()).facts


def scanned(files: Mapping[str, str], **packages: str | None) -> Scanned:
    """The answer for these files; a version is exact, or has a lower bound: ``>=2.4``."""
    stated = {name: _stated(name, said) for name, said in packages.items() if said is not None}
    read = [facts(path, text) for path, text in files.items()]
    around = _around(files)
    said = {**around[""].packages, **stated}
    around[""] = msgspec.structs.replace(around[""], packages=said)
    return judge(knowledge(), ".", read, around)


def _around(files: Mapping[str, str]) -> dict[str, ScanEnvironment]:
    """What the files state of versions."""
    versions: list[tuple[str, FileVersions]] = []
    for path, text in files.items():
        kind = kind_of(path, "")
        if kind is not None:
            versions.append((path, read_versions(path, kind, text)))
    code = [path for path in files if path.endswith(".py")]
    return surroundings(knowledge(), versions, code)[0]


def _stated(package: str, said: str) -> StatedVersion:
    if not said.startswith(">="):
        return StatedVersion(said, "pinned", "requirements.txt:1")
    newest = in_order(knowledge().packages[package].releases)[-1]
    return StatedVersion(newest, "range", "requirements.txt:1", said[2:])
