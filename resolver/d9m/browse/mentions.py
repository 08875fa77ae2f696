"""Names of ops, packages, settings, GPUs and versions in a text."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence

import msgspec

from d9m.browse import named_devices, named_packages, named_settings
from d9m.browse.absence import present
from d9m.browse.named_devices import says
from d9m.browse.named_settings import NAME, SetInText
from d9m.browse.prose import prose
from d9m.environment.packages import framework_of
from d9m.environment.version_options import VERSION_OPTIONS
from d9m.kb.store import KnowledgeBase, OpEntry
from d9m.model.op_syntax import plain
from d9m.model.words import Words
from d9m.resolve import op_names


class OpMention(msgspec.Struct, frozen=True):
    """A name that ops of these packages have."""

    name: str
    packages: tuple[str, ...]
    is_code: bool = True
    """Whether it is written as code, not as a word of a sentence."""
    is_aside: bool = False
    """Whether it is only in code that was pasted with the sentences."""


class Mentions(msgspec.Struct, frozen=True):
    """The things that a text names."""

    packages: dict[str, str | None]
    """Package -> its version, where the text gives one; the newest of several."""
    ops: tuple[OpMention, ...]
    settings: dict[str, str | None]
    """Setting -> the value that follows it."""
    in_code: dict[str, SetInText]
    """Settings that code, configuration or a log in the text sets."""
    gpu: str | None
    """The GPU model; None where the text names none, or several."""
    device: str | None
    """The device; None where the text names none, several, or the usual one."""
    devices: frozenset[str]
    """All devices that the text names."""
    facts: dict[str, str]
    """Fact -> what the text says of it."""
    releases: dict[str, list[str]]
    """Package -> its releases, where the text names several, oldest first."""
    unlisted: dict[str, str]
    """Package -> a version of it that no record lists."""
    arguments: dict[str, str]
    """Argument of a call -> its value: ``spatial_dims=3``."""
    values: tuple[str, ...]
    """Values of arguments that are words of a sentence: ``bilinear``."""
    misspelt: dict[str, str]
    """Variable that nothing reads -> the one that was meant."""


def find(kb: KnowledgeBase, text: str, before: Sequence[str] = ()) -> Mentions:
    """Everything that a text names. A name in everyday use counts where it is written as code.

    `before` are the packages that are named elsewhere: next to one of them a setting does not stand
    for the framework that reads it.
    """
    everyday = frozenset(kb.word_lists.everyday)
    whole, text = text, present(kb, text)
    packages: dict[str, str | None] = {}
    several: dict[str, list[str]] = {}
    unlisted: dict[str, str] = {}
    for package, stated in named_packages.find(kb, text, everyday).items():
        listed = named_packages.listed(kb, package, stated)
        if stated and not listed:
            unlisted[package] = stated[0]
            if named_packages.is_older(kb, package, stated[0]):
                continue
        packages[package] = listed[-1] if listed else None
        if len(listed) > 1:
            several[package] = listed
    settings = named_settings.named(kb, text)
    known = [*packages, *before]
    if not any(package in VERSION_OPTIONS or framework_of(kb, package) for package in known):
        packages.update(dict.fromkeys(_readers(kb, settings)))
    devices = named_devices.find(kb, text)
    return Mentions(
        packages,
        tuple(_ops(kb, text, everyday)),
        settings,
        named_settings.in_code(kb, whole, packages),
        named_devices.gpu(kb, text),
        named_devices.device(devices),
        devices,
        dict(_facts(kb.word_lists, text, packages, named_devices.kind(devices))),
        several,
        unlisted,
        dict(_arguments(kb, text)),
        tuple(
            value
            for value, names in kb.word_lists.values.items()
            if any(says(text.lower(), name) for name in (value, *names))
        ),
        dict(named_settings.misspelt(kb, text)),
    )


def _readers(kb: KnowledgeBase, settings: Iterable[str]) -> Iterator[str]:
    """The frameworks that read some settings: ``TF_DETERMINISTIC_OPS`` names TensorFlow. Of several
    that read one, the record names the usual one first.
    """
    for setting in settings:
        when = kb.settings[setting].when
        cases = when if isinstance(when, list) else [when]
        yield from frameworks([package for case in cases for package in case])[:1]


def versions(kb: KnowledgeBase, text: str) -> dict[str, str | None]:
    """The packages of which a log prints the version."""
    found: dict[str, str | None] = {}
    for package, stated in named_packages.find(kb, text, frozenset()).items():
        listed = named_packages.listed(kb, package, stated)
        if len(listed) == 1:
            found[package] = listed[0]
    return found


def _facts(
    words: Words, text: str, packages: Mapping[str, str | None], kind: str | None
) -> Iterator[tuple[str, str]]:
    """Yield the facts that a text states of a program: ``strategy=ddp`` means several devices."""
    for fact, by_packages in words.device_facts.items():
        for by_device in by_packages:
            if kind in by_device.says and not packages.keys().isdisjoint(by_device.packages):
                yield fact, by_device.says[kind]
    said = re.sub(r"\s*=\s*", "=", " ".join(text.lower().replace("-", " ").split()))
    for fact, values in words.facts.items():
        for value, names in values.items():
            if any(says(said, name) for name in names):
                yield fact, value


_ARGUMENT = re.compile(r"(?<!\w)([a-z]\w*)(\s*=\s*|\s)['\"]?(?=(\w+))")


def _arguments(kb: KnowledgeBase, text: str) -> Iterator[tuple[str, str]]:
    """Arguments of calls that decide how an op behaves."""
    for match in _ARGUMENT.finditer(text):
        name, sign, value = match.groups()
        fact = kb.meta.facts.get(name)
        if fact is not None and fact.argument and (sign.strip() or value in fact.values):
            yield name, value


def _ops(kb: KnowledgeBase, text: str, everyday: frozenset[str]) -> Iterator[OpMention]:
    """Each op that a text names, once, however it is written."""
    sentences = prose(text)
    seen: set[str] = set()
    for name, is_code in _op_names(kb, text, everyday):
        key = plain(name).rpartition(".")[2]
        homes = () if key in seen else tuple(_homes(kb, name))
        if homes:
            seen.add(key)
            yield OpMention(name, homes, is_code, is_aside=name not in sentences and is_code)


_SPACED = re.compile(r"(?<![\w./-])[a-z]{3,20}(?:[- ][a-z]{2,20}){1,2}(?![\w-])")


def _op_names(kb: KnowledgeBase, text: str, everyday: frozenset[str]) -> Iterator[tuple[str, bool]]:
    """Names that may be ops, and whether each is written as code: ``torch.cumsum``,
    ``scatter-add``, ``index add``.
    """
    for match in _SPACED.finditer(text):
        words = re.split("[- ]", match[0])
        for joined in ("_".join(words), "_".join(words[:2]), "_".join(words[1:])):
            if joined not in everyday:
                yield joined, False
    for match in NAME.finditer(text):
        name = match[0]
        is_quoted = text.endswith("`", 0, match.start()) and text.startswith("`", match.end())
        is_mixed = any(letter.isupper() for letter in name[1:]) and not name.isupper()
        is_called = text.startswith("(", match.end())
        is_code = is_called or is_mixed or is_quoted or any(sign in name for sign in "._:")
        is_word = name.islower() or name.istitle() or len(name) > LONGEST_SHOUT
        is_part = text.startswith((".py", "/"), match.end()) or _COMPOUND.match(text, match.start())
        if is_part or name.startswith("__") or not (is_code or is_word):
            continue
        head, dot, last = name.rpartition(".")
        is_method = bool(dot) and head.partition(".")[0].lower() not in op_names.modules(kb)
        if (name.lower() in everyday and not is_quoted) or (is_method and last in everyday):
            continue
        if named_settings.called(kb, name) is None:
            yield name, is_code


_COMPOUND = re.compile(r"[A-Za-z]+-[a-z]")
"""A word with a hyphen is one name: ``scatter-add``."""

LONGEST_SHOUT = 3
"""Capital letters that are rather an abbreviation than an op: ``MAX``, but not ``LSTM``."""


def _homes(kb: KnowledgeBase, name: str) -> Iterator[str]:
    """Packages of which a name means an op: one that is written with its module, or that is known
    to be nondeterministic somewhere.
    """
    head, dot, _rest = re.sub(r"^np\.", "numpy.", name).partition(".")
    module = kb.find_package(head) if dot else None
    if dot and head in sys.stdlib_module_names:
        return
    for package in kb.meta.prefixes:
        if module in (None, package):
            entries = op_names.meaning(kb, package, name).entries
            is_whole = module == package and bool(entries) and not _says_a_fact(kb, name)
            if is_whole or any(_has_sources(kb, entry) for entry in entries):
                yield package


def _says_a_fact(kb: KnowledgeBase, name: str) -> bool:
    """Whether a name says how a program runs: ``torch.compile``."""
    facts = kb.word_lists.facts.values()
    return any(name in names for values in facts for names in values.values())


def _has_sources(kb: KnowledgeBase, entry: OpEntry) -> bool:
    return any(kb.sources_of(entry.package, reached.op) for reached in entry.reaches)


def frameworks(packages: Sequence[str]) -> list[str]:
    """Return the packages that have their own version option."""
    return [package for package in packages if package in VERSION_OPTIONS]
