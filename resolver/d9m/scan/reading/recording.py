"""Calls of libraries, and what their settings are given, recorded as facts."""

from __future__ import annotations

import ast

import msgspec

from d9m.scan.facts import (
    Assignment,
    OptionDefault,
    OwnDraw,
    StateWrite,
    WrittenCall,
    class_around,
)
from d9m.scan.flow.only_shown import OnlyShown, shows
from d9m.scan.reading.guarding import keeps_value
from d9m.scan.syntax.expressions import (
    dotted,
    dotted_with_keys,
    last_name,
    literal,
    looked_up_else,
    nodes,
    stand_in,
    tests_for_nothing,
)
from d9m.scan.syntax.kinds import Kinds
from d9m.scan.syntax.names import LOCAL
from d9m.scan.syntax.options import option_defaults
from d9m.scan.syntax.standpoint import Standpoint
from d9m.scan.vocabulary import Vocabulary, is_marked

_DEEPEST_SEED = 4
_SHORTEST_ALPHABET = 10
_SAME_MEMORY = (".data", ".detach")
"""What stands between a parameter and a method that overwrites it."""


class Recorder:
    """Records what matters to the vocabulary."""

    def __init__(self, vocabulary: Vocabulary, here: Standpoint) -> None:
        self._vocabulary = vocabulary
        self._here = here
        self._kinds = Kinds(here.names, vocabulary)
        self.calls: list[WrittenCall] = []
        self.assignments: list[Assignment] = []
        self.own_draws: list[OwnDraw] = []
        self.states: list[StateWrite] = []
        self.options: list[OptionDefault] = []
        self._generators: set[str] = set()
        self._attributes: dict[tuple[int, str], ast.expr] = {}
        """Scope, and attribute as written -> what it was given last: ``args.seed = time()``."""
        self._named: dict[int, ast.Call] = {}
        """Number of a call that draws from a global generator or makes one, under a name."""
        self._written_down: set[tuple[int, str]] = set()
        """Scope, and name as written, of what is shown or stored."""
        self._filled: set[tuple[int, str]] = set()
        """Scope, and name as written, of what is overwritten with a constant."""
        self._asked: dict[tuple[int, str], dict[str, str]] = {}
        """Class and name of an object -> keywords that its calls give, of those that matter."""
        self._asked_at_once: dict[int, dict[str, str]] = {}
        """The same of objects without a name: ``MultiheadAttention(8, 2)(x, x, x)``."""

    def assigned(self, node: ast.Assign | ast.AnnAssign, target: ast.Attribute) -> None:
        self._set_state(target)
        if node.value is not None and (written := dotted(target)):
            self._attributes[self._here.scope, written] = node.value
        name = self._here.resolve(target)
        if name is None or name not in self._vocabulary.statements or node.value is None:
            return
        self.assignments.append(
            Assignment(
                name=name,
                value=literal(node.value),
                place=self._here.lines.spot(node),
                value_place=self._here.lines.spot(node.value),
                scope=self._here.scope,
                arms=self._here.arms,
                offered=self._here.offered or self._here.offer(node.value),
            )
        )

    def _set_state(self, target: ast.Attribute) -> None:
        written = dotted(target) or ""
        for owner in self._generators:
            if written.removeprefix(owner) in self._vocabulary.holds_state.names:
                self.states.append(StateWrite(owner, target.lineno, self._here.scope))

    def call(self, node: ast.Call, name: str | None) -> None:
        """Record a call, if it matters; `name` is its qualified name."""
        func = node.func
        self._show(node, name)
        self._fill(node, name)
        target = self._here.targets.get(id(node), "")
        if "." in target and name is not None and name in self._vocabulary.layers:
            self._kinds.layers.add(target)
        if name is not None and name[0] not in (LOCAL, ".") and self._vocabulary.keeps(name):
            self._keep(node, name)
        elif name is None and isinstance(func, ast.Attribute):
            self._method(node, func)
        elif name is not None and name[0] != LOCAL and "." in name:
            self._of_class(node, name)
        if f".{last_name(func)}" in self._vocabulary.makes_option:
            self.options += option_defaults(node)

    def decorated(self, decorator: ast.expr) -> None:
        """A function goes through what decorates it: ``@jax.value_and_grad``."""
        name = self._here.resolve(decorator)
        if name is not None and name in self._vocabulary.trains:
            self._keep(ast.copy_location(ast.Call(decorator, [], []), decorator), name)

    def only_shows(self, statement: ast.stmt) -> bool:
        """Whether a statement does nothing but show something."""
        return shows(self._vocabulary, statement, self._here.resolve)

    def _show(self, node: ast.Call, name: str | None) -> None:
        """Remember the names in what a call shows or stores."""
        if not is_marked(self._vocabulary.writes_down, node.func, name):
            return
        for part in nodes(node):
            if isinstance(part, ast.Name | ast.Attribute) and (written := dotted(part)):
                self._written_down.add((self._here.scope, written))

    def _fill(self, node: ast.Call, name: str | None) -> None:
        """``layer.weight.detach().zero_()``, ``torch.nn.init.zeros_(layer.bias)``."""
        if not is_marked(self._vocabulary.fills_constant, node.func, name):
            return
        filled = node.func.value if isinstance(node.func, ast.Attribute) else node.func
        if name is not None and node.args:
            filled = node.args[0]
        written = dotted(filled.func if isinstance(filled, ast.Call) else filled) or ""
        for ending in _SAME_MEMORY:
            written = written.removesuffix(ending)
        self._filled.add((self._here.scope, written))

    def _is_refilled(self, call: WrittenCall) -> bool:
        """Whether every parameter of a layer is overwritten in the function that makes it."""
        for parameter in self._vocabulary.parameters:
            if call.keywords.get(parameter) == "False":
                continue
            if (call.scope, f"{call.target}.{parameter}") not in self._filled:
                return False
        return bool(call.target)

    def ask(self, node: ast.Call) -> None:
        """Remember what a call asks of an object: ``self.attention(x, x, need_weights=False)``."""
        for keyword in node.keywords:
            if keyword.arg not in self._vocabulary.asked_of_objects:
                continue
            said, written = literal(keyword.value), dotted(node.func)
            if said and written:
                owner = self._owner(self._here.scope, written)
                self._asked.setdefault(owner, {})[keyword.arg] = said
            elif said and isinstance(node.func, ast.Call):
                self._asked_at_once.setdefault(id(node.func), {})[keyword.arg] = said

    def _owner(self, scope: int, written: str) -> tuple[int, str]:
        """A name with its class, if it is an attribute, for others may have one like it."""
        scope = class_around(self._here.names.scopes, scope)
        return (scope if "." in written else 0), written

    def stored(self, value: ast.expr | None) -> None:
        """Remember a name that is put under a key, or returned: somebody can write it down."""
        if isinstance(value, ast.Name | ast.Attribute) and (written := dotted(value)):
            self._written_down.add((self._here.scope, written))

    def finished(self, shown: OnlyShown) -> tuple[WrittenCall, ...]:
        """All calls, once the whole text is read: what is drawn or set can be shown after it."""
        found: list[WrittenCall] = []
        for number, call in enumerate(self.calls):
            node = self._named.get(number)
            if node is not None and call.name in self._vocabulary.makers:
                call = msgspec.structs.replace(call, unread=shown.is_unread(node))
            elif node is not None and shown.is_shown(node):
                call = msgspec.structs.replace(call, to_show=True)
            seed = call.positional[0] if call.positional else ""
            if call.made_from and seed != "x" and (call.scope, seed) in self._written_down:
                call = msgspec.structs.replace(call, written_down=True)
            asked = self._asked.get(self._owner(call.scope, call.target)) if self._asked else None
            if asked is not None and call.name in self._vocabulary.call_arguments:
                call = msgspec.structs.replace(call, keywords={**call.keywords, **asked})
            if self._filled and call.name in self._vocabulary.layers and self._is_refilled(call):
                call = msgspec.structs.replace(call, refilled=True)
            found.append(call)
        return tuple(found)

    def _from_alphabet(self, node: ast.Call) -> bool:
        """Whether a call draws from an alphabet, perhaps under a name: ``letters = "ABC…"``."""
        if not node.args:
            return False
        drawn = node.args[0]
        if isinstance(drawn, ast.Name):
            bound, _here = self._here.names.bindings(self._here.scope, drawn.id)
            if len(bound) == 1 and bound[0].value is not None:
                return self._has_alphabet(bound[0].value)
        return self._has_alphabet(drawn)

    def _has_alphabet(self, node: ast.expr) -> bool:
        for part in nodes(node):
            if isinstance(part, ast.Constant) and _is_alphabet(part.value):
                return True
            if isinstance(part, ast.Name | ast.Attribute):
                name = self._here.resolve(part)
                if name is not None and name in self._vocabulary.alphabets:
                    return True
        return False

    def _of_class(self, node: ast.Call, name: str) -> None:
        """A method of something imported: ``torch.Tensor.backward``, ``trainer.fit``."""
        last = name.rpartition(".")[2]
        if self._vocabulary.keeps_method(last) == "always":
            self._keep(node, f".{last}", receiver=name.rpartition(".")[0])

    def _method(self, node: ast.Call, func: ast.Attribute) -> None:
        owner = dotted_with_keys(func.value)
        if owner in self._generators:
            spot = self._here.lines.spot(node)
            target = self._here.targets.get(id(node), "")
            drawn = OwnDraw(owner or "", spot, self._here.scope, self._from_alphabet(node), target)
            self.own_draws.append(drawn)
        wanted = self._vocabulary.keeps_method(func.attr)
        if not wanted:
            return
        kind = self._kinds.of(self._here.scope, func.value)
        if wanted == "always" or kind:
            self._keep(node, f".{func.attr}", owner or "", kind)

    def _keep(self, node: ast.Call, name: str, receiver: str = "", kind: str = "") -> None:
        positional = tuple(literal(part) or stand_in(part) for part in node.args)
        keywords: dict[str, str] = {}
        for part in node.keywords:
            if part.arg is not None:
                keywords[part.arg] = literal(part.value) or stand_in(part.value)
        if name in self._vocabulary.call_arguments:
            keywords.update(self._asked_at_once.get(id(node), {}))
        if any(part.arg is None for part in node.keywords):
            positional = (*positional, "*rest")
        if not kind and node.args and name[0] != ".":
            kind = self._kinds.of(self._here.scope, node.args[0])
        made = self._made_from(node)
        target = self._here.targets.get(id(node), "")
        if target and name in self._vocabulary.makers:
            self._generators.add(target)
        end = node.end_lineno or node.lineno
        draws = name in self._vocabulary.draws or name in self._vocabulary.makers
        if target.isidentifier() and draws:
            self._named[len(self.calls)] = node
        self.calls.append(
            WrittenCall(
                name=name,
                positional=positional,
                keywords=keywords,
                place=self._here.lines.spot(node),
                scope=self._here.scope,
                arms=self._here.arms,
                receiver=receiver,
                kind=kind,
                target=target,
                made_from=tuple(made),
                none_with=self._none_with(node) if name in self._vocabulary.seeds else "",
                from_alphabet=name in self._vocabulary.draws and self._from_alphabet(node),
                without_gradients=self._here.without_gradients,
                guarded=self._here.guarded,
                offered=self._here.offered or self._offer_of(node),
                fallback=self._here.fallback or (bool(made) and all(made.values())),
                in_main=self._here.in_main,
                in_lambda=self._here.in_lambda,
                in_loop=self._here.in_loop,
                to_show=self._here.to_show,
                on_trial=self._here.on_trial,
                insert=(end, self._here.lines.column(end, (node.end_col_offset or 1) - 1)),
            )
        )

    def _none_with(self, node: ast.Call) -> str:
        """The parameter that the only argument of a call is None with."""
        given = node.args[0] if len(node.args) == 1 and not node.keywords else None
        if not isinstance(given, ast.Name):
            return ""
        if keeps_value(self._here, given.id):
            return given.id
        bound, here = self._here.names.bindings(self._here.scope, given.id)
        value = bound[0].value if here and len(bound) == 1 else None
        if not isinstance(value, ast.IfExp) or not isinstance(value.test, ast.Compare):
            return ""
        nothing = {"body": value.body, "else": value.orelse}.get(tests_for_nothing(value.test))
        tested = value.test.left
        is_none = isinstance(nothing, ast.Constant) and nothing.value is None
        if is_none and isinstance(tested, ast.Name) and keeps_value(self._here, tested.id):
            return tested.id
        return ""

    def _offer_of(self, node: ast.Call) -> str:
        """A parameter, false by default, that is the first argument: it decides."""
        if not node.args or not isinstance(node.args[0], ast.Name):
            return ""
        name = node.args[0].id
        return name if self._here.parameter_default(name) == "False" else ""

    def _made_from(self, node: ast.Call) -> dict[str, bool]:
        """Names of the calls that the arguments are made from, and whether each is only made where
        something else is None.
        """
        found: dict[str, bool] = {}
        for part in (*node.args, *(keyword.value for keyword in node.keywords)):
            self._makers(part, found, 0, False)
        return found

    def _makers(self, node: ast.AST, found: dict[str, bool], depth: int, spare: bool) -> None:
        if isinstance(node, ast.Constant) or depth > _DEEPEST_SEED:
            return
        if isinstance(node, ast.IfExp):
            nothing = tests_for_nothing(node.test)
            self._makers(node.body, found, depth, spare or nothing == "body")
            self._makers(node.orelse, found, depth, spare or nothing == "else")
            return
        if isinstance(node, ast.BoolOp) and isinstance(node.op, ast.Or):
            for place, part in enumerate(node.values):
                self._makers(part, found, depth, spare or place > 0)
            return
        if isinstance(node, ast.Call):
            name = self._here.resolve(node.func)
            if name is not None and self._vocabulary.keeps(name):
                found[name] = found.get(name, True) and spare
        elif isinstance(node, ast.Name) and depth < _DEEPEST_SEED:
            bound, here = self._here.names.bindings(self._here.scope, node.id)
            if here and len(bound) == 1 and bound[0].value is not None:
                self._makers(bound[0].value, found, depth + 2, spare)
        elif isinstance(node, ast.Attribute) and depth < _DEEPEST_SEED:
            given = self._attributes.get((self._here.scope, dotted(node) or ""))
            if given is not None:
                self._makers(given, found, depth + 2, spare)
        default = looked_up_else(node) if isinstance(node, ast.Call) else None
        for part in ast.iter_child_nodes(node):
            self._makers(part, found, depth, spare or part is default)


def _is_alphabet(value: object) -> bool:
    """``"ABCDEFGH"``: many characters, each once."""
    if not isinstance(value, str) or not value.isalnum():
        return False
    return len(set(value)) == len(value) >= _SHORTEST_ALPHABET
