"""Options that several commands share: how an environment, ops and calls are named."""

import importlib
import inspect
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any, Concatenate, ParamSpec, TextIO

import msgspec
import typer

from d9m.cli.output import offered
from d9m.environment.environment import Setup
from d9m.environment.version_options import VERSION_OPTIONS, VersionOption
from d9m.errors import DataError, UsageError, quote, reason
from d9m.kb.store import KnowledgeBase
from d9m.model import op_syntax

Ops = Annotated[
    list[str] | None,
    typer.Option(
        "--ops",
        "--op",
        autocompletion=offered(lambda kb: (place.partition(":")[2] for place in kb.names)),
        metavar="LIST",
        help="Ops to ask about: conv,bias_add. @FILE or - reads lines, @RUN a recording of "
        "d9m trace. Quote brackets.",
    ),
]
Device = Annotated[
    str | None,
    typer.Option("--device", metavar="cuda|rocm|mps|xpu|cpu", help="Device (gpu means cuda)."),
]
Inference = Annotated[
    bool, typer.Option("--inference", help="Inference only: leave gradients out.")
]
Facts = Annotated[
    list[str] | None,
    typer.Option(
        "--fact",
        metavar="NAME=VALUE",
        autocompletion=offered(
            lambda kb: (
                f"{name}={value}" for name in kb.meta.facts for value in kb.meta.facts[name].values
            )
        ),
        help="A condition, such as xla=true. See: d9m list facts.",
    ),
]
Calls = Annotated[
    list[str] | None,
    typer.Option(
        "--calls",
        metavar="CALL",
        help="A call in your program: 'seed_everything(7)'. Repeatable.",
    ),
]

_WITH = typer.Option(
    "--with", metavar="NAME[=V]", help="Any other package. Without a version: every release."
)
_FROM = typer.Option(
    "--from",
    metavar="FILE",
    help="Read packages from requirements, a lock file, conda YAML, a Dockerfile; - is stdin.",
)
_GPU = typer.Option("--gpu", metavar="NAME", help="GPU model, such as H100 or 'RTX 4090'.")
_CONTAINER = typer.Option(
    "--container", metavar="IMAGE:TAG", help="An image: ngc-pytorch:23.12, or any image reference."
)


def _version_of(package: str, framework: VersionOption) -> Any:
    release = framework.example
    text = f"{framework.title} version: {release}, '>={release}', latest or any."
    names = offered(lambda kb: kb.releases(package))
    option = typer.Option(*framework.options, metavar="V", help=text, autocompletion=names)
    return Annotated[list[str] | None, option]


_ANNOTATIONS: dict[str, Any] = {
    **{package: _version_of(package, framework) for package, framework in VERSION_OPTIONS.items()},
    "with_": Annotated[list[str] | None, _WITH],
    "container": Annotated[str | None, _CONTAINER],
    "from_": Annotated[list[str] | None, _FROM],
    "gpu": Annotated[str | None, _GPU],
    "device": Device,
}
"""Parameters of every command that asks about an environment."""

Rest = ParamSpec("Rest")


class EnvironmentOptions(msgspec.Struct, frozen=True):
    """The options of an environment, as typed."""

    versions: Mapping[str, Sequence[str]]
    """Framework -> versions, from its own option."""
    with_: Sequence[str] = ()
    container: str | None = None
    from_: Sequence[str] = ()
    gpu: str | None = None
    device: str | None = None

    def setup(
        self, kb: KnowledgeBase, facts: Sequence[str] | None = None, inference: bool = False
    ) -> Setup | None:
        """The environment as named; None where nothing names one. Raises UsageError."""
        for package, versions in self.versions.items():
            _check(VERSION_OPTIONS[package].options[0], versions)
        _check("--with", self.with_)
        _check("--from", self.from_)
        for option, value in (
            ("--container", self.container),
            ("--device", self.device),
            ("--gpu", self.gpu),
        ):
            _check(option, () if value is None else [value])
        packages: list[tuple[str, str | None]] = []
        for package, versions in self.versions.items():
            packages += [(package, version) for version in versions]
        packages += [_package(text) for text in self.with_]
        read = read_facts(facts)
        if not packages and self.container is None and not self.from_:
            return None
        setup = Setup(tuple(packages), self.container, self.device, read, inference, self.gpu)
        for file in self.from_:
            from d9m.environment import package_files

            setup = package_files.with_file(kb, setup, file)
        return setup

    def setup_beside_text(self, kb: KnowledgeBase) -> Setup | None:
        """The environment as named, if by a device alone: a text can name the rest. Raises
        UsageError.
        """
        named = self.setup(kb)
        if named is None and (self.device is not None or self.gpu is not None):
            return Setup(device=self.device, gpu=self.gpu)
        return named

    def setup_or_installed(
        self,
        kb: KnowledgeBase,
        facts: Sequence[str] | None,
        inference: bool,
        needed: bool = True,
    ) -> Setup:
        """The environment as named; else what is installed here, which may be nothing if the
        question brings its packages along. Raises UsageError.
        """
        named = self.setup(kb, facts, inference)
        if named is not None:
            return named
        from d9m.environment.detect import installed_here

        found = installed_here(kb, dict(os.environ), needed)
        device = self.device or found.device
        return Setup(
            found.packages, found.container, device, read_facts(facts), inference, self.gpu
        )


def with_place(
    command: Callable[Concatenate[EnvironmentOptions, Rest], None],
) -> Callable[..., None]:
    """A command that gets the options of an environment as one value, its first parameter."""

    def run(**given: Any) -> None:
        versions = {package: given.pop(package) or () for package in VERSION_OPTIONS}
        lists = {name: given.pop(name) or () for name in ("with_", "from_")}
        words = {name: given.pop(name) for name in ("container", "gpu", "device")}
        command(EnvironmentOptions(versions, **lists, **words), **given)  # type: ignore[call-arg]

    _first, *own = inspect.signature(command, eval_str=True).parameters.values()
    shared: list[inspect.Parameter] = []
    by_name = inspect.Parameter.KEYWORD_ONLY
    for name, annotation in _ANNOTATIONS.items():
        shared.append(inspect.Parameter(name, by_name, default=None, annotation=annotation))
    wrapper: Any = run
    wrapper.__doc__ = command.__doc__
    others = [parameter.replace(kind=by_name) for parameter in own]
    wrapper.__signature__ = inspect.Signature([*shared, *others])
    return run


def _check(option: str, values: Sequence[str]) -> None:
    if "" in values:
        raise UsageError(f"{option} is empty")
    for value in values:
        if not value.isprintable():
            raise UsageError(f"{option} holds control characters: {quote(value)}")


def _package(text: str) -> tuple[str, str | None]:
    end = next((place for place, letter in enumerate(text) if letter in "<>=!~"), len(text))
    name, version = text[:end].strip(), text[end:].lstrip("=").strip()
    if not name or (end < len(text) and not version):
        raise UsageError(f"--with {quote(text)}: expected NAME, NAME=VERSION or NAME>=VERSION")
    return name, version or None


def read_facts(texts: Sequence[str] | None) -> tuple[tuple[str, str], ...]:
    """The ``NAME=VALUE`` of every ``--fact``. Raises UsageError."""
    _check("--fact", texts or ())
    found: list[tuple[str, str]] = []
    for text in texts or ():
        name, equals, value = text.partition("=")
        if not (equals and name.strip() and value.strip()):
            raise UsageError(
                f"--fact {quote(text)}: expected NAME=VALUE", tip="see: d9m list facts"
            )
        found.append((name.strip(), value.strip()))
    return tuple(found)


def read_calls(texts: Sequence[str] | None) -> list[str]:
    """Every ``--calls``. Raises UsageError."""
    _check("--calls", texts or ())
    return list(dict.fromkeys(texts or ()))


MOST_OPS = 10_000
"""Items of one question; a catalogue has fewer."""


def read_ops(lists: Sequence[str] | None) -> list[str] | None:
    """The items of every ``--ops``; None where none was given. Raises UsageError for an empty
    list.
    """
    if lists is None:
        return None
    items: list[str] = []
    for text in lists:
        items += _items(text)
    if not items:
        raise UsageError(
            "--ops is empty", tip="leave it out for everything known of the environment"
        )
    if len(items) > MOST_OPS:
        raise UsageError(f"--ops has {len(items)} items, {MOST_OPS} are allowed")
    return [op_syntax.parse(item).text for item in dict.fromkeys(items)]


def _items(text: str) -> list[str]:
    if text == "-":
        return _lines(sys.stdin, "standard input")
    if not text.startswith("@"):
        return op_syntax.split(text)
    if os.path.isdir(text[1:]):
        return _called(text[1:])
    try:
        with open(text[1:], encoding="utf-8") as file:
            return _lines(file, quote(text[1:]))
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"--ops {quote(text)}: cannot be read: {reason(error)}") from None


def _called(run: str) -> list[str]:
    """The ops of a recorded run."""
    from pathlib import Path

    from d9m.kb.locate import open_knowledge_base

    recordings = importlib.import_module("d9m.trace.called_ops")
    return list(recordings.called_ops(open_knowledge_base(), Path(run)).items)


def _lines(file: TextIO, name: str) -> list[str]:
    text = file.read(MOST_OPS * op_syntax.LONGEST)
    if file.read(1):
        raise UsageError(f"{name} is too long for a list of ops")
    items: list[str] = []
    for line in text.splitlines():
        items += op_syntax.split(line.partition("#")[0])
    return items
