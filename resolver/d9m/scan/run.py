"""One scan: facts of files, what holds around them, rules, findings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from d9m import about
from d9m.kb.store import KnowledgeBase
from d9m.model.advice import Tool
from d9m.scan.echo import environments, programs
from d9m.scan.facts import FileFacts
from d9m.scan.finding import ScanFinding, sort_key
from d9m.scan.measuring import is_retired, is_vendored
from d9m.scan.project import Goal, Project
from d9m.scan.rules.catalogue import RULES
from d9m.scan.scanned import FilesRead, Scanned, UnreadableFile
from d9m.scan.surrounding import Surrounding


def judge(
    kb: KnowledgeBase,
    root: str,
    files: Sequence[FileFacts],
    surroundings: Mapping[str, Surrounding],
    goal: Goal = "auto",
    entry_points: Sequence[str] = (),
) -> Scanned:
    """Put every rule to the facts of a project."""
    project = Project(kb, files, surroundings, goal, entry_points)
    found: list[ScanFinding] = []
    for rule in RULES:
        for finding in rule.findings(project):
            aside = is_retired(finding.path) or _is_copied(project, finding)
            if aside or _is_idle(project, finding) or _needs_option(project, finding):
                finding = msgspec.structs.replace(finding, severity="hint")
            found.append(finding)
    unreadable: list[UnreadableFile] = []
    for facts in project.files.values():
        if facts.unreadable:
            unreadable.append(UnreadableFile(facts.path, facts.unreadable))
    return Scanned(
        d9m=Tool(about.__version__, kb.meta.date),
        root=root,
        goal=goal,
        environments=environments(project),
        programs=programs(project),
        findings=sorted(found, key=sort_key),
        files=FilesRead(len(files) - len(project.about), unreadable),
    )


def _is_copied(project: Project, finding: ScanFinding) -> bool:
    """Whether the line is in a copy of another project, and no program outside of it runs it."""
    if is_vendored(finding.path):
        return True
    folder = project.copy_around(finding.path)
    if not folder or finding.family in ("files", "program"):
        return False
    return not project.reach.is_run_from_outside(finding.path, finding.line, folder)


def _needs_option(project: Project, finding: ScanFinding) -> bool:
    """Whether the line only runs with an option that no command of the project gives."""
    if finding.family in ("files", "program"):
        return False
    return project.reach.needs_option(finding.path, finding.line)


def _is_idle(project: Project, finding: ScanFinding) -> bool:
    """Whether no program that trains runs the line, or nothing in sight does. Rules of orders and
    seeds look for themselves at programs that do not train: a script that prepares data counts
    there.
    """
    if finding.family in ("files", "program"):
        return False
    if project.reach.is_out_of_sight(finding.path, finding.line):
        return True
    if finding.family in ("settings", "ops"):
        return not project.reach.matters(finding.path, finding.line)
    return project.reach.is_dead(finding.path, finding.line)
