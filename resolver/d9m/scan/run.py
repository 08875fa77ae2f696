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
from d9m.scan.measuring import is_retired, is_vendored
from d9m.scan.project.project import Goal, Project
from d9m.scan.rules.catalogue import RULES
from d9m.scan.scanned import FilesRead, Scanned, UnreadableFile
from d9m.scan.surroundings.surrounding import ScanEnvironment


def judge(
    kb: KnowledgeBase,
    root: str,
    files: Sequence[FileFacts],
    surroundings: Mapping[str, ScanEnvironment],
    goal: Goal = "auto",
    entry_points: Sequence[str] = (),
    shown: frozenset[str] | None = None,
) -> Scanned:
    """Put every rule to the facts of a project. `shown`: files to which the answer is limited."""
    project = Project(kb, files, surroundings, goal, entry_points)
    found: list[ScanFinding] = []
    for rule in RULES:
        for finding in rule.findings(project):
            if finding.severity != "error" or not _is_hint(project, finding):
                found.append(finding)
    unreadable: list[UnreadableFile] = []
    read = 0
    needed, reached = project.needed_unread(shown), project.reached(shown)
    for facts in project.files.values():
        read += facts.path in reached and facts.kind != "about" and not facts.unreadable
        if facts.unreadable:
            unreadable.append(UnreadableFile(facts.path, facts.unreadable, facts.path in needed))
    return Scanned(
        d9m=Tool(about.__version__, kb.meta.date),
        root=root,
        goal=goal,
        environments=environments(project),
        programs=[one for one in cards(project, found) if shown is None or one.path in shown],
        findings=sorted(found, key=sort_key),
        files=FilesRead(read, unreadable),
    )


def _is_hint(project: Project, finding: ScanFinding) -> bool:
    """Whether a finding is a hint whatever its rule says: its line is in code that is kept and no
    longer used or in a copy of another project, no program that trains runs it, nothing in sight
    does, or only with an option that no command of the project gives. Rules of orders and seeds
    look for themselves at programs that do not train: a script that prepares data counts there.
    """
    path, line, reach = finding.path, finding.line, project.reach
    if is_retired(path) or is_vendored(path) or project.is_in_library(path):
        return True
    if finding.family in ("files", "program"):
        return False
    copy = project.copy_around(path)
    if copy and not reach.is_run_from_outside(path, line, copy):
        return True
    if reach.is_out_of_sight(path, line) or reach.needs_option(path, line):
        return True
    if finding.family in ("settings", "ops"):
        return not reach.matters(path, line)
    return reach.is_dead(path, line)
