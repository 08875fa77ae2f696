"""Which names matter to a scan: all of them come from the records."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Literal

import msgspec

from d9m.kb.store import KnowledgeBase, OpEntry
from d9m.model.code_marks import CodeMarks, Loader
from d9m.model.records import Setting
from d9m.model.signatures import arguments
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


class CallOption(msgspec.Struct, frozen=True):
    """A setting that a call makes by what it gets first, or by a keyword:
    ``jax.config.update("name", value)``, ``set_context(name=value)``.
    """

    setting: str
    first: str = ""
    """A literal, as `expressions.literal` writes it."""
    keyword: str = ""


_KEPT = (
    "seeds", "draws", "makers", "reseeds", "environments", "plays", "starts_process", "trains",
    "compiles", "imports_named", "collectives", "loaders",
)  # fmt: skip
"""Fields whose calls are facts."""


class Vocabulary:
    """Names of calls, methods and attributes that some rule or record asks about."""

    def __init__(self, kb: KnowledgeBase) -> None:
        self.kb = kb
        self.roots = dict(_roots(kb))
        """Name that is imported -> package."""
        self.usual = dict(_usual_names(kb))
        """Name that programs give a module -> the module: ``np`` -> ``numpy``."""
        self.helpers = frozenset(_helper_names(kb))
        """Package, and the last part of the name of a helper call."""
        self.statements = dict(setting_statements(kb))
        """Dotted name of a statement -> setting that it makes."""
        self.options: dict[str, list[CallOption]] = {}
        """Name of a call that makes several settings -> those that the records know."""
        for name, option in setting_options(kb):
            self.options.setdefault(name, []).append(option)
        self.with_generator = frozenset(
            marks.package for marks in kb.code.values() if marks.generator is not None
        )
        """Packages with a global generator, whose ways to seed it are known."""
        self.maker_parameters: dict[str, str] = {}
        self.loaders: dict[str, Loader] = {}
        for marks in kb.code.values():
            self.maker_parameters.update(marks.makers)
            self.loaders.update(marks.loaders)
        self._fields: dict[str, Marks] = {}
        self._kept_fields = [self.marks(field) for field in _KEPT]
        self._kept: dict[str, bool] = {}
        self._ops: dict[str, bool] = {}
        self._methods: dict[str, Kept] = {}

    def marks(self, field: str) -> Marks:
        """All names of one field of the records of code."""
        if field not in self._fields:
            names = (name for marks in self.kb.code.values() for name in getattr(marks, field))
            self._fields[field] = Marks(names)
        return self._fields[field]

    def draws_of(self, marks: CodeMarks) -> tuple[Marks, Marks]:
        """The calls that draw from the generator of a library, and those among them that do not."""
        return Marks(marks.draws), Marks(marks.no_draws)

    def made(
        self, name: str, positional: Sequence[str], keywords: Mapping[str, str]
    ) -> tuple[str, str | None] | None:
        """The setting that a call makes, and its value as written; None if it makes none."""
        if name in self.statements:
            return self.statements[name], next(iter((*positional, *keywords.values())), None)
        for option in self.options.get(name, ()):
            if option.keyword in keywords:
                return option.setting, keywords[option.keyword]
            if option.first and positional[:1] == (option.first,):
                return option.setting, next(iter((*positional[1:], *keywords.values())), None)
        return None

    def package(self, name: str) -> str | None:
        """The package that a qualified name belongs to."""
        return self.roots.get(name.partition(".")[0])

    def keeps(self, name: str) -> bool:
        """Whether calls of a qualified name are facts."""
        if name not in self._kept:
            self._kept[name] = self._keeps(name)
        return self._kept[name]

    def _keeps(self, name: str) -> bool:
        if any(name in marks for marks in self._kept_fields):
            return True
        if name in self.statements or name in self.options:
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
        if any(f".{name}" in marks.names for marks in self._kept_fields):
            return "always"
        for package, spaces in self.kb.meta.methods.items():
            for space in spaces:
                if not is_known(self.kb, package, space + name):
                    continue
                entries = meaning(self.kb, package, space + name).entries
                if any(self.meets(entry) for entry in entries):
                    return "always" if name in self.marks("own_methods") else "tensor"
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
    """Yield the full name of each setting that a statement of Python makes directly."""
    for name, setting in kb.settings.items():
        if setting.kind != "python" or _is_argument(kb, name):
            continue
        yield name, name
        yield from ((setter, name) for setter in setting.setters)
        if _option(name, setting) is None:
            for written in _written_names(setting):
                yield written, name


def setting_options(kb: KnowledgeBase) -> Iterator[tuple[str, CallOption]]:
    """The calls that make several settings, each with one of them."""
    for name, setting in kb.settings.items():
        if setting.kind != "python" or _is_argument(kb, name):
            continue
        option = _option(name, setting)
        if option is not None:
            for written in _written_names(setting):
                yield written, option


def _option(name: str, setting: Setting) -> CallOption | None:
    """Return the option that tells a setting from others of the same call; None where there are
    none.
    """
    _call, bracket, argument = name.partition("(")
    if bracket:
        return CallOption(name, keyword=argument.partition("=")[0])
    inside = (setting.statement or "").partition("(")[2].rpartition(")")[0]
    positional = arguments(inside).positional
    if positional and positional[0][0] in ("'", '"'):
        return CallOption(name, first=repr(ast.literal_eval(positional[0])))
    return None


def _written_names(setting: Setting) -> Iterator[str]:
    """How programs write what makes a setting: in full, by each of its imports."""
    written = (setting.statement or "").partition("(")[0].partition("=")[0].strip()
    head, _dot, rest = written.partition(".")
    for line in setting.imports:
        words = line.split()
        if len(words) == 4 and words[0] == "import" and words[3] == head:
            yield f"{words[1]}.{rest}"
        elif len(words) == 4 and words[0] == "from" and words[3] == head:
            yield f"{words[1]}.{written}"
        elif len(words) == 2 and words[1].partition(".")[0] == head:
            yield written


def _is_argument(kb: KnowledgeBase, name: str) -> bool:
    """Whether a setting is an argument of another one: ``switch(warn_only)`` of ``switch``."""
    call, bracket, _argument = name.partition("(")
    return bool(bracket) and call in kb.settings
