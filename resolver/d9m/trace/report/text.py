"""Findings at a terminal: the verdict, a block for each cause, what was not seen."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

import msgspec

from d9m.kb.store import KnowledgeBase
from d9m.render import phrases
from d9m.render.page import WIDTH, Page, Span
from d9m.resolve.solution_names import written
from d9m.trace.findings import FROM_PYTHON, FROM_PYTHON_KINDS, Cause, CauseAdvice, Findings
from d9m.trace.report import fixes, sentences, verdict

MOST = 5
"""Causes that are shown without `--all`."""

MOST_SHAPES = 8
"""Inputs of an op whose shapes are shown."""

_UNSEEN = {
    "thread": "threads that the program started itself",
    "cuda-graph": "ops that CUDA graphs replayed",
    "compiled": "the inside of compiled graphs",
    "compiler": (
        "any op after the first torch.compile: before PyTorch 2.9 nothing is compiled while ops "
        "are recorded (--level module shows what modules return)"
    ),
    "mode": "ops under another dispatch mode",
    "subclass": "the content of tensors whose class has no memory and no __tensor_flatten__",
    "level": "computations of JAX, which has no --level module",
    "loop": "the inside of loops of JAX that are too long to run op by op, or many in one by vmap",
    "devices": "the inside of shard_map and pmap of JAX: each is one op for all devices",
    "size": "everything after the size limit",
    "fault": "a part where the recorder failed",
}


class FindingsView(msgspec.Struct, frozen=True):
    """Findings, and what a reader asked to see of them."""

    findings: Findings
    kb: KnowledgeBase
    """Looks up names and titles; a format takes no facts from it."""
    everything: bool = False
    command: str = "python train.py"
    """The program that was recorded."""
    width: int = WIDTH
    options: str = ""
    """Of the hunt that found this: hunts that follow it need them, too."""


def render(view: FindingsView) -> Page:
    found = view.findings
    page = Page(view.width)
    page.paragraph(verdict.sentences(found), style=verdict.style(found))
    page.paragraph(" · ".join(machine(view)), style="dim")
    page.gap()
    _fixed(page, view)
    if found.lacks:
        page.line(Span("The checkpoint lacks", "head"))
        for what in found.lacks:
            page.marked(Span("–"), "", what)
        page.gap()
    causes = found.causes if view.everything else found.causes[:MOST]
    for number, cause in enumerate(causes, 1):
        _cause(page, view, number, cause)
    if len(causes) < len(found.causes):
        page.line(f"{phrases.plural(len(found.causes) - len(causes), 'more cause')}: --all")
        page.gap()
    _closer(page, view)
    _harmless(page, view)
    for note in notes(found):
        page.marked(Span("!", "doubt"), "", note)
    page.gap()
    _next(page, view)
    page.paragraph(extent(found), style="dim")
    return page


def _fixed(page: Page, view: FindingsView) -> None:
    """The fixes that were applied, one after another."""
    found = view.findings
    if not found.fixes:
        return
    page.line(Span("Fixed", "head"))
    for number, each in enumerate(found.fixes, 1):
        page.paragraph(sentences.sentence(found, each.cause), f"{number}  ", style="head")
        if sentences.place(each.cause):
            page.paragraph(sentences.place(each.cause), "   where    ", " " * 12)
        page.paragraph(fixes.applied(each), "   Fix      ", " " * 12)
    page.gap()
    if found.causes:
        page.line(Span("Left", "head"))
    elif view.command:
        page.line("To start it reproducibly, with the statements above:")
        page.line(f"  {fixes.command(found, view.command)}")
        page.gap()


def machine(view: FindingsView) -> list[str]:
    found = view.findings
    versions = _frameworks(view)
    parts = [f"{phrases.title(view.kb, name)} {version}" for name, version in versions.items()]
    device = (found.device or "").partition(":")[0]
    parts.append(phrases.DEVICES.get(device, device))
    if found.threads is not None and device == "cpu":
        parts.append(phrases.plural(found.threads, "thread"))
    return [part for part in [*parts, verdict.processes(found)] if part]


def _cause(page: Page, view: FindingsView, number: int, cause: Cause) -> None:
    indent = "  "
    if len(view.findings.causes) > 1:
        indent = "   "
        page.paragraph(sentences.sentence(view.findings, cause), f"{number}  ", style="head")
    for name, text in facts(view, cause):
        page.paragraph(text, f"{indent}{name:<8} ", " " * (len(indent) + 9))
    for line in fix(view, cause):
        page.line(f"{indent}{line}")
    page.gap()


def facts(view: FindingsView, cause: Cause) -> Iterator[tuple[str, str]]:
    if cause.kind != "op" and cause in view.findings.inside:
        yield "what", sentences.sentence(view.findings, cause)
    if cause.op is not None and cause.op != FROM_PYTHON:
        yield "op", sentences.call(cause)
    if sentences.place(cause):
        yield "where", sentences.place(cause)
    if cause.origin is not None:
        yield "from", fixes.origin(cause)
    if cause.inputs:
        yield "shapes", _shapes(cause.inputs)
    if len(view.findings.runs[0].processes) > 1:
        yield "rank", sentences.where(cause)
    if cause.replay is not None:
        yield "alone", alone(cause)
    if cause.reaches.steps() or cause.inherited:
        yield "reaches", sentences.reaches(cause)
    doubtful = not cause.certain and cause not in view.findings.candidates
    doubtful = doubtful and not (cause.kind == "compiled" and cause.hints)
    if sentences.follows(cause):
        yield "but", f"it may be {sentences.follows(cause)}"
    elif doubtful and cause.kind in ("op", "compiled", "outside-value", "outside-write"):
        yield "but", _doubt(view.findings, cause)
    for hint in cause.hints:
        yield "but", hint
    known = view.kb.sources
    for name in cause.advice.sources if cause.advice else []:
        if name in known:
            yield "why", f"{known[name].title} (d9m show {name})"


def _shapes(inputs: Sequence[str]) -> str:
    """An op such as cat can have thousands of inputs, and most of them are alike."""
    shapes: list[str] = []
    for shape, alike in groupby(inputs):
        count = len(list(alike))
        shapes.append(shape if count == 1 else f"{count} x {shape}")
    rest = len(shapes) - MOST_SHAPES
    more = f" and {rest} more" if rest > 0 else ""
    return ", ".join(shapes[:MOST_SHAPES]) + more


def _doubt(found: Findings, cause: Cause) -> str:
    settings = (other for other in found.causes if other.kind == "settings")
    if any(other.step <= cause.step for other in settings):
        return "the different settings may explain it"
    if found.runs[0].inputs != "exact":
        return "inputs were not hashed again when they were read: record with --inputs exact"
    return "it may have differed before the recorded steps"


def alone(cause: Cause) -> str:
    """Return what came out when the op was called again and again with the recorded values."""
    replay = cause.replay
    if replay is None:
        return ""
    if replay.distinct == 1:
        return (
            f"the same result in all {replay.repeats} calls: deterministic when called alone, so "
            "concurrent work or the memory that it gets plays a part"
        )
    text = f"{replay.distinct} different results in {replay.repeats} calls"
    if replay.changed:
        text += f"; {share(replay.changed)} of the elements"
        if replay.max_ulp is not None:
            text += f", up to {replay.max_ulp} ulp (units in the last place)"
    if replay.advice_error is not None:
        text += f"; with the fix, the op fails: {replay.advice_error}"
    elif replay.with_advice == 1:
        text += "; with the fix, the same result in every call"
    elif replay.with_advice is not None:
        text += f"; with the fix, still {replay.with_advice} different results"
    return text


def share(part: float) -> str:
    """``84%``; ``under 1%`` of a few."""
    return "under 1%" if part < 0.01 else f"{part:.0%}"


def fix(view: FindingsView, cause: Cause) -> list[str]:
    """Return what to do about it, in lines to copy."""
    lines: list[str] = []
    causes = view.findings.causes
    if any(causes[number].kind == "settings" for number in cause.may_follow):
        return []
    if cause.fix is not None:
        lines = [f"{lead}{text}" for lead, text in _led("Fix", fixes.settings(cause.fix))]
        lines.append(f"         {fixes.proof(cause.fix)}")
        if not cause.fix.proved:
            lines += _hunted(view, "To go on with this fix:", "--fix")
    elif fixes.edit(cause):
        lines.append(f"Edit     {fixes.edit(cause)}")
    elif cause.advice is not None:
        lines += _advised(view, cause.advice)
    elif cause.kind in ("op", "collective") and not (cause.hints or cause.draws):
        lines.append("Fix      not verified: no record of this op; please send us this answer")
    for name in () if cause.fix is not None else cause.records:
        for table in (view.kb.ingredients, view.kb.sources):
            if name in table:
                lead = "Fix      " if not lines else "         "
                lines.append(f"{lead}{table[name].title}: d9m show {name}")
    return ["", *lines] if lines else []


def _led(lead: str, texts: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Yield each text with what comes before it: `lead` before the first one."""
    for text in texts:
        yield f"{lead:<9}", text
        lead = ""


def _advised(view: FindingsView, advice: CauseAdvice) -> list[str]:
    question = _question(view, advice.query)
    if advice.already:
        return [
            f"Fix      {phrases.calls(view.kb, advice.solutions)} was set in both runs, and the",
            "         results differ. That contradicts our records: please send us this run",
            f"         {question}",
        ]
    if advice.solutions:
        labels = " ".join(
            f"--set {shlex.quote(written(view.kb, label))}" for label in advice.solutions
        )
        return [
            f"Fix      {phrases.calls(view.kb, advice.solutions)}",
            f"         {question}",
            *_hunted(view, "To test the fix:", labels),
        ]
    does = {
        "raises": "none: it raises an error with the deterministic setting",
        "unsolved": "nondeterministic; no setting fixes it",
        "depends": "depends on more than the recording shows",
        "unknown": "not verified for this release",
    }.get(advice.outcome, "our records say that it is deterministic: please send us this answer")
    return [f"Fix      {does}", f"         {question}"]


def _hunted(view: FindingsView, why: str, options: str = "") -> list[str]:
    """A hunt to start; none of a notebook, which no command starts again."""
    if not view.command:
        return []
    return [f"         {why}", f"         {_hunt(view, options)}"]


def _hunt(view: FindingsView, options: str = "") -> str:
    words = ["d9m hunt", options, view.options, "--", view.command]
    return " ".join(filter(None, words))


def _hunt_again(view: FindingsView) -> str:
    """Return the hunt of what was compared; empty where none can find it."""
    a, b = (shlex.join(run.command) for run in view.findings.runs)
    if not view.command or view.findings.resumed_after is not None:
        return ""
    return _hunt(view) if a == b else f"d9m hunt --a {shlex.quote(a)} --b {shlex.quote(b)}"


def _frameworks(view: FindingsView) -> dict[str, str]:
    known = view.kb.meta.prefixes
    return {name: text for name, text in view.findings.packages.items() if name in known}


def _question(view: FindingsView, query: str) -> str:
    found = view.findings
    versions = _frameworks(view).items()
    options = [f"--with {name}={version.partition('+')[0]}" for name, version in versions]
    packages = " ".join(options).replace("--with torch=", "--torch ")
    device = (found.device or "cpu").partition(":")[0]
    return f"d9m advise {packages} --device {device} --ops {shlex.quote(query)}"


def _closer(page: Page, view: FindingsView) -> None:
    """Ops that are not causes as the program runs, but say where to look."""
    for head, ops in closer(view.findings):
        page.line(Span(head, "head"))
        for cause in ops if view.everything else ops[:MOST]:
            for name, text in facts(view, cause):
                page.paragraph(text, f"  {name:<8} ", " " * 11)
            for line in fix(view, cause):
                page.line(f"  {line}")
            page.gap()
        if len(ops) > MOST and not view.everything:
            page.line(f"{len(ops) - MOST} more: --all")
            page.gap()


def closer(found: Findings) -> Iterator[tuple[str, list[Cause]]]:
    """Yield what can be said of ops that are not causes, and these."""
    if found.inside:
        yield sentences.inside(found.inside), found.inside
    if found.candidates:
        yield sentences.candidates(found.candidates), found.candidates


def _harmless(page: Page, view: FindingsView) -> None:
    harmless = view.findings.harmless
    if not harmless:
        return
    if view.everything:
        page.line(Span("Differences that reach nothing that is learned", "head"))
        for cause in harmless:
            where = sentences.place(cause)
            text = sentences.sentence(view.findings, cause)
            page.marked(Span("–"), "", f"{text} {where}".rstrip())
    else:
        count = len(harmless)
        differ = "1 other difference reaches" if count == 1 else f"{count} other differences reach"
        page.line(f"{differ} nothing that is learned: --all")
    page.gap()


def notes(found: Findings) -> list[str]:
    """Return what a reader must know of the comparison itself."""
    said = list(found.notes)
    said += verdict.gaps_in_notes(found)
    is_named = any(cause.kind == "settings" for cause in found.causes)
    if sentences.settings(found) and not is_named:
        said.append(f"The settings differ: {sentences.settings(found)}.")
    failed = any(gap.why == "recorder" for gap in found.incomplete)
    trains = found.learned and "jax" not in found.packages and not failed
    ends = sentences.STEP_ENDS.get(found.step_rule or "")
    by = f"Each step ended with {ends}. " if ends else ""
    if trains and not verdict.optimizer_seen(found):
        said.append(f"{by}No optimizer stepped, so no parameters were compared.")
    elif by:
        said.append(by.rstrip())
    if not found.learned and not any(cause.kind == "error" for cause in found.causes):
        said.append(
            "No optimizer stepped and backward() was never called, so nothing that is learned was "
            "compared."
        )
    seen = dict.fromkeys(_UNSEEN.get(unseen.what, unseen.what) for unseen in found.unseen)
    if seen:
        said.append(f"Not seen: {'; '.join(seen)}.")
    return said


def _next(page: Page, view: FindingsView) -> None:
    more = sentences.more_to_see(view.findings)
    if more is not None and not view.findings.stages:
        first = view.findings.first
        skipped = first is not None and sentences.between(view.findings, first.step)
        what = "To find the step, record these of both runs, or hunt:"
        if not skipped:
            what = "To see which op it is, record that step of both runs at --level op, or hunt:"
        page.line(what)
        page.line(f"  {more}")
        if _hunt_again(view):
            page.line(f"  {_hunt_again(view)}")
        page.gap()
    varies = any(cause.kind in FROM_PYTHON_KINDS for cause in view.findings.causes[:1])
    if varies and more is None and not view.findings.stages and _hunt_again(view):
        page.line("To find out where these values come from:")
        page.line(f"  {_hunt_again(view)}")
        page.gap()
    if any(gap.why == "steps" for gap in view.findings.incomplete):
        page.line("To compare the whole program:")
        page.line(f"  {_hunt(view, '--steps all')}")
        page.gap()
    bound = view.findings.bound
    if bound is not None:
        rare = "does not show in every run"
        if bound.runs > 2:
            rare = f"shows in fewer than {bound.pair:.0%} of pairs"
        page.paragraph(f"A difference that {rare} may be missed. To compare more runs:")
        page.line(f"  {_hunt(view, f'--runs {bound.runs * 4}')}")
        page.gap()


def extent(found: Findings) -> str:
    """Return what was compared."""
    counts = found.compared
    recorded = sum(stage.runs for stage in found.stages)
    runs = f"{recorded} runs recorded · " if recorded else ""
    parts = [f"{phrases.plural(counts.records, 'record')} compared"]
    if found.causes:
        parts.append(f"{counts.equal} equal")
    if found.bound is not None or (found.stages and not found.causes):  # a hunt removes them
        return runs + ", ".join(parts)
    return f"{runs}{', '.join(parts)} · {found.runs[0].path} and {found.runs[1].path}"
