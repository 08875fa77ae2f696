"""One scan: facts of files, what holds around them, rules, findings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from d9m import about
from d9m.kb.store import KnowledgeBase
from d9m.model.advice import Tool
from d9m.scan.card.card import cards
from d9m.scan.echo import environments
from d9m.scan.facts import FileFacts
from d9m.scan.finding import ScanFinding, sort_key
from d9m.scan.project.project import Project
from d9m.scan.rules.catalogue import RULES
from d9m.scan.scanned import FilesRead, Scanned, UnreadableFile
from d9m.scan.surroundings.surrounding import ScanEnvironment


def judge(
    kb: KnowledgeBase,
    root: str,
    files: Sequence[FileFacts],
    surroundings: Mapping[str, ScanEnvironment],
    entry_points: Sequence[str] = (),
    shown: frozenset[str] | None = None,
) -> Scanned:
    """Put every rule to the facts of a project. `shown`: files to which the answer is limited."""
    project = Project(kb, files, surroundings, entry_points)
    found: list[ScanFinding] = []
    for rule in RULES:
        found += rule.findings(project)
    unreadable: list[UnreadableFile] = []
    read = 0
    needed, reached = project.needed_unread(shown), project.reached(shown)
    for facts in project.files.values():
        read += facts.path in reached and not facts.unreadable
        if facts.unreadable:
            unreadable.append(UnreadableFile(facts.path, facts.unreadable, facts.path in needed))
        for line, name, script in project.sourced(facts) if facts.launches else ():
            if script is None and facts.path in reached:
                why = f"{facts.path}:{line} sources it, and no file that was read has this name"
                unreadable.append(UnreadableFile(name, why, needed=True))
    return Scanned(
        d9m=Tool(about.__version__, kb.meta.date),
        root=root,
        environments=environments(project),
        programs=cards(project, found),
        findings=sorted(found, key=sort_key),
        files=FilesRead(read, unreadable),
    )
