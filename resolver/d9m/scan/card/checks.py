"""The lines of a card. Which settings a program needs is the advice of the records for its
environment; here they are put into lines and held against what the program makes.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping, Sequence

import msgspec

from d9m import api
from d9m.environment.environment import Setup
from d9m.errors import D9mError
from d9m.model.advice import Advice, OpAnswer
from d9m.model.settings import Step
from d9m.render.phrases import join
from d9m.scan.card.certain import CertainCode
from d9m.scan.card.environment import stack_of
from d9m.scan.card.launches import ProgramStart, ranks_of
from d9m.scan.card.settings import ProgramSettings, SettingState, in_order
from d9m.scan.card_line import LINES, CardCheck, Status
from d9m.scan.facts import WrittenCall
from d9m.scan.project.knowledge import Generator
from d9m.scan.project.programs import Program
from d9m.scan.project.project import Project
from d9m.scan.project.questions import PackageStack
from d9m.scan.reading.expressions import shown
from d9m.scan.rules.loaders import LoaderCall, loadings
from d9m.scan.rules.ops import op_answers
from d9m.scan.rules.seeds import draws

FEW = 2
"""Sources that a setting may fix and still count as one for single ops."""

MOST_OPS = 3

PYTHON = "python/"
"""How the ids of settings begin that Python itself reads."""


class CardLines:
    """The lines of one program's card."""

    def __init__(
        self,
        project: Project,
        program: Program,
        started: Sequence[ProgramStart],
        certain: CertainCode,
        faults: frozenset[tuple[str, int]],
    ) -> None:
        self._project = project
        self._program = program
        self._started = started
        self._certain = certain
        stack = stack_of(project, program, certain)
        self._settings = ProgramSettings(project, program, started, certain, stack, faults)
        facts = {**self._settings.decided(), **dict(stack.facts)}
        self._stack = msgspec.structs.replace(stack, facts=tuple(sorted(facts.items())))
        self.ranks = ranks_of(started)

    def checks(self) -> list[CardCheck]:
        advice = self._advice()
        if advice is None:
            stated = join([f"{name} {version}" for name, version in self._stack.packages])
            text = f"the records do not know {stated or 'these releases'} together: which is it?"
            return [_check("card-release", "unknown", text)]
        lines: dict[str, list[Step]] = {}
        for step in advice.steps:
            code = self._line_of(step, advice)
            if code:
                lines.setdefault(code, []).append(step)
        found = list(self._seeds(lines.pop("card-seeds", [])))
        for code in ("card-flag", "card-cudnn"):
            found += self._of_settings(code, lines.get(code, []))
        found += self._workers()
        found += self._collectives(lines.get("card-collectives", []))
        found += self._of_settings("card-hash-seed", lines.get("card-hash-seed", []))
        found += self._ops("with the flag" if "card-flag" in lines else "whatever is set")
        return found

    def _advice(self) -> Advice | None:
        """Return what ``d9m advise`` says of the environment of the program."""
        facts = dict(self._stack.facts)
        if self._is_distributed():
            facts["distributed"] = "true"
        stack = msgspec.structs.replace(self._stack, facts=tuple(sorted(facts.items())))
        return _asked(self._project, stack)

    def _is_distributed(self) -> bool:
        return self.ranks not in ("", "1") or (not self.ranks and self._has_collectives())

    def _has_collectives(self) -> bool:
        marks = self._project.vocabulary.marks("collectives")
        return any(True for _call in self._program.calls(marks))

    # --- which line a setting belongs to -------------------------------------------------

    def _line_of(self, step: Step, advice: Advice) -> str:
        """Return the code of the line; empty for a setting that only ops need which the program
        does not call, and for one that no file can show.
        """
        setting = self._project.kb.settings.get(step.name)
        if any(step.name in each.settings for each in self._generators()):
            return "card-seeds"
        if step.kind in ("code", "config", "install") or setting is None:
            return ""
        is_of_python = self._project.kb.setting_ids[step.name].startswith(PYTHON)
        if is_of_python and setting.read == "process-start":
            return "card-hash-seed"
        if step.name in self._for_ranks(advice):
            return "card-collectives"
        covers: set[str] = set()
        for solution in advice.solutions:
            if solution.label in step.solutions:
                covers.update(solution.covers)
        is_of_few = step.kind == "env" and len(covers) <= FEW
        if is_of_few and covers.isdisjoint(self._sources):
            return ""
        return "card-cudnn" if "cudnn" in step.name.lower() else "card-flag"

    def _for_ranks(self, advice: Advice) -> set[str]:
        """Return the settings that several ranks need, and one alone does not."""
        if not self._is_distributed():
            return set()
        alone = _asked(self._project, self._stack)
        found = {step.name for step in advice.steps}
        found.difference_update(step.name for step in (alone.steps if alone is not None else ()))
        labels: set[str] = set()
        for op in advice.ops:
            if op.query == "*":
                labels.update(label for source in op.sources for label in source.solutions)
        found.update(step.name for step in advice.steps if not labels.isdisjoint(step.solutions))
        return found

    @functools.cached_property
    def _sources(self) -> frozenset[str]:
        """Ids of the sources that ops of the program meet."""
        return frozenset(source.id for _path, _call, op in self._answers for source in op.sources)

    @functools.cached_property
    def _answers(self) -> list[tuple[str, WrittenCall, OpAnswer]]:
        """Return the answers for the ops that the files of the program call."""
        kinds = self._project.kb.packages
        names = (name for name, _version in self._stack.packages)
        home = next((name for name in names if kinds[name].kind == "framework"), "")
        found: list[tuple[str, WrittenCall, OpAnswer]] = []
        for path, call, answer in op_answers(self._project, self._program, home, self._stack.facts):
            if not self._certain.is_foreign(path, call.place.line):
                found.append((path, call, answer))
        return found

    def _generators(self) -> list[Generator]:
        return self._project.knowledge.generators

    # --- lines of settings ---------------------------------------------------------------

    def _of_settings(self, code: str, steps: Sequence[Step]) -> Iterator[CardCheck]:
        states = {step.name: self._settings.state(step) for step in steps}
        if not states or all(step.kind in ("unset", "avoid") for step in steps):
            states = {name: state for name, state in states.items() if state.status != "ok"}
        if states:
            by_name = {step.name: step for step in steps}
            status = in_order(states)
            shown = [name for name, state in states.items() if state.status == status]
            parts: list[str] = []
            nowhere: list[str] = []
            for name in shown:
                if status != "ok" and states[name].made is None:
                    nowhere.append(written(self._project, by_name[name]))
                else:
                    parts.append(self._says(by_name[name], states[name]))
            parts += self._set_nowhere(nowhere)
            yield _check(code, status, "; ".join(parts), states[shown[0]])

    def _says(self, step: Step, state: SettingState) -> str:
        """Say in half a sentence how a setting is made: ``benchmark = True (train.py:88)``."""
        made, wanted = state.made, written(self._project, step)
        if made is None:
            return f"{wanted} is the default, and nothing here changes it"
        where = self._project.spot(made.path, made.line)
        if step.kind in ("unset", "avoid"):
            return f"{step.name} is set ({where})"
        if made.warns:
            only = "only warns where an op has no deterministic version"
            return f"{made.by or wanted} {only} ({where})"
        said = step.name
        if made.value:
            said = shown(written(self._project, step, made.value))
        elif not made.is_given or step.value is None or step.kind == "flags":
            said = wanted
        by = f" by {made.by}" if made.by else ""
        instead = f", not {wanted}" if state.is_bad and step.kind != "python" else ""
        return f"{said}{by}{f' {made.doubt}' if made.doubt else ''} ({where}){instead}"

    # --- seeds ---------------------------------------------------------------------------

    def _seeds(self, steps: Sequence[Step]) -> Iterator[CardCheck]:
        """Generators that the program uses: that of a framework that it imports, and those that it
        draws from.
        """
        states: dict[str, SettingState] = {}
        wanted: dict[str, Step] = {}
        seeded = False
        for generator in self._generators():
            step = next((one for one in steps if one.name in generator.settings), None)
            if step is None:
                continue
            state = self._reseeded(generator, self._settings.state(step))
            seeded = seeded or state.made is not None
            if state.made is not None or self._needs(generator):
                states[generator.title], wanted[generator.title] = state, step
        others = self._frameworks_without_generator()
        if others and (not states or in_order(states) == "ok"):
            text = f"how {join(others)} is seeded is not read: does each draw get a fixed seed?"
            yield _check("card-seeds", "unknown", text)
        elif states:
            yield self._seed_line(states, wanted)

    def _reseeded(self, generator: Generator, state: SettingState) -> SettingState:
        """Return the state of a seed, doubtful where a call takes a new one later."""
        made = state.made
        if made is None or state.status != "ok":
            return state
        for path, call in self._program.calls(generator.marks.seeds):
            is_before = path == made.path and call.place.line <= made.line and not call.in_loop
            foreign = self._certain.is_foreign(path, call.place.line)
            if call.gets_nothing and not is_before and not foreign:
                where = self._project.spot(path, call.place.line)
                doubt = f"until {call.name}() in {where} takes a new seed"
                return SettingState("unknown", msgspec.structs.replace(made, doubt=doubt))
        return state

    def _seed_line(
        self, states: Mapping[str, SettingState], steps: Mapping[str, Step]
    ) -> CardCheck:
        status = in_order(states)
        shown = {title: state for title, state in states.items() if state.status == status}
        first = next(iter(shown.values()))
        places: dict[tuple[str, str, str], list[tuple[int, str]]] = {}
        for title, state in shown.items():
            if state.made is not None:
                doubt = state.made.doubt or ("without a fixed seed" if state.is_bad else "")
                where = (state.made.path, state.made.by, doubt)
                places.setdefault(where, []).append((state.made.line, title))
        parts: list[str] = []
        for (path, by, doubt), there in places.items():
            where = self._project.spot(path, min(there)[0])
            words = [", ".join(title for _line, title in there), f"by {by}" if by else "", doubt]
            parts.append(f"{' '.join(filter(None, words))} ({where})")
        nowhere = [written(self._project, steps[title]) for title in shown if not shown[title].made]
        if status == "ok":
            return _check("card-seeds", status, "; ".join(parts), first)
        others = bool(parts)
        parts += self._set_nowhere(nowhere)
        library = self._seeding_library() if status == "missing" and nowhere else ""
        asked = library or (self._unseen_seeding() if status == "missing" and nowhere else "")
        if asked and not others:
            return _check("card-seeds", "unknown", f"{parts[0]}; does {asked} seed?")
        return _check("card-seeds", status, "; ".join(parts), first)

    def _set_nowhere(self, settings: Sequence[str]) -> list[str]:
        if not settings:
            return []
        unread = ""
        if self._settings.unread:
            unread = f" that could be read: what does {self._settings.unread[0]} set?"
        return [f"{join(settings)} {'is' if len(settings) == 1 else 'are'} set nowhere{unread}"]

    def _needs(self, generator: Generator) -> bool:
        """Whether a program needs a generator seeded: it imports the framework that has it, or
        draws from it.
        """
        package = generator.marks.package
        kinds = self._project.kb.packages
        if package in dict(self._stack.packages) and kinds[package or ""].kind == "framework":
            return True
        return any(
            drawn.title == generator.title
            for drawn, _path, _call in draws(self._project, self._program)
        )

    def _frameworks_without_generator(self) -> list[str]:
        known = {generator.marks.package for generator in self._generators()}
        found: list[str] = []
        for name, _version in self._stack.packages:
            package = self._project.kb.packages[name]
            if package.kind == "framework" and name not in known:
                found.append(package.title)
        return found

    def _unseen_seeding(self) -> str:
        """Return a call whose name says that it seeds, and whose code is not here."""
        scopes = (each for facts in self._program.files.values() for each in facts.scopes)
        own = {each.name.rpartition(".")[2] for each in scopes}
        for path, facts in self._program.files.items():
            for line, name in facts.may_seed:
                if name not in own:
                    return f"{name}() ({self._project.spot(path, line)})"
        return ""

    def _seeding_library(self) -> str:
        """Return a library of the program that has calls which seed, and may do so unasked."""
        kb = self._project.kb
        names = {setting for each in self._generators() for setting in each.settings}
        for id_, helper in kb.helpers.items():
            home = kb.meta.folders.get(id_.partition("/")[0], "")
            if home not in dict(self._stack.packages) or kb.packages[home].kind == "framework":
                continue
            if any(change.set in names for change in helper.sets):
                return kb.packages[home].title
        return ""

    # --- workers, collectives, ops ---------------------------------------------------------

    def _workers(self) -> Iterator[CardCheck]:
        """Yield loaders with worker processes, which need a generator and a function for seeds."""
        open_: list[tuple[LoaderCall, str]] = []
        good: list[LoaderCall] = []
        for one in loadings(self._project, self._program):
            count = one.argument(one.loader.workers)
            if self._certain.is_foreign(one.path, one.call.place.line):
                continue
            if one.is_plain and count in ("", "0", "None"):
                continue
            names = (one.loader.generator, one.loader.starts_worker)
            if not one.is_plain or any(one.argument(name) in ("", "None") for name in names):
                open_.append((one, count))
            else:
                good.append(one)
        if open_:
            one, count = open_[0]
            yield self._loader_line("unknown", one, count, len(open_) - 1)
        elif good:
            yield self._loader_line("ok", good[0], good[0].argument(good[0].loader.workers), 0)

    def _loader_line(self, status: Status, one: LoaderCall, count: str, more: int) -> CardCheck:
        name, loader = one.call.name.rpartition(".")[2], one.loader
        where = self._project.spot(one.path, one.call.place.line)
        given = shown(f"{name}({loader.workers}={count})") if count else f"{name}(…)"
        names = (loader.generator, loader.starts_worker)
        if status == "ok":
            text = f"{given} with {join([f'{each}=' for each in names])} ({where})"
        else:
            left = [f"{each}=" for each in names if one.argument(each) in ("", "None")]
            without = f" without {join(left)}" if left else ""
            text = f"{given}{without} ({where}){f' and {more} more' if more else ''}"
        return _check("card-workers", status, text, path=one.path, line=one.call.place.line)

    def _collectives(self, steps: Sequence[Step]) -> Iterator[CardCheck]:
        ranks = f"; {self.ranks} ranks" if self.ranks.isdigit() else ""
        for check in self._of_settings("card-collectives", steps):
            if ranks or check.status == "ok":
                yield msgspec.structs.replace(check, text=check.text + ranks)
            else:
                text = f"{check.text}; needed with several ranks: how many are there?"
                yield msgspec.structs.replace(check, status="unknown", text=text)

    def _ops(self, when: str) -> Iterator[CardCheck]:
        """Ops that raise an error or stay nondeterministic with the flag."""
        found: dict[str, tuple[str, str, int]] = {}
        for path, call, answer in self._answers:
            if not call.without_gradients and answer.outcome in ("raises", "unsolved"):
                says = "raises an error" if answer.outcome == "raises" else "nondeterministic"
                name = call.name.rpartition(".")[2]
                found.setdefault(f"{name} {says}", (says, path, call.place.line))
        if found:
            by_outcome: dict[str, list[str]] = {}
            for title, (says, path, line) in list(found.items())[:MOST_OPS]:
                where = self._project.spot(path, line)
                by_outcome.setdefault(says, []).append(
                    f"{title.removesuffix(f' {says}')} ({where})"
                )
            parts = [f"{', '.join(names)}: {says} {when}" for says, names in by_outcome.items()]
            more = f"; {len(found) - MOST_OPS} more" if len(found) > MOST_OPS else ""
            text = "; ".join(parts) + more
            _says, path, line = next(iter(found.values()))
            yield _check("card-ops", "unknown", text, path=path, line=line)


def _asked(project: Project, stack: PackageStack) -> Advice | None:
    return project.kb.once(f"card {stack}", lambda: _advised(project, stack))


def _advised(project: Project, stack: PackageStack) -> Advice | None:
    try:
        setup = Setup(stack.packages, stack.container, stack.device, stack.facts)
        return api.advise(project.kb, setup)
    except D9mError:
        return None


def written(project: Project, step: Step, value: str | None = None) -> str:
    """Return a setting as one would paste it: ``torch.backends.cudnn.benchmark = False``."""
    value = value or step.value
    if step.kind in ("env", "append"):
        return f"{step.name}={value}"
    if step.kind != "python":
        return f"{step.name}{f'={value}' if value and step.kind != 'install' else ''}"
    if step.any_value:
        return step.name
    statement = project.kb.settings[step.name].statement or step.name
    return statement.replace("{value}", value or "")


def _check(
    code: str,
    status: Status,
    text: str,
    state: SettingState | None = None,
    path: str = "",
    line: int = 0,
) -> CardCheck:
    if state is not None and state.made is not None:
        path, line = state.made.path, state.made.line
    return CardCheck(code, LINES[code].name, status, text, path, line)
