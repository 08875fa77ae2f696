"""Options that describe an environment and ops, read into a question."""

import sys
from collections.abc import Sequence
from typing import Annotated, TextIO

import typer

from d9m.environment.environment import Setup
from d9m.errors import DataError, UsageError, quote, reason
from d9m.model import op_syntax

Tf = Annotated[list[str] | None, typer.Option("--tf", metavar="V", help="TensorFlow version: 2.0, 2.1.0, any.")]
Torch = Annotated[
    list[str] | None, typer.Option("--torch", metavar="V", help="PyTorch version: 2.4, 2.4.1+cu121, any.")
]
Jax = Annotated[list[str] | None, typer.Option("--jax", metavar="V", help="JAX version.")]
With = Annotated[
    list[str] | None,
    typer.Option("--with", metavar="NAME[=V]", help="Any package; without version: every release."),
]
Container = Annotated[
    str | None, typer.Option("--container", metavar="IMAGE:TAG", help="ngc-pytorch:23.12, or an image reference.")
]
Ops = Annotated[
    list[str] | None,
    typer.Option("--ops", metavar="LIST", help="conv,bias_add; @FILE or - reads lines. Quote items with brackets."),
]
Device = Annotated[str | None, typer.Option("--device", help="cuda, rocm, mps, xpu or cpu.")]
Inference = Annotated[bool, typer.Option("--inference", help="No gradients: drops backward.")]
FactOption = Annotated[
    list[str] | None, typer.Option("--fact", metavar="NAME=VALUE", help="xla=true; see: d9m list facts.")
]


Calls = Annotated[
    list[str] | None,
    typer.Option("--calls", metavar="CALL", help="A call you make already: seed_everything; may repeat."),
]


def asked(
    tf: Sequence[str] | None,
    torch: Sequence[str] | None,
    jax: Sequence[str] | None,
    with_: Sequence[str] | None,
    container: str | None,
    device: str | None,
    inference: bool,
    facts: Sequence[str] | None,
) -> Setup | None:
    """The environment as given; None where nothing names one. Raises UsageError."""
    given = {"--tf": tf, "--torch": torch, "--jax": jax, "--with": with_, "--fact": facts}
    given |= {"--container": _one(container), "--device": _one(device)}
    for option, values in given.items():
        _check(option, values or ())
    packages: list[tuple[str, str | None]] = []
    packages += [(name, version) for name, option in _SHORT for version in given[option] or ()]
    packages += [_package(text) for text in with_ or ()]
    if not packages and container is None:
        return None
    return Setup(tuple(packages), container, device, read_facts(facts), inference)


_SHORT = (("tensorflow", "--tf"), ("torch", "--torch"), ("jax", "--jax"))


def _one(value: str | None) -> Sequence[str] | None:
    return None if value is None else [value]


def _check(option: str, values: Sequence[str]) -> None:
    if "" in values:
        raise UsageError(f"{option} is empty")
    for value in values:
        if not value.isprintable():
            raise UsageError(f"{option} holds control characters: {quote(value)}")


def _package(text: str) -> tuple[str, str | None]:
    name, equals, version = text.partition("=")
    version = version.lstrip("=")
    if not name.strip() or (equals and not version.strip()):
        raise UsageError(f"--with {quote(text)}: expected NAME or NAME=VERSION")
    return name.strip(), version.strip() if equals else None


def read_facts(texts: Sequence[str] | None) -> tuple[tuple[str, str], ...]:
    """The ``NAME=VALUE`` of every ``--fact``. Raises UsageError."""
    found: list[tuple[str, str]] = []
    for text in texts or ():
        name, equals, value = text.partition("=")
        if not (equals and name.strip() and value.strip()):
            raise UsageError(f"--fact {quote(text)}: expected NAME=VALUE", tip="see: d9m list facts")
        found.append((name.strip(), value.strip()))
    return tuple(found)


def read_calls(texts: Sequence[str] | None) -> list[str]:
    """Every ``--calls``. Raises UsageError."""
    _check("--calls", texts or ())
    return list(dict.fromkeys(texts or ()))


MOST_OPS = 10_000
"""Items of one question; a catalogue has fewer."""


def read_ops(lists: Sequence[str] | None) -> list[str] | None:
    """The items of every ``--ops``; None where none was given. Raises UsageError for an empty list."""
    if lists is None:
        return None
    items = [item for each in lists for item in _items(each)]
    if not items:
        raise UsageError("--ops is empty", tip="leave it out for everything known of the environment")
    if len(items) > MOST_OPS:
        raise UsageError(f"--ops has {len(items)} items, {MOST_OPS} are allowed")
    return [each.text for each in {item: op_syntax.parse(item) for item in items}.values()]


def _items(text: str) -> list[str]:
    if text == "-":
        return _lines(sys.stdin, "standard input")
    if not text.startswith("@"):
        return op_syntax.split(text)
    try:
        with open(text[1:], encoding="utf-8") as file:
            return _lines(file, quote(text[1:]))
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"--ops {quote(text)}: cannot be read: {reason(error)}") from None


def _lines(file: TextIO, name: str) -> list[str]:
    text = file.read(MOST_OPS * op_syntax.LONGEST)
    if file.read(1):
        raise UsageError(f"{name} is too long for a list of ops")
    kept = (line.partition("#")[0] for line in text.splitlines())
    return [item for line in kept for item in op_syntax.split(line)]
