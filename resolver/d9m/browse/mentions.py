"""Names of ops, packages, settings, GPUs and versions in a text."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence

import msgspec

from d9m.browse import named_devices, named_packages, named_settings
from d9m.browse.named_devices import says
from d9m.browse.named_settings import NAME
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
    """Whether it only stands in code that was pasted with the sentences."""


class Mentions(msgspec.Struct, frozen=True):
    """What a text names."""

    packages: dict[str, str | None]
    """Package -> its version, where the text gives one; the newest of several."""
    ops: tuple[OpMention, ...]
    settings: dict[str, str | None]
    """Setting -> the value that stands behind it."""
    gpu: str | None
    """The GPU model; None where the text names none, or several."""
    device: str | None
    """The device; None where the text names none, several, or the usual one."""
    facts: dict[str, str]
    """Fact -> what the text says of it."""
    releases: dict[str, list[str]]
    """Package -> its releases, where the text names several, oldest first."""
    unlisted: dict[str, str]
    """Package -> a version of it that no record lists."""
    arguments: dict[str, str]
    """Argument of a call -> its value: ``spatial_dims=3``."""
    values: tuple[str, ...]
    """Values of arguments that stand as words of a sentence: ``bilinear``."""
    parameters: dict[str, str]
    """Setting at a call or of a program -> the value that the text gives its parameter or flag:
    ``deterministic=True``, ``--parallel 1``.
    """
    words: int
    """How many words the text has."""
    asked: frozenset[str] = frozenset()
    """Settings that the text only asks about."""
    misspelt: dict[str, str] = {}
    """Variable that nothing reads -> the one that was meant."""


def find(kb: KnowledgeBase, text: str, before: Sequence[str] = ()) -> Mentions:
    """Everything that a text names. A name in everyday use counts where it is written as code.

    `before` are the packages that are named elsewhere: next to one of them a setting does not stand
    for the framework that reads it.
    """
    everyday = frozenset(kb.word_lists.everyday)
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
    settings = dict(named_settings.find(kb, text))
    known = [*packages, *before]
    if not any(package in VERSION_OPTIONS or framework_of(kb, package) for package in known):
        packages.update(dict.fromkeys(_readers(kb, settings)))
    settings.update(dict.fromkeys(named_settings.in_words(kb, text, [*packages, *before])))
    ops: dict[str, OpMention] = {}
    sentences = prose(text)
    said = {op.name for op in _ops(kb, sentences, everyday)} if sentences != text else None
    for op in _ops(kb, text, everyday):
        if said is not None and op.name not in said:
            op = msgspec.structs.replace(op, is_aside=True)
        ops.setdefault(plain(op.name).rpartition(".")[2], op)
    gpu, devices = named_devices.gpu(kb, text), named_devices.find(kb, text)
    device = named_devices.device(devices)
    return Mentions(
        packages,
        tuple(ops.values()),
        settings,
        gpu,
        None if gpu and device == "cpu" else device,
        dict(_facts(kb.word_lists, text, packages, named_devices.kind(devices))),
        several,
        unlisted,
        dict(_arguments(kb, text)),
        tuple(_values(kb.word_lists, text.lower())),
        {
            **dict(named_settings.parameters(kb, text)),
            **dict(named_settings.statements(kb, text)),
            **dict(named_settings.flags(kb, text)),
        },
        len(text.split()),
        named_settings.asked(kb, text) if settings else frozenset(),
        dict(named_settings.misspelt(kb, text)),
    )


def _values(words: Words, text: str) -> Iterator[str]:
    """The values of arguments that a text in lower case says."""
    for value, names in words.values.items():
        if any(says(text, name) for name in (value, *names)):
            yield value


def _readers(kb: KnowledgeBase, settings: Iterable[str]) -> Iterator[str]:
    """The frameworks that read some settings: ``TF_DETERMINISTIC_OPS`` names TensorFlow. Of several
    that read one, the record names the usual one first.
    """
    for setting in settings:
        when = kb.settings[setting].when
        cases = when if isinstance(when, list) else [when]
        readers = frameworks([package for case in cases for package in case])
        yield from readers[:1]


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
    """What a text says of a program: ``strategy=ddp`` that it runs on several devices."""
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
    known: dict[str, tuple[str, ...]] = {}
    hyphened = _hyphened(kb, text, everyday)
    yield from hyphened.values()
    for match in NAME.finditer(text):
        name = match[0]
        if match.start() in hyphened:
            continue
        is_file = text.startswith((".py", "/"), match.end())
        if is_file or named_settings.called(kb, name) is not None:
            continue
        if _is_overwritten(kb.word_lists, text, match):
            continue
        is_code = _is_code(text, match)
        if name.lower() in everyday and not _is_quoted(text, match):
            continue
        if name.startswith("__") or not (is_code or _is_word(name)):
            continue
        if name.rpartition(".")[2].lower() in everyday and _is_method(kb, name):
            continue
        if name not in known:
            known[name] = tuple(_homes(kb, name))
        if known[name]:
            yield OpMention(name, known[name], is_code)
        elif (made := _object(kb, name, everyday)) is not None:
            yield made


def _object(kb: KnowledgeBase, name: str, everyday: frozenset[str]) -> OpMention | None:
    """The op of a library whose name the object has on which a method is called: ``kmeans.fit``."""
    head, dot, _rest = name.partition(".")
    if not dot or head.lower() in everyday or head in op_names.modules(kb):
        return None
    homes = [home for home in _homes(kb, head) if home not in VERSION_OPTIONS]
    return OpMention(head, tuple(homes)) if homes else None


_ARGUMENTS_THEN = re.compile(r"\((?:[^()]|\([^()]*\))*\)\s*\.\s*(?P<method>\w+)\(")
_FUNCTION_BEFORE = re.compile(r"(\w+)\(\s*$")
LONGEST_CALL = 60
"""Characters of a function's name before what it is called with."""


_HYPHENED = re.compile(r"(?<![\w./-])[a-z]{3,20}(?:-[a-z]{2,20}){1,2}(?![\w-])")


def _hyphened(kb: KnowledgeBase, text: str, everyday: frozenset[str]) -> dict[int, OpMention]:
    """Place -> an op whose name is written as in prose: ``scatter-add``."""
    found: dict[int, OpMention] = {}
    for match in _HYPHENED.finditer(text):
        name = match[0].replace("-", "_")
        homes = () if name in everyday else tuple(_homes(kb, name))
        if homes:
            found[match.start()] = OpMention(name, homes, is_code=False)
    return found


def _is_overwritten(words: Words, text: str, match: re.Match[str]) -> bool:
    """Whether a call makes memory that another call fills at once: ``torch.empty(3).random_(5)``,
    ``init.normal_(torch.empty(3))``.
    """
    if match[0].rpartition(".")[2] not in words.overwritten.calls:
        return False
    then = _ARGUMENTS_THEN.match(text, match.end())
    before = _FUNCTION_BEFORE.search(text, max(0, match.start() - LONGEST_CALL), match.start())
    writers = (then["method"] if then else "", before[1] if before else "")
    return not set(words.overwritten.by).isdisjoint(writers)


def _is_code(text: str, match: re.Match[str]) -> bool:
    name = match[0]
    called = text.startswith("(", match.end())
    mixed = any(letter.isupper() for letter in name[1:]) and not name.isupper()
    return called or mixed or any(sign in name for sign in "._:") or _is_quoted(text, match)


def _is_word(name: str) -> bool:
    """Whether a name without any sign of code may be that of an op."""
    return name.islower() or name.istitle() or len(name) > LONGEST_SHOUT


LONGEST_SHOUT = 3
"""Capital letters that are rather an abbreviation than an op: ``MAX``, but not ``LSTM``."""


def _is_quoted(text: str, match: re.Match[str]) -> bool:
    return text.endswith("`", 0, match.start()) and text.startswith("`", match.end())


def _is_method(kb: KnowledgeBase, name: str) -> bool:
    """Whether it is called on an object of the program: ``loss.mean``, but not ``torch.mean``."""
    head, dot, _rest = name.partition(".")
    return bool(dot) and head.lower() not in op_names.modules(kb)


def _homes(kb: KnowledgeBase, name: str) -> Iterator[str]:
    """Packages of which a name means an op: one that is written with its module, or that is known
    to differ somewhere.
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
    """Those of some packages that have a version option of their own."""
    return [package for package in packages if package in VERSION_OPTIONS]
