"""Settings that make a program deterministic, in the environment where it runs."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

import msgspec

from d9m import api
from d9m.environment.environment import Environment, Setup
from d9m.kb.store import KnowledgeBase
from d9m.model.advice import Advice
from d9m.model.records import Scope, Setting
from d9m.model.settings import PlainValue, Step

VARIABLE = "D9M_RUN"
"""Names the folder of a run to its processes."""

WARNING = ("warn_only", "true")
SEVERAL = ("distributed", "true")
"""Facts that an option of the command stands for."""

UNDOES = ("contradictory", "forbidden", "invalid")
"""Verdicts on a variable with which a program is not started."""


class RunOptions(msgspec.Struct, frozen=True):
    seed: int | None = None
    scope: Scope = "run"
    fast: bool = False
    ranks: bool = False
    on_refusal: str = "stop"
    override: bool = False


class PlannedVariable(msgspec.Struct, frozen=True):
    """An environment variable, set before Python starts."""

    name: str
    value: str
    read_at: str
    why: str
    accepts: list[str] = []
    any_value: bool = False
    refuses: list[str] = []
    separator: str | None = None
    absent: bool = False
    """The name must not be set."""
    module: str | None = None
    """The module whose package reads it."""


class PlannedStatement(msgspec.Struct, frozen=True):
    """Python that runs right after the import of a module."""

    name: str
    module: str
    lines: list[str]
    read_at: str
    why: str


class WatchedSetting(msgspec.Struct, frozen=True):
    """A setting whose value a running program can be asked for."""

    name: str
    module: str
    current: str
    setters: list[str] = []
    restore: str | None = None
    """Statements that give it a `{value}`."""


class SettingNote(msgspec.Struct, frozen=True):
    """A setting and a sentence about it."""

    name: str
    why: str
    value: str | None = None
    module: str | None = None
    """Concerns only a process that imported it."""


class RunPlan(msgspec.Struct, frozen=True):
    packages: dict[str, str]
    device: str
    variables: list[PlannedVariable] = []
    statements: list[PlannedStatement] = []
    watched: list[WatchedSetting] = []
    kept: list[SettingNote] = []
    """Variables of the user that do what is needed."""
    refused: list[SettingNote] = []
    """Settings that cannot be made: conflicts, a package that is missing."""
    undoing: list[SettingNote] = []
    """Variables of the user that undo what is needed."""
    left: list[SettingNote] = []
    """Steps that only the program can take, and variables of the user that are misspelt."""
    imports: dict[str, str] = {}
    """Module -> package, of those that are installed and that the records know."""
    begun: list[str] = []
    """Dotted names that are true once a framework has computed."""
    unplanned: list[str] = []
    """Modules of frameworks that this Python lacks; another one may import them."""
    beyond: list[str] = []
    """Packages newer than the records."""

    @property
    def undone(self) -> str:
        """The first variable of the user that undoes determinism, and why; empty without one."""
        return next(
            (f"{each.name}={each.value} undoes determinism: {each.why}" for each in self.undoing),
            "",
        )


def plan(kb: KnowledgeBase, setup: Setup, options: RunOptions, own: Mapping[str, str]) -> RunPlan:
    """Return what to set for `setup`, given the variables that the user has set."""
    if not setup.packages and setup.container is None:
        setup = msgspec.structs.replace(setup, packages=(("python", None),))
    if options.ranks:
        setup = msgspec.structs.replace(setup, facts=(*setup.facts, SEVERAL))
    known: Mapping[str, PlainValue] = {
        name: value for name, value in own.items() if name != VARIABLE
    }
    question = api.understand(kb, setup, None, options.scope, (), [known], fast=options.fast)
    advice = api.answer(kb, question)
    return _Planner(kb, question.environment, advice, options, own).plan()


class _Planner:
    def __init__(
        self,
        kb: KnowledgeBase,
        environment: Environment,
        advice: Advice,
        options: RunOptions,
        own: Mapping[str, str],
    ) -> None:
        self.kb = kb
        self.environment = environment
        self.advice = advice
        self.options = options
        self.own = own
        costly = {name for name, each in kb.ingredients.items() if each.costly}
        self.steps = [
            step
            for step in advice.steps
            if step.covered_by is None and set(step.solutions) - costly
        ]

    def plan(self) -> RunPlan:
        missing = self._missing_packages()
        statements = [self._statement(step) for step in self.steps if self._is_run(step, missing)]
        if self.options.on_refusal == "warn":
            statements += self._deciding(*WARNING)
        variables = [self._variable(step) for step in self.steps if step.kind in _VARIABLES]
        names = {each.name for each in variables}
        needed = {each.name for each in self.advice.existing if each.status == "needed"}
        imports = {
            module: name
            for name in self.environment.packages
            for module in self.kb.packages[name].imports
        }
        return RunPlan(
            packages=self.advice.environment.packages,
            device=self.advice.environment.device,
            variables=variables,
            statements=statements,
            watched=list(self._watched()),
            kept=[
                SettingNote(name, "yours", self.own[name])
                for name in sorted(needed & names & self.own.keys())
            ],
            refused=self._refused(missing),
            undoing=[
                SettingNote(each.name, each.why, each.value)
                for each in self.advice.existing
                if each.name in self.own and each.status in UNDOES
            ],
            left=list(self._left(missing)),
            imports=imports,
            begun=[
                name
                for package in self.environment.packages
                for name in self.kb.packages[package].begun
            ],
            unplanned=[
                module
                for package in self.kb.packages.values()
                if package.kind == "framework"
                for module in package.imports
                if module not in imports
            ],
            beyond=self.advice.environment.beyond,
        )

    def _variable(self, step: Step) -> PlannedVariable:
        value = step.value or ""
        if step.kind == "append":
            value = (step.separator or " ").join(step.accepts)
        return PlannedVariable(
            step.name, value, step.read_at, step.why, step.accepts, step.any_value,
            step.refuses, step.separator if step.kind == "append" else None,
            step.kind == "unset", self._home_module(step),
        )  # fmt: skip

    def _missing_packages(self) -> dict[str, Step]:
        """Label of a solution -> the package that it needs and this Python lacks."""
        return {
            label: step
            for step in self.steps
            if step.kind == "install" and step.name not in self.environment.packages
            for label in step.solutions
        }

    def _is_run(self, step: Step, missing: Mapping[str, Step]) -> bool:
        if step.kind != "python" or step.before_import or self._only_binds(step):
            return False
        if step.any_value:
            return self.options.seed is not None
        return not missing.keys() & set(step.solutions)

    def _only_binds(self, step: Step) -> bool:
        """Return whether a statement makes an object that the program must pass on."""
        body = ast.parse((self.kb.settings[step.name].statement or "").format(value="0")).body
        return all(isinstance(each, ast.Assign) and _names(each) for each in body)

    def _statement(self, step: Step) -> PlannedStatement:
        setting = self.kb.settings[step.name]
        value = str(self.options.seed) if step.any_value else step.value or ""
        return self._written(setting, value, self._module(step), step.why)

    def _written(self, setting: Setting, value: str, module: str, why: str) -> PlannedStatement:
        lines = [*setting.imports, (setting.statement or "").format(value=value)]
        return PlannedStatement(setting.name, module, lines, setting.read, why)

    def _module(self, step: Step) -> str:
        """The module after whose import a statement runs: that of the package which it is for."""
        for label in step.solutions if not step.any_value else ():
            if label.lower() in self.kb.labels:
                home = self.kb.home(self.kb.solution(label)[0])
                imports = self.kb.packages[home].imports if home in self.kb.packages else []
                if imports:
                    return imports[0]
        return _first_module(self.kb.settings[step.name])

    def _deciding(self, fact: str, wanted: str) -> Iterator[PlannedStatement]:
        """Statements that make a fact true, where the release has them."""
        for setting in self._python_settings():
            for value, facts in setting.decides.items():
                if facts.get(fact) == wanted:
                    yield self._written(setting, value, _first_module(setting), "as asked")

    def _python_settings(self) -> Iterator[Setting]:
        for setting in self.kb.settings.values():
            if setting.kind == "python" and {} in self.environment.holding(setting.condition):
                yield setting

    def _watched(self) -> Iterator[WatchedSetting]:
        for setting in self._python_settings():
            if setting.current is not None:
                statement = setting.statement or ""
                restore = "\n".join([*setting.imports, statement])
                yield WatchedSetting(
                    setting.name, _first_module(setting), setting.current, setting.setters,
                    restore if "{value}" in statement else None,
                )  # fmt: skip

    def _refused(self, missing: Mapping[str, Step]) -> list[SettingNote]:
        found = [
            SettingNote(each.name, f"no value suits all: {'; '.join(each.choices)}")
            for each in self.advice.conflicts
        ]
        return found + [
            SettingNote(
                step.name,
                f"needs {missing[label].text or missing[label].name}, which is not installed",
                module=self._module(step),
            )
            for step in self.steps
            if step.kind == "python" and not step.any_value
            for label in step.solutions
            if label in missing
        ]

    def _left(self, missing: Mapping[str, Step]) -> Iterator[SettingNote]:
        """Changes that only the program or its command line can make, and misspelt variables."""
        for each in self.advice.existing:
            if each.status == "misspelt" and each.name in self.own:
                yield SettingNote(each.name, each.why, each.value)
        for step in self.steps:
            is_late = step.kind == "python" and (step.before_import or self._only_binds(step))
            if step.kind in ("flags", "config", "code") or is_late:
                where = f" in {step.where}" if step.where else ""
                text = f"{step.text or step.value or 'not set'}{where}"
                module = self._module(step) if is_late else self._home_module(step)
                yield SettingNote(step.name, text, module=module)

    def _home_module(self, step: Step) -> str | None:
        homes = {
            self.kb.home(self.kb.solution(label)[0])
            for label in step.solutions
            if label.lower() in self.kb.labels
        }
        modules = [name for home in homes for name in self.kb.packages[home].imports]
        return modules[0] if modules else None


_VARIABLES = ("env", "append", "unset")


def _names(assignment: ast.Assign) -> bool:
    return all(isinstance(each, ast.Name) for each in assignment.targets)


def _first_module(setting: Setting) -> str:
    """The module that a statement's first import names, without its submodules."""
    words = setting.imports[0].split() if setting.imports else [setting.name]
    return words[min(1, len(words) - 1)].partition(".")[0]


def for_hook(
    made: RunPlan, environment: Mapping[str, str], collects: bool = False
) -> dict[str, object]:
    """Return what the hook in the program reads, which begins in `environment`.

    With `collects` it keeps warnings that an op has no deterministic version.
    """
    rules = ("accepts", "any_value", "refuses", "separator", "absent")
    return {
        "statements": msgspec.to_builtins(made.statements),
        "watched": msgspec.to_builtins(made.watched),
        "variables": {
            each.name: {
                "expected": environment.get(each.name),
                **{rule: getattr(each, rule) for rule in rules},
            }
            for each in made.variables
        },
        "imports": sorted([*made.imports, *made.unplanned]),
        "collects": collects,
    }


def environment_for(made: RunPlan, own: Mapping[str, str], override: bool) -> dict[str, str | None]:
    """Return the variables to change: their values, None for one to remove."""
    undoing = {each.name for each in made.undoing} if override else set[str]()
    changes: dict[str, str | None] = {}
    for each in made.variables:
        before = own.get(each.name)
        if each.absent:
            if each.name in undoing:
                changes[each.name] = None
        elif each.separator is not None:
            items = dict.fromkeys([*(before or "").split(), *each.accepts])
            changes[each.name] = each.separator.join(items)
        elif before is None or each.name in undoing:
            changes[each.name] = each.value
    return {name: value for name, value in changes.items() if value != own.get(name)}
