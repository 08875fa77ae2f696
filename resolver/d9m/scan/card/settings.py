"""The settings of a program: where each is made, and whether that is what is advised."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

import msgspec

from d9m.kb.store import KnowledgeBase
from d9m.model.settings import Step
from d9m.resolve import values
from d9m.scan.card.certain import CertainCode
from d9m.scan.card.launches import NOT_EVERYWHERE, ProgramStart, set_by_jobs
from d9m.scan.card_line import WORST_FIRST, Status
from d9m.scan.facts import BY_PROCESS
from d9m.scan.project.effects import Effect, as_recorded
from d9m.scan.project.made import Made
from d9m.scan.project.programs import Program
from d9m.scan.project.project import Project
from d9m.scan.project.questions import PackageStack

FROM_CHANCE = "from a value that differs between runs"

_ARITHMETIC = re.compile(r"[-+\d][-+\d\s.*()_e]*")


def _is_seed(value: str) -> bool:
    """Whether every generator takes a number: NumPy's takes the least, 32 bits without a sign."""
    return value.replace("_", "").isdigit() and int(value) < 1 << 32


class SettingState(msgspec.Struct, frozen=True):
    """Whether a program makes a setting as advised, and the place that decides it."""

    status: Status
    made: Made | None = None
    is_bad: bool = False
    """Whether that place gives it another value than advised."""


class ProgramSettings:
    """The settings of the code and the jobs of one program."""

    def __init__(
        self,
        project: Project,
        program: Program,
        started: Sequence[ProgramStart],
        certain: CertainCode,
        stack: PackageStack,
        faults: frozenset[tuple[str, int]],
    ) -> None:
        """`faults`: lines with an error, so that what they set may not count."""
        self._project = project
        self._program = program
        self._started = started
        self._faults = faults
        self._certain = certain
        self._stack = stack
        self.unread = [path for path, facts in program.files.items() if facts.unreadable]
        """Files that it reaches and that may set anything."""
        self._effects: dict[str, list[Effect]] = {}
        for path in program.files:
            for effect in project.effects[path]:
                self._effects.setdefault(effect.setting, []).append(effect)

    def decided(self) -> dict[str, str]:
        """Return the facts that the settings of the program certainly decide."""
        found: dict[str, str] = {}
        for name, setting in self._project.kb.settings.items():
            for made in self.made(name) if setting.decides else ():
                found.update({} if made.doubt else setting.decides.get(made.value or "", {}))
        return found

    def state(self, step: Step) -> SettingState:
        """Return how a program makes an advised setting. Setting it to something else certainly is
        missing, as is setting it nowhere, unless that is its default.
        """
        good: list[Made] = []
        bad: list[Made] = []
        for made in self.made(step.name):
            is_good = fits(self._project.kb, step, made)
            if is_good and (made.path, made.line) in self._faults:
                made = msgspec.structs.replace(made, doubt="with the error below")
            made = msgspec.structs.replace(made, doubt=_doubt_of_value(step, made))
            (good if is_good else bad).append(made)
        if step.kind in ("unset", "avoid"):
            return SettingState("missing", bad[0], True) if bad else SettingState("ok")
        certain = [made for made in good if not made.doubt and not made.warns]
        differing = [made for made in good if made.doubt == FROM_CHANCE]
        if differing and not bad:
            return SettingState("unknown", differing[0])
        if bad:
            is_sure = not good and any(not made.doubt and made.value for made in bad)
            return SettingState("missing" if is_sure else "unknown", bad[0], True)
        if certain:
            return SettingState("ok", certain[0])
        if good:
            return SettingState("unknown", good[0])
        setting = self._project.kb.settings.get(step.name)
        if self.unread:
            return SettingState("unknown")
        if setting is not None and setting.default is not None and setting.default == step.value:
            return SettingState("ok")
        return SettingState("missing", next(self._too_late(step.name), None))

    def _too_late(self, name: str) -> Iterator[Made]:
        """Yield where code sets a variable that is read only when a process starts."""
        holds = self._project.questions.holds
        for effect in self._effects.get(name, ()):
            if all(holds(self._stack, when) for when in effect.when):
                yield msgspec.structs.replace(self._made(effect), doubt="is set too late")

    def made(self, name: str) -> Iterator[Made]:
        """Yield where a setting is made, by code first."""
        setting = self._project.kb.settings.get(name)
        if setting is not None and setting.kind == "flag":
            yield from self._typed(name)
        generators = (each.settings for each in self._project.knowledge.generators)
        same = next((names for names in generators if name in names), (name,))
        effects = [effect for each in sorted(same) for effect in self._effects.get(each, ())]
        for effect in effects:
            is_late = setting is not None and setting.read == "process-start"
            write = effect.write
            if is_late and (write is None or write.how in BY_PROCESS):
                continue
            if write is None or write.how in BY_PROCESS:
                yield self._made(effect)
        if setting is None or setting.kind == "env":
            yield from set_by_jobs(self._project, self._started, name)

    def _typed(self, option: str) -> Iterator[Made]:
        """Yield the commands that give an option."""
        given = [each for each in self._started if option in each.launch.options]
        doubt = "" if len(given) == len(self._started) else NOT_EVERYWHERE
        for each in given:
            yield Made("", each.path, each.launch.place.line, doubt)

    def _made(self, effect: Effect) -> Made:
        call = effect.call
        doubt = self._certain.doubt(
            effect.path,
            effect.scope,
            effect.place.line,
            effect.arms,
            effect.guarded or (call is not None and call.fallback),
        )
        questions = self._project.questions
        if not all(questions.surely_holds(self._stack, when) for when in effect.when):
            doubt = doubt or "not in every release"
        if effect.helper is not None and call is not None:
            known = as_recorded(effect.helper, call)
            by_place = len(call.positional) + len(known.keywords.keys() & call.keywords.keys())
            own = effect.setting.rpartition(".")[2] in call.keywords and not effect.any_value
            if own or by_place > len(known.positional) + len(known.keywords):
                doubt = doubt or "if its arguments say so"
        in_loop = call is not None and call.in_loop
        doubt = doubt or ("only in a loop" if in_loop else self._doubt_of_time(effect))
        value = effect.value
        if effect.any_value and call is not None:
            value = next(iter((*call.positional, *call.keywords.values())), None)
        return Made(
            value,
            effect.path,
            effect.place.line,
            doubt or self._doubt_of_seed(effect, value),
            call is None or not call.gets_nothing or effect.helper is not None,
            effect.write is not None or (effect.helper is not None and not effect.any_value),
            effect.by if effect.helper is not None else "",
            effect.warns and effect.setting in self._project.knowledge.switches,
        )

    def _doubt_of_time(self, effect: Effect) -> str:
        """Return what may have read a variable before code sets it."""
        if effect.write is None:
            return ""
        facts, vocabulary = self._program.files[effect.path], self._project.vocabulary
        settings = {each.place.line for each in self._project.effects[effect.path]}
        readers = dict(self._stack.packages)
        for call in facts.calls:
            is_before = call.scope == effect.scope and call.place.line < effect.place.line
            reads = vocabulary.package(call.name.partition(".")[0]) in readers
            if is_before and reads and call.place.line not in settings:
                return f"after {call.name}()"
        return ""

    def _doubt_of_seed(self, effect: Effect, value: str | None) -> str:
        """Return why a value may differ between runs: it is drawn, or None unless it is typed."""
        vocabulary = self._project.vocabulary
        made_from = effect.call.made_from if effect.call is not None else ()
        chance, draws = vocabulary.marks("chance"), vocabulary.marks("draws")
        if any(name in chance or name in draws for name in made_from):
            return FROM_CHANCE
        if _ARITHMETIC.fullmatch(value or "") and not _is_seed(value or ""):
            return "with a value that not every generator takes"
        name = (value or "").rpartition(".")[2]
        if (effect.scope, name) in self._program.files[effect.path].none_by_default:
            return "and its seed is None by default"
        for facts in self._program.files.values():
            if (name, True) in facts.options:
                return f"from --{name}, which has no default"
        return ""


_LITERAL = re.compile(r"True|False|[-+]?[\d.][\w.+-]*|(['\"]).*\1")


def _doubt_of_value(step: Step, made: Made) -> str:
    """Return why the text does not say the value; empty where it does, or any value of code would
    do.
    """
    is_open = step.any_value and not made.is_text
    if made.doubt or is_open or step.value is None or not made.is_given:
        return made.doubt
    is_known = made.value is not None and (made.is_text or _LITERAL.fullmatch(made.value))
    return "" if is_known else "with a value that the text does not show"


def fits(kb: KnowledgeBase, step: Step, made: Made) -> bool:
    """Whether a value is what is advised, or may be."""
    if step.kind in ("unset", "avoid"):
        return False
    if step.value is not None and not made.is_given:
        return False
    if step.value is None or (made.value is None and made.doubt):
        return True
    if made.value is None:
        return step.any_value
    value = made.value if made.is_text else made.value.strip("'\"")
    is_name = not made.is_text and not _LITERAL.fullmatch(made.value) and value != "None"
    return values.suits(kb, step, value) or (is_name and value not in ("False", "True"))


def in_order(states: Mapping[str, SettingState]) -> Status:
    """Return the worst status of several."""
    found = {state.status for state in states.values()}
    for status in WORST_FIRST:
        if status in found:
            return status
    return "ok"
