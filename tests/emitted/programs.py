"""All Python that d9m tells people to run: ``--format python``, examples of ingredients, statements
of settings.

Many releases share a text; each text is here once, with all the releases that it is told for.
"""

from __future__ import annotations

import ast
import functools
import hashlib
import os
import pickle
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import environments

from conftest import EVERYTHING, NIGHTLY, sample, shared
from d9m.api import advise
from d9m.environment.environment import Environment, Setup, describe
from d9m.errors import UsageError
from d9m.kb.store import KnowledgeBase
from d9m.model.advice import Advice
from d9m.model.versions import key, minor
from d9m.render.advice import python
from d9m.render.advice.blocks import live
from d9m.render.interface import Answer
from d9m.resolve import op_lookup
from golden import knowledge_base

FRAMEWORKS = ("tensorflow", "torch")

OLDEST_PYTHON = (3, 6)
"""The Python of TensorFlow 2.0 images."""


@dataclass
class EmittedProgram:
    """One text, who says it, and what it needs."""

    text: str
    origin: str
    """The command that prints a block; the record of an example or a statement."""
    releases: dict[str, list[str]] = field(default_factory=dict)
    """Framework -> its releases that get this text."""
    installs: tuple[str, ...] = ()
    required: dict[str, str] = field(default_factory=dict)
    """Variables that only the shell can set."""
    refused: dict[str, list[str]] = field(default_factory=dict)
    """Values of these that are as bad as none."""
    forbidden: tuple[str, ...] = ()
    """Variables that only the shell can unset."""
    sets: dict[str, str] = field(default_factory=dict)
    """Variables that the program sets, before any framework is imported."""
    above_import: bool = False
    """Whether it is too late for this program once a framework is imported."""

    @property
    def name(self) -> str:
        packages = "+".join(
            f"{package}-{releases[0]}" for package, releases in self.releases.items()
        )
        return f"{packages}-{hashlib.sha256(self.text.encode()).hexdigest()[:6]}"

    @functools.cached_property
    def tree(self) -> ast.Module:
        """Raises SyntaxError where the oldest Python would."""
        return ast.parse(self.text, feature_version=OLDEST_PYTHON)

    def told_for(self, environment: Environment) -> None:
        for package in FRAMEWORKS:
            candidates = (
                environment.packages[package].candidates
                if package in environment.packages
                else None
            )
            if candidates is None or (candidates.how == "between" and len(candidates.releases) > 2):
                continue  # nobody knows which release such an image holds
            known = self.releases.setdefault(package, [])
            known.extend(release for release in candidates.releases if release not in known)


@functools.cache
def blocks() -> tuple[EmittedProgram, ...]:
    """Every distinct block for the top of a program. Asking all questions takes a while, so it is
    done once.
    """
    place = shared(
        "blocks", lambda folder: (folder / "blocks").write_bytes(pickle.dumps(_blocks()))
    )
    return pickle.loads((place / "blocks").read_bytes())


def _blocks() -> tuple[EmittedProgram, ...]:
    kb = knowledge_base()
    found: dict[str, EmittedProgram] = {}
    for asked, ops in _questions(kb):
        environment, advice, command = (
            describe(kb, asked),
            advise(kb, asked, ops),
            _command(asked, ops),
        )
        imports = tuple(
            name for package in environment.packages for name in kb.packages[package].imports
        )
        _stamp, text = python.block(Answer(advice, knowledge_base(), command, imports)).split(
            "\n", 1
        )
        if text not in found:
            found[text] = _block(text, command, advice)
        found[text].told_for(environment)
    return tuple(found.values())


@functools.cache
def examples() -> tuple[EmittedProgram, ...]:
    """Every distinct Python example of an ingredient."""
    kb = knowledge_base()
    found: dict[str, EmittedProgram] = {}
    for asked in _releases(kb):
        environment = describe(kb, asked)
        for ingredient in advise(kb, asked, []).ingredients:
            for code in (each.code for each in ingredient.examples if each.language == "python"):
                found.setdefault(
                    code, EmittedProgram(code, f"ingredients/{ingredient.id}")
                ).told_for(environment)
    return tuple(found.values())


@functools.cache
def statements() -> tuple[EmittedProgram, ...]:
    """Every Python setting, turned to each value that it takes."""
    kb = knowledge_base()
    settings = [setting for name in kb.settings if (setting := kb.settings[name]).kind == "python"]
    found: dict[str, EmittedProgram] = {}
    for asked in _releases(kb):
        environment = describe(kb, asked)
        for setting in settings:
            for value in setting.accepts or ["1"] if environment.holding(setting.condition) else []:
                lines = [
                    *setting.imports,
                    (setting.statement or setting.name).replace("{value}", value),
                ]
                text = "\n".join(lines) + "\n"
                found.setdefault(text, EmittedProgram(text, f"setting {setting.name}")).told_for(
                    environment
                )
    return tuple(found.values())


def uncommented(program: EmittedProgram) -> str:
    """The text with its conditional lines taken in, as a reader does for whom the condition
    holds.
    """
    lines: list[str] = []
    inside = False
    for line in program.text.splitlines():
        start = line.startswith("# only if ") and line.endswith(":")
        inside = start or (inside and line.startswith("# "))
        lines.append(line[2:] if inside and not start else line)
    return "\n".join(lines) + "\n"


def _releases(kb: KnowledgeBase) -> Iterator[Setup]:
    for package in FRAMEWORKS:
        for release in kb.releases(package):
            yield from (Setup(((package, release),), None, device) for device in ("cuda", "cpu"))


def _questions(kb: KnowledgeBase) -> Iterator[tuple[Setup, list[str] | None]]:
    """Op by op only where everything is tested, for the last patch of a minor release and what is
    installed here; at night for each.
    """
    last = {(name, minor(release)): release for name in FRAMEWORKS for release in kb.releases(name)}
    telling = {(name, release) for (name, _minor), release in last.items()}
    telling |= {(each.package, each.release) for each in environments.FRAMEWORKS}
    releases = list(_releases(kb))
    yield from ((asked, None) for asked in sample(releases, 5))
    for asked in releases:
        yield asked, []
        if os.environ.get(NIGHTLY) or (os.environ.get(EVERYTHING) and asked.packages[0] in telling):
            yield from ((asked, [op]) for op in _representatives(kb, describe(kb, asked)))
    yield from ((asked, None) for asked in sample(list(_variations(kb)), 5))


def _representatives(kb: KnowledgeBase, environment: Environment) -> list[str]:
    """One op for each set of sources: ops that meet the same ones get the same block."""
    found: dict[tuple[str, ...], str] = {}
    for item in op_lookup.everything(kb, environment):
        found.setdefault(
            tuple(source.id for op in item.ops for source in kb.sources_of(op.package, op.name)),
            item.text,
        )
    return list(found.values())


def _variations(kb: KnowledgeBase) -> Iterator[Setup]:
    """What else can change a block: facts and companions, several releases at once, and all
    images.
    """
    switches = [
        name for name, fact in kb.meta.facts.items() if "true" in fact.values and not fact.argument
    ]
    companions = [
        name for name in kb.packages if name not in FRAMEWORKS and kb.packages[name].kind != "image"
    ]
    for package in FRAMEWORKS:
        new = (
            package,
            max(
                (each.release for each in environments.FRAMEWORKS if each.package == package),
                key=key,
            ),
        )
        majors = dict.fromkeys(release.split(".")[0] for release in kb.releases(package))
        yield from (Setup(((package, version),)) for version in (None, *majors))
        yield Setup((new,), inference=True)
        yield from (Setup((new,), facts=((name, "true"),)) for name in switches)
        yield from (
            asked for name in companions if _is_understood(kb, asked := Setup((new, (name, None))))
        )
    for family, packages in kb.meta.images.items():
        for package in packages:
            for release in kb.releases(package):
                forms = [form for each in kb.packages[package].tags for form in each.forms] or [
                    "{release}"
                ]
                named = [Setup((), f"{family}:{form.format(release=release)}") for form in forms]
                yield next(asked for asked in named if _is_understood(kb, asked))


def _is_understood(kb: KnowledgeBase, asked: Setup) -> bool:
    try:
        describe(kb, asked)
    except UsageError:
        return False
    return True


def _command(asked: Setup, ops: Sequence[str] | None) -> str:
    words = ["d9m advise"]
    words += [
        f"--with {name}={version}" if version else f"--with {name}"
        for name, version in asked.packages
    ]
    words += [f"--container {asked.container}"] if asked.container else []
    words += [f"--device {asked.device}"] if asked.device else []
    words += [f"--fact {name}={value}" for name, value in asked.facts]
    words += ["--inference"] if asked.inference else []
    words += [f"--ops {op}" for op in ops or ()]
    return " ".join([*words, "--format python"])


def _block(text: str, command: str, advice: Advice) -> EmittedProgram:
    made = [step for step in advice.steps if live(advice, step)]
    shell = [step for step in made if step.kind in ("env", "append", "unset")]
    at_start = [step for step in shell if step.read_at == "process-start"]
    later = [step for step in shell if step not in at_start]
    return EmittedProgram(
        text=text,
        origin=command,
        installs=tuple(advice.settings.install),
        required={step.name: step.value or "" for step in at_start if step.kind != "unset"},
        refused={
            step.name: step.refuses if step.any_value else ["random"]
            for step in at_start
            if step.kind != "unset"
        },
        forbidden=tuple(step.name for step in at_start if step.kind == "unset"),
        sets={step.name: step.value or "" for step in later if step.kind == "env"},
        above_import=bool(later) or any(step.before_import for step in made),
    )
