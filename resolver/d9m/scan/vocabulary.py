"""Which names matter to a scan: all of them come from the records."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Literal

from d9m.kb.store import KnowledgeBase, OpEntry
from d9m.model.code_marks import CodeMarks, Loader
from d9m.resolve.op_names import is_known, meaning

Kept = Literal["", "always", "tensor"]


class Marks:
    """Names of one field of the records of code, of all libraries together."""

    def __init__(self, names: Iterable[str]) -> None:
        given = sorted(set(names))
        self.names = frozenset(name for name in given if not name.endswith("."))
        self.starts = tuple(name for name in given if name.endswith("."))

    def __contains__(self, name: str) -> bool:
        return name in self.names or name.startswith(self.starts)


class Vocabulary:
    """Names of calls, methods and attributes that some rule or record asks about."""

    def __init__(self, kb: KnowledgeBase) -> None:
        self.kb = kb
        self.roots = dict(_roots(kb))
        """Name that is imported -> package."""
        self.usual = dict(_usual_names(kb))
        """Name that programs give a module -> the module: ``np`` -> ``numpy``."""
        self.no_gradients = self.marks("no_gradients")
        self.tensors = self.marks("tensors")
        self.layers = self.marks("layers")
        self.listings = self.marks("listings")
        self.walks = self.marks("walks")
        self.listing_methods = self.marks("listing_methods")
        self.listing_makers = self.marks("listing_makers")
        self.completions = self.marks("completions")
        self.order_blind = self.marks("order_blind")
        self.order_bound = self.marks("order_bound")
        self.order_kept = self.marks("order_kept")
        self.finds_places = self.marks("finds_places")
        self.asks_shape = self.marks("asks_shape")
        self.alphabets = self.marks("alphabets")
        self.writes_down = self.marks("writes_down")
        self.draws = self.marks("draws")
        self.helpers = frozenset(_helper_names(kb))
        """Package, and the last part of the name of a helper call."""
        self.statements = dict(setting_statements(kb))
        """Dotted name of a statement -> setting that it makes."""
        self.seeds = self.marks("seeds")
        self.makers = self.marks("makers")
        self.reseeds = self.marks("reseeds")
        self.holds_state = self.marks("holds_state")
        self.chance = self.marks("chance")
        self.imports_named = self.marks("imports_named")
        self.environments = self.marks("environments")
        self.maker_parameters: dict[str, str] = {}
        self.loaders: dict[str, Loader] = {}
        for marks in kb.code.values():
            self.maker_parameters.update(marks.makers)
            self.loaders.update(marks.loaders)
        self._marked = [
            self.seeds,
            self.draws,
            self.makers,
            self.reseeds,
            self.environments,
            self.chance,
            self.completions,
            self.marks("starts_process"),
            self.marks("trains"),
            self.marks("compiles"),
            self.imports_named,
            self.no_gradients,
            self.order_bound,
            self.marks("loaders"),
            self.marks("asks_for_worker"),
        ]
        self._own_methods = self.marks("own_methods")
        self._kept: dict[str, bool] = {}
        self._ops: dict[str, bool] = {}
        self._methods: dict[str, Kept] = {}

    def marks(self, field: str) -> Marks:
        return Marks(name for marks in self.kb.code.values() for name in getattr(marks, field))

    def is_own_method(self, name: str) -> bool:
        """Whether objects of other libraries lack a method of this name."""
        return name in self._own_methods

    def draws_of(self, marks: CodeMarks) -> tuple[Marks, Marks]:
        """The calls that draw from the generator of a library, and those among them that do not."""
        return Marks(marks.draws), Marks(marks.no_draws)

    def package(self, name: str) -> str | None:
        """The package that a qualified name belongs to."""
        return self.roots.get(name.partition(".")[0])

    def keeps(self, name: str) -> bool:
        """Whether calls of a qualified name are facts."""
        if name not in self._kept:
            self._kept[name] = self._keeps(name)
        return self._kept[name]

    def _keeps(self, name: str) -> bool:
        if any(name in marks for marks in self._marked) or name in self.statements:
            return True
        package = self.package(name)
        return (package, name.rpartition(".")[2]) in self.helpers or self.is_op(name)

    def is_op(self, name: str) -> bool:
        """Whether a qualified name is an op with a source."""
        if name not in self._ops:
            package = self.package(name)
            found = self.entries(package, name) if package is not None else ()
            self._ops[name] = any(map(self.meets, found))
        return self._ops[name]

    def entries(self, package: str, name: str) -> tuple[OpEntry, ...]:
        """The ops that a qualified name means."""
        if package not in self.kb.meta.prefixes:
            package = self._catalogue_with(name) or package
        if package not in self.kb.meta.prefixes:
            return ()
        return meaning(self.kb, package, name).entries

    def _catalogue_with(self, name: str) -> str | None:
        for package, add_ons in self.kb.meta.add_ons.items():
            if any(name.startswith(prefix) for prefix in add_ons):
                return package
        return None

    def meets(self, entry: OpEntry) -> bool:
        """Whether an op, or one that its name reaches, meets a source."""
        return any(self.kb.sources_of(entry.package, reached.op) for reached in entry.reaches)

    def keeps_method(self, name: str) -> Kept:
        """Whether calls of a method are facts: always, or on tensors only."""
        if name not in self._methods:
            self._methods[name] = self._keeps_method(name)
        return self._methods[name]

    def _keeps_method(self, name: str) -> Kept:
        if any(f".{name}" in marks.names for marks in self._marked):
            return "always"
        for package, spaces in self.kb.meta.methods.items():
            for space in spaces:
                if not is_known(self.kb, package, space + name):
                    continue
                entries = meaning(self.kb, package, space + name).entries
                if any(self.meets(entry) for entry in entries):
                    return "always" if name in self._own_methods else "tensor"
        return ""


def _roots(kb: KnowledgeBase) -> Iterator[tuple[str, str]]:
    with_ops_last = sorted(kb.packages, key=lambda name: (name in kb.meta.prefixes, name))
    for name in with_ops_last:
        for imported in kb.packages[name].imports:
            yield imported.partition(".")[0], name


def _usual_names(kb: KnowledgeBase) -> Iterator[tuple[str, str]]:
    for setting in kb.settings.values():
        for line in setting.imports:
            words = line.split()
            if words[0] != "import":
                continue
            if len(words) == 4:
                yield words[3], words[1]
            elif len(words) == 2:
                root = words[1].partition(".")[0]
                yield root, root


def _helper_names(kb: KnowledgeBase) -> Iterator[tuple[str, str]]:
    for id_, helper in kb.helpers.items():
        home = kb.meta.folders.get(id_.partition("/")[0], "")
        for spelling in (helper.call, *helper.aliases):
            name = spelling.partition("(")[0]
            if not name.startswith("-"):
                yield home, name.rpartition(".")[2]


def setting_statements(kb: KnowledgeBase) -> Iterator[tuple[str, str]]:
    """The name of each setting that a statement of Python makes, in full."""
    for name, setting in kb.settings.items():
        if setting.kind != "python" or _is_argument(kb, name):
            continue
        yield name, name
        written = (setting.statement or "").partition("(")[0].partition("=")[0].strip()
        head, _dot, rest = written.partition(".")
        for line in setting.imports:
            words = line.split()
            if len(words) == 4 and words[0] == "import" and words[3] == head:
                yield f"{words[1]}.{rest}", name
            elif len(words) == 4 and words[0] == "from" and words[3] == head:
                yield f"{words[1]}.{written}", name
            elif len(words) == 2 and words[1].partition(".")[0] == head:
                yield written, name


def _is_argument(kb: KnowledgeBase, name: str) -> bool:
    """Whether a setting is an argument of another one: ``switch(warn_only)`` of ``switch``."""
    call, bracket, _argument = name.partition("(")
    return bool(bracket) and call in kb.settings
