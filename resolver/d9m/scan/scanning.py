"""`d9m scan` from paths to a report: the one way in for the command line and for tests."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import msgspec

from d9m.environment.environment import Setup
from d9m.environment.version_options import VERSION_OPTIONS
from d9m.errors import UsageError
from d9m.kb.store import KnowledgeBase
from d9m.model.versions import candidates, is_before_all
from d9m.scan.baseline import Baseline, BaselineEntry, split_known
from d9m.scan.cache import Cache, digests_of
from d9m.scan.configuration import Configuration, find_configuration
from d9m.scan.facts import FileFacts, Launch
from d9m.scan.file_kinds import Kind, kind_of
from d9m.scan.file_names import as_text, on_disk
from d9m.scan.finding import ScanFinding, sort_key
from d9m.scan.hiding import hide
from d9m.scan.marking import finished
from d9m.scan.read_file import TOO_LARGE, FileRead
from d9m.scan.result import ScanOutcome, ScanReport, Suppressed
from d9m.scan.run import judge
from d9m.scan.scanned import FilesRead, Scanned, ScannedProgram, UnreadableFile
from d9m.scan.selection import check_codes, check_selection, is_selected, names
from d9m.scan.surroundings.images import is_unlisted
from d9m.scan.surroundings.surroundings import surroundings
from d9m.scan.walk import Walk, fits, ignored_by_git, walk
from d9m.scan.workers import read_files


class ScanRequest(msgspec.Struct, frozen=True, kw_only=True):
    """The targets and options of a scan, as typed."""

    paths: tuple[str, ...] = ()
    setup: Setup | None = None
    strict: bool = False
    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    tests: bool = False
    changed: str | None = None
    cache: bool = True
    jobs: int | None = None


def configured(kb: KnowledgeBase, request: ScanRequest) -> Configuration:
    """The configuration that holds for what is asked. Raises UsageError."""
    first = request.paths[0] if request.paths else "."
    return find_configuration(kb, first if os.path.isdir(first) else os.path.dirname(first) or ".")


def scan(
    kb: KnowledgeBase,
    request: ScanRequest,
    configuration: Configuration,
    baseline: Baseline | None = None,
) -> ScanOutcome:
    """Read a project, what has not changed from the cache, and judge it. Raises UsageError."""
    check_codes((*request.select, *request.ignore))
    select, ignore = _selection(request, configuration)
    check_selection(select, ignore)
    walked = _walk(request, configuration)
    if not request.cache or not _is_encodable(walked.root, *request.paths):
        reads = read_files(kb, walked, request.jobs)
    else:
        reads = read_files(kb, walked, request.jobs, Cache(kb, walked.root), digests_of(walked))
    return _judged(kb, walked, reads, request, configuration, baseline)


def _is_encodable(*names: str) -> bool:
    """Whether the cache can hold these names."""
    return all(as_text(name) == name for name in (os.getcwd(), *names))


def _judged(
    kb: KnowledgeBase,
    walked: Walk,
    reads: Sequence[FileRead],
    request: ScanRequest,
    configuration: Configuration,
    baseline: Baseline | None,
) -> ScanOutcome:
    around, contradictions = surroundings(
        kb,
        [(read.facts.path, read.versions) for read in reads],
        [path for path, kind in walked.files if kind in ("python", "notebook")],
        _setup(request, configuration),
        "command line" if request.setup else configuration.file,
    )
    select, ignore = _selection(request, configuration)
    facts = [read.facts for read in reads]
    facts += _unread_code(walked)
    scanned = judge(kb, walked.root, facts, around, configuration.entry_points, walked.shown)
    hidden = hide(scanned.findings, {read.facts.path: read.ignores for read in reads})
    chosen = _chosen(walked.root, hidden.kept, request, configuration)
    chosen = [finding for finding in chosen if finding.severity != "missing"]
    kept = _finished(walked, reads, chosen)
    kept = [finding for finding in kept if walked.shows(finding.path)]
    new, known, gone = kept, list[ScanFinding](), list[BaselineEntry]()
    if baseline is not None:
        new, known, gone = split_known(kept, baseline)
        paths, selection = _paths(request, configuration), _selection(request, configuration)
        gone = [entry for entry in gone if _is_in_range(walked, reads, entry, paths, selection)]
    finished = _finished(walked, reads, [one.finding for one in hidden.hidden])
    by_comment: list[Suppressed] = []
    for one, finding in zip(hidden.hidden, finished):
        by_comment.append(msgspec.structs.replace(one, finding=finding))
    files = _files(walked, reads, scanned, request.changed is not None)
    is_unchanged = request.changed is not None and bool(_code(walked))
    nothing = ""
    if not files.unreadable and not _has_code(walked, reads):
        unchanged = f"no changed files: nothing that d9m scan reads differs from {request.changed}"
        nothing = unchanged if is_unchanged else _why_nothing(walked)
    elif request.changed is None and not any(file.needed for file in files.unreadable):
        found = (*hidden.kept, *(one.finding for one in hidden.hidden))
        has_findings = any(walked.shows(finding.path) for finding in found)
        uses = any(each.packages for each in scanned.environments)
        if not (uses or has_findings or any(_is_known(kb, each) for each in facts)):
            nothing = NOTHING_TO_JUDGE
    report = ScanReport(
        schema_version=scanned.schema_version,
        d9m=scanned.d9m,
        root=_shown_root(walked),
        strict=request.strict or configuration.strict,
        environments=scanned.environments,
        programs=[
            _chosen_lines(program, select, ignore)
            for program in scanned.programs
            if walked.shows(program.path)
        ],
        jobs=_jobs(reads),
        findings=new,
        suppressed=len(hidden.hidden),
        known=len(known),
        gone=[f"{entry.code} {entry.path}" for entry in gone],
        contradictions=contradictions,
        unknown_releases=_unknown_releases(kb, reads, scanned),
        files=files,
        nothing=nothing,
        did_nothing=bool(nothing) and not is_unchanged,
    )
    suppressed = (*by_comment, *(Suppressed(finding, "baseline") for finding in known))
    return ScanOutcome(walked, report, suppressed, tuple(kept))


NOTHING_TO_JUDGE = "nothing to judge here: no file uses a package or a setting that d9m knows"


def _is_known(kb: KnowledgeBase, facts: FileFacts) -> bool:
    """Whether a file calls or sets anything of the records, or has an order that is not fixed."""
    known = any(write.name in kb.settings for write in facts.variables)
    return known or bool(facts.calls or facts.assignments or facts.orders)


def _is_in_range(
    walked: Walk,
    reads: Sequence[FileRead],
    entry: BaselineEntry,
    paths: Sequence[str],
    selection: tuple[tuple[str, ...], tuple[str, ...]],
) -> bool:
    """Whether this scan would have found what an entry of the baseline says: its rule is selected,
    and its file was read, or is gone from what is scanned.
    """
    if not walked.shows(entry.path) or not is_selected(entry.code, *selection):
        return False
    if any(read.facts.path == entry.path and not read.facts.unreadable for read in reads):
        return True
    full = on_disk(walked.root, entry.path)
    folders = [os.path.realpath(path) for path in paths]
    below = any(full.startswith(os.path.join(folder, "")) for folder in folders)
    return not os.path.lexists(full) and (below or walked.shown is not None)


def _unread_code(walked: Walk) -> Iterator[FileFacts]:
    """Return the Python files and notebooks that the walk could not open, so that imports of them
    are seen. Each may be a program.
    """
    for file in walked.unread:
        kind = kind_of(file.path, "")
        if kind == "python" or kind == "notebook":
            yield FileFacts(path=file.path, kind=kind, unreadable=file.why, is_entry=True)


def _has_code(walked: Walk, reads: Sequence[FileRead]) -> bool:
    """Whether anything was read that the scan is about."""
    read = {read.facts.path for read in reads if not read.facts.unreadable}
    return any(path in read and walked.shows(path) for path in _code(walked))


def _code(walked: Walk) -> list[str]:
    """Return the files that findings can be in. Those that only state versions count where the
    scan is limited to some files.
    """
    limited = walked.shown is not None
    return [path for path, kind in walked.files if limited or kind != "packages"]


def _why_nothing(walked: Walk) -> str:
    left_out = [*walked.left_out[:MOST_LEFT_OUT]]
    if ignored_by_git(walked.root):
        left_out.append("what git ignores")
    rest = f"; left out: {', '.join(left_out)}" if left_out else ""
    return f"nothing to scan here: no Python file, notebook or job file{rest}"


MOST_LEFT_OUT = 5


def _walk(request: ScanRequest, configuration: Configuration) -> Walk:
    return walk(
        _paths(request, configuration),
        exclude=configuration.exclude,
        exclude_from=configuration.folder,
        tests=request.tests,
        changed=request.changed,
    )


def _paths(request: ScanRequest, configuration: Configuration) -> tuple[str, ...]:
    folder = configuration.folder
    configured = tuple(os.path.relpath(os.path.join(folder, path)) for path in configuration.paths)
    return request.paths or configured or (".",)


def _setup(request: ScanRequest, configuration: Configuration) -> Setup | None:
    """Return the typed environment, which wins over the configuration."""
    typed, configured = request.setup, configuration.environment
    if typed is None or configured is None:
        return typed or configured
    said = {name for name, _version in typed.packages}
    return msgspec.structs.replace(
        typed,
        packages=(*typed.packages, *(pair for pair in configured.packages if pair[0] not in said)),
        container=typed.container or (None if typed.packages else configured.container),
        device=typed.device or configured.device,
        facts=tuple({**dict(configured.facts), **dict(typed.facts)}.items()),
    )


def _selection(
    request: ScanRequest, configuration: Configuration
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The codes and families that are selected, and those that are ignored."""
    select = request.select or configuration.select
    return tuple(select), (*request.ignore, *configuration.ignore)


def _chosen(
    root: str,
    findings: Iterable[ScanFinding],
    request: ScanRequest,
    configuration: Configuration,
) -> list[ScanFinding]:
    """The findings whose codes are wanted, with the severities that the project gives them."""
    select, ignore = _selection(request, configuration)
    found: list[ScanFinding] = []
    for finding in findings:
        below = os.path.relpath(os.path.join(root, finding.path), configuration.folder)
        here = [*ignore]
        for pattern, codes in configuration.per_file_ignores:
            if fits(below, pattern):
                here += codes
        ignored = names(here, finding)
        if ignored or (select and not names(select, finding)):
            continue
        severity = configuration.severity.get(finding.code)
        severity = severity or configuration.severity.get(finding.family)
        if severity is not None:
            finding = msgspec.structs.replace(finding, severity=severity)
        found.append(finding)
    return sorted(found, key=sort_key)


def _chosen_lines(
    program: ScannedProgram, select: Sequence[str], ignore: Sequence[str]
) -> ScannedProgram:
    """Return a card with the lines whose codes are wanted."""
    checks = [check for check in program.checks if is_selected(check.code, select, ignore)]
    return msgspec.structs.replace(program, checks=checks)


def _finished(
    walked: Walk, reads: Sequence[FileRead], findings: Sequence[ScanFinding]
) -> list[ScanFinding]:
    cells = {read.facts.path: read.facts.cells for read in reads if read.facts.kind == "notebook"}
    return finished(walked.root, dict(walked.files), cells, findings)


def _shown_root(walked: Walk) -> str:
    shown = Path(os.path.relpath(walked.root)).as_posix()
    return as_text(shown if not shown.startswith("..") else walked.root)


def _jobs(reads: Sequence[FileRead]) -> list[str]:
    """Job files that start a program of the project, other than on a CI server."""
    kinds = ("python", "notebook")
    code = {read.facts.path for read in reads if read.facts.kind in kinds}
    found: list[str] = []
    for read in reads:
        path = read.facts.path
        if path in code or path.startswith("."):
            continue
        if any(_starts(launch, code) for launch in read.facts.launches):
            found.append(path)
    return found


def _starts(launch: Launch, code: Iterable[str]) -> bool:
    """Whether a launch may mean one of these files."""
    module = launch.module.replace(".", "/")
    wanted = (f"/{module}.py", f"/{module}/__main__.py")
    endings = (f"/{launch.path}",) if launch.path else wanted
    return any(f"/{path}".endswith(endings) for path in code)


def _files(
    walked: Walk, reads: Sequence[FileRead], scanned: Scanned, is_changed: bool
) -> FilesRead:
    """`is_changed`: only changed files are scanned, and each counts as named."""
    why = {file.path: file.why for file in walked.unread}
    why |= {file.path: file.why for file in scanned.files.unreadable}
    needed = walked.named | {file.path for file in scanned.files.unreadable if file.needed}
    unread: list[UnreadableFile] = []
    all_needed = is_changed or not _has_code(walked, reads)
    kinds = dict(walked.files)
    needed |= {path for path in why if _decides(kinds.get(path) or kind_of(path, ""), why[path])}
    for path in sorted(why):
        if walked.shows(path) or path in needed:
            unread.append(UnreadableFile(path, why[path], all_needed or path in needed))
    return FilesRead(scanned.files.read, unread)


def _decides(kind: Kind | None, why: str) -> bool:
    """Whether an unread file may decide which releases and variables programs have: a job, a list
    of packages, or a folder. Large YAML holds data.
    """
    if kind == "yaml" and why.startswith(TOO_LARGE):
        return False
    return kind not in ("python", "notebook")


def _unknown_releases(kb: KnowledgeBase, reads: Sequence[FileRead], scanned: Scanned) -> list[str]:
    """Return a sentence for each stated release of which nothing is known. Those that no record has
    count where nothing else states exactly which release is meant.
    """
    found: set[str] = set()
    open_: set[str] = set()
    for environment in scanned.environments:
        for name, package in environment.packages.items():
            if package.how in ("assumed", "range"):
                open_.add(name)
            if package.version is not None and package.how != "assumed":
                age = _age(kb, name, package.version)
                if age in ("older", "newer"):
                    release = f"{name} {package.version} is {age} than the records"
                    found.add(f"{release}: not verified for this release.")
    unlisted: list[str] = []
    for read in reads:
        path = read.facts.path
        for stated in read.versions.packages:
            name, version = kb.distribution(stated.name), stated.version
            if name in open_ and version and _age(kb, name, version) == "unlisted":
                unlisted.append(f"{path}:{stated.line} states {name} {version}")
        is_base = read.facts.kind == "docker"
        for image in read.versions.images if not open_.isdisjoint(VERSION_OPTIONS) else ():
            if is_unlisted(kb, image.reference, is_base):
                unlisted.append(f"{path}:{image.line} states {image.reference}")
    return [*sorted(found), *(f"{statement}, which no record has." for statement in unlisted)]


def _age(kb: KnowledgeBase, name: str, version: str) -> str:
    released = kb.releases(name)
    if is_before_all(version, released):
        return "older"
    try:
        return "newer" if candidates(name, version, released).how == "newer" else "listed"
    except UsageError:
        return "unlisted"
