"""What parameters and attributes are in a program, as far as its own calls say."""

from __future__ import annotations

import ast
import functools
from collections.abc import Collection, Mapping, Sequence

from d9m.scan.facts import DYNAMIC, OWN, FileFacts, Guard, LocalCall, Predicate, class_around
from d9m.scan.finding import Spot
from d9m.scan.project.call_graph import NO_FILE, CallGraph, Place, called_as, last_part
from d9m.scan.reading.guarding import ANY, NAME
from d9m.scan.syntax.predicates import answer

_ITSELF = ("cls", "__class__")
"""Names by which a class makes objects of itself."""


class KnownValues:
    """Knows which pieces of code a program never enters, because every call of a function gives
    its parameter a literal that their test refuses.
    """

    def __init__(
        self,
        files: Mapping[str, FileFacts],
        graph: CallGraph,
        configured: Collection[str],
        options: Mapping[str, Sequence[str]],
        stated: Collection[str] | None = None,
    ) -> None:
        """`configured`: classes and functions that something out of sight may call; `options`: what
        options of a command line are, to count as known; `stated`: values that some text states,
        if a name can be nothing else.
        """
        self._options = options
        self._stated = stated
        self._files = files
        self._graph = graph
        self._configured = configured
        self._given: dict[tuple[Place, str], tuple[str, ...] | None] = {}
        self._refused: dict[tuple[str, int, Predicate], bool] = {}

    def never_runs(self, path: str, line: int, column: int = 0) -> bool:
        """Whether a place is in a piece that is never entered; without a column, its whole line."""
        for guard in self._graph.guards(path).get(line, ()):
            if _is_around(guard.place, line, column) and self._is_refused(path, guard):
                return True
        return False

    def _is_refused(self, path: str, guard: Guard) -> bool:
        for predicate in guard.predicates:
            key = (path, guard.scope, predicate)
            if key not in self._refused:
                values = self.literals(path, guard.scope, predicate.subject)
                answers = [answer(predicate, value) for value in values or ()]
                refused = bool(answers) and all(said is False for said in answers)
                if values is None:
                    refused = self._is_never_chosen(path, guard.scope, predicate)
                self._refused[key] = refused
            if self._refused[key]:
                return True
        return False

    def _is_never_chosen(self, path: str, scope: int, predicate: Predicate) -> bool:
        """Whether a test picks by texts that nothing states, while something states another that
        its function tests the same name for: ``kind == "old"`` after ``kind == "new"``.
        """
        if self._stated is None or predicate.test != "in":
            return False
        asked = _texts(predicate)
        if not asked or not asked.isdisjoint(self._stated):
            return False
        others: set[str] = set()
        for guard in self._graph.guarded_by(path, scope, predicate.subject):
            others |= _texts(guard)
        return not others.isdisjoint(self._stated)

    def literals(self, path: str, scope: int, subject: str) -> Sequence[str] | None:
        """The literals that a name can be in a scope, as written; None if it can be anything."""
        owner, _dot, name = subject.rpartition(".")
        if not owner:
            return self._of_parameter((path, scope), name)
        if owner in OWN:
            return self._of_attribute(path, scope, name)
        if self._is_set_elsewhere(name) or self._is_set_elsewhere(ANY):
            return None
        return self._options.get(name)

    def _of_attribute(self, path: str, scope: int, name: str) -> Sequence[str] | None:
        """What a class, or one that derives from it, gives an attribute of its objects."""
        scope = class_around(self._files[path].scopes, scope)
        if scope == 0 or self._is_set_elsewhere(name):
            return None
        found: list[str] = []
        for place in self._with_heirs((path, scope)):
            if self._is_reached(place):
                return None
            for attribute in self._files[place[0]].attributes:
                if attribute.scope != place[1] or attribute.name not in (name, ANY):
                    continue
                values: Sequence[str] | None = [attribute.literal] if attribute.literal else None
                if attribute.parameter:
                    values = self._of_init(place, attribute.parameter)
                if values is None or attribute.name == ANY:
                    return None
                found += values
        return found or None

    def _of_init(self, place: Place, parameter: str) -> Sequence[str] | None:
        own = self._graph.inits(place)
        return self._of_parameter(own[0], parameter) if own else None

    def _with_heirs(self, place: Place) -> list[Place]:
        """A class, and those that derive from it."""
        path, scope = place
        name = last_part(self._files[path].scopes[scope].name)
        found = [place]
        for heir in sorted(self._graph.derived(name, self._files) - {name}):
            found += self._graph.classes(heir, self._files)
        return found

    def _is_reached(self, place: Place) -> bool:
        """Whether something out of sight may call a function or class."""
        path, number = place
        scope = self._files[path].scopes[number]
        if scope.registered or last_part(scope.name) in self._configured:
            return True
        return self.picks and self._graph.may_be_picked(place)

    def _of_parameter(self, place: Place, parameter: str) -> tuple[str, ...] | None:
        key = (place, parameter)
        if key not in self._given:
            self._given[key] = None  # for one that is handed round in a circle
            self._given[key] = self._literals(place, parameter)
        return self._given[key]

    def _literals(self, place: Place, parameter: str) -> tuple[str, ...] | None:
        """The literals that the calls of a function give a parameter."""
        path, number = place
        scopes = self._files[path].scopes
        function = scopes[number]
        around = (path, function.parent)
        parameters = [each for each, _default in function.parameters]
        if parameter not in parameters or function.opened_by == "decorator":
            return None
        is_method = self._graph.is_class(around)
        calls = self._calls_to(place, around if is_method else None)
        if calls is None:
            return None
        index = parameters.index(parameter)
        if is_method:
            if parameters[0] not in OWN:
                return None
            index -= 1
        default = dict(function.parameters)[parameter]
        found: set[str] = set()
        for caller, call in calls:
            values = self._given_by(caller, call, _value(call, index, parameter, default))
            if values is None:
                return None
            found.update(values)
        return tuple(sorted(found)) or None

    def _calls_to(self, place: Place, owner: Place | None) -> list[tuple[str, LocalCall]] | None:
        """Every call of a function or of a method of `owner`; None if others may call it."""
        path, number = place
        name = self._files[path].scopes[number].name
        if owner is None:
            return None if self._is_reached(place) else self._meant(called_as(name), path, False)
        if last_part(name) != "__init__":
            return None if self._is_hook(owner, name) else self._meant(called_as(name), path, True)
        found: list[tuple[str, LocalCall]] = []
        for heir in self._with_heirs(owner):
            if self._is_reached(heir) or self._makes_itself(heir):
                return None
            own = self._graph.inits(heir)
            if not own or own[0] == place:
                heir_path, scope = heir
                name = last_part(self._files[heir_path].scopes[scope].name)
                found += self._meant(name, heir_path, True)
            else:
                for call in self._graph.called_in(own[0]):
                    if call.name == "__init__":
                        found.append((heir[0], call))
        return found

    def _makes_itself(self, place: Place) -> bool:
        """Whether a method of a class makes objects of it by another name: ``cls(**options)``."""
        for number in self._graph.methods(place):
            calls = self._graph.called_in((place[0], number))
            if any(call.name in _ITSELF for call in calls):
                return True
        return False

    def _meant(self, name: str, path: str, is_method: bool) -> list[tuple[str, LocalCall]]:
        """The calls of a name that can mean what a file defines."""
        found: list[tuple[str, LocalCall]] = []
        for caller, call in self._calls_of(name):
            if self._graph.home(call, caller) in ("", path, NO_FILE if is_method else path):
                found.append((caller, call))
        return found

    def _given_by(self, caller: str, call: LocalCall, written: str) -> Sequence[str] | None:
        """The literals that an argument can be, also those of a name that the caller hands on."""
        if written.startswith(NAME):
            return self.literals(caller, call.scope, written.removeprefix(NAME))
        return (written,) if written else None

    def _is_hook(self, place: Place, method: str) -> bool:
        """Whether a library or Python calls a method of a class."""
        name = last_part(method)
        hooks = self._graph.hooks_of(place)
        return hooks is None or name in hooks or name.startswith("__")

    def _calls_of(self, name: str) -> Sequence[tuple[str, LocalCall]]:
        """Every call of a name in the program, and every place that hands it on."""
        return [one for one in self._graph.calls_of(name) if one[0] in self._files]

    @functools.cached_property
    def picks(self) -> bool:
        """Whether a name that only the run decides picks a function or class."""
        return bool(self._calls_of(DYNAMIC))

    def _is_set_elsewhere(self, name: str) -> bool:
        """Whether something sets an attribute which is not the object itself."""
        return any(path in self._files for path in self._graph.set_elsewhere(name))


def _texts(predicate: Predicate) -> frozenset[str]:
    """The texts that a test compares with; none if it compares with anything else."""
    found = [ast.literal_eval(value) for value in predicate.values]
    texts = frozenset(value for value in found if isinstance(value, str))
    return texts if len(texts) == len(found) else frozenset()


def _value(call: LocalCall, index: int, parameter: str, default: str) -> str:
    """The literal that a call gives a parameter; empty if it may be anything."""
    given = dict(call.constants)
    if parameter in given and call.is_call:
        return given[parameter]
    if not call.is_call or call.has_rest or parameter in call.asked:
        return ""
    if index < call.positional:
        return given.get(str(index), "")
    return default if default != "?" else ""


def _is_around(place: Spot, line: int, column: int) -> bool:
    start, end = (place.line, place.column), (place.end_line, place.end_column)
    if column:
        return start <= (line, column) < end
    return place.line < line <= place.end_line or (place.line == line and place.column == 1)
