"""Bind the arguments of a call to parameters, with the defaults of those left out.

Positional arguments go to parameters as in Python. A callable with several overloads is
called by the one that fits the arguments.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping, Sequence

import msgspec

from d9m.model.literals import EXPRESSION, kind, split_parts, value
from d9m.model.records import Existence, Fact
from d9m.model.versions import within

ANY = "*"
"""In a fact's `parameters`: every other value that a call says."""

_COUNT = " elements"
"""There, too: ``4 elements`` is every value with so many."""


class Signature(msgspec.Struct, frozen=True, omit_defaults=True):
    """How a callable is called in some releases."""

    name: str
    spans: tuple[Existence, ...]
    overloads: tuple[str, ...]
    """Parameter lists as Python writes them: ``input, dim: int, keepdim=False``.

    A word after a colon (Tensor, int, number, bool) says that only such an argument fits.
    """


class Arguments(msgspec.Struct, frozen=True):
    """The arguments of a call, each as it is written."""

    positional: tuple[str, ...] = ()
    keywords: dict[str, str] = {}


def arguments(text: str) -> Arguments:
    """Parse the text between the brackets of a call: ``x, (2, 2), mode='area'``."""
    positional: list[str] = []
    keywords: dict[str, str] = {}
    for part in split_parts(text):
        name, equals, value = part.partition("=")
        if equals and name.strip().isidentifier() and not value.startswith("="):
            keywords[name.strip()] = value.strip()
        else:
            positional.append(part)
    return Arguments(tuple(positional), keywords)


def signature_in(signatures: Iterable[Signature], name: str, release: str) -> Signature | None:
    """The signature that a callable has in a release; one of exactly this name comes first."""
    there = [each for each in signatures if any(within(release, span) for span in each.spans)]
    return next(iter(exact(there, name)), None)


def exact(signatures: Sequence[Signature], name: str) -> tuple[Signature, ...]:
    """Those of exactly this name; without any, all."""
    return tuple(each for each in signatures if each.name == name) or tuple(signatures)


def drop_first(overload: str) -> str:
    """The parameters of a function that are left where its first argument is an object, as a
    method's.
    """
    return ", ".join(split_parts(overload)[1:])


def parameter_names(overload: str) -> list[str]:
    return [parameter.name for parameter in _parameters(overload)]


def bind(
    signature: Signature, positional: Sequence[str], keywords: Mapping[str, str]
) -> dict[str, str]:
    """Parameter -> value, for what is given and for what is left out.

    `positional` and `keywords` are Python texts, quotes included. Values are the words that
    conditions use: ``true``, ``false``, ``none``, whole numbers, strings in lower case, and the
    elements of a sequence joined by commas. A value that the text does not say begins with
    `EXPRESSION`. A parameter without a default that is left out is missing, and one that only
    other overloads have is ``none``; next to unpacked arguments (``*args``) everything that is not
    given is missing. Where the arguments fit several overloads that read them
    differently, the result has what these agree on. A call that fits no overload says what its
    keywords say, and nothing of what is left out.
    """
    chosen = _best_fits(signature, positional, keywords)
    if not chosen:
        return {name: value(text) for name, text in keywords.items()}
    if all(found.given == chosen[0].given for found in chosen):
        chosen = chosen[:1]
    names: dict[str, None] = {}
    for overload in signature.overloads:
        names |= dict.fromkeys(each.name for each in _parameters(overload) if each.is_plain())
    agreed, *others = [_completed(found, names) for found in chosen]
    for other in others:
        agreed = {name: text for name, text in agreed.items() if other.get(name) == text}
    return agreed


def given_parameters(
    signature: Signature, positional: Sequence[str], keywords: Mapping[str, str]
) -> set[str]:
    """The parameters that a call gives, rather than leaving them to their defaults."""
    names = set(keywords)
    for found in _best_fits(signature, positional, keywords):
        names.update(found.given)
    return names


def _best_fits(
    signature: Signature, positional: Sequence[str], keywords: Mapping[str, str]
) -> list[_Fit]:
    """How the arguments fit the overloads that know most of them; none where Python would refuse
    the call.
    """
    overloads = [_parameters(text) for text in signature.overloads]
    fits = [found for overload in overloads if (found := _fit(overload, positional, keywords))]
    best = min((found.misfit for found in fits), default=None)
    return [found for found in fits if found.misfit == best]


def decide_facts(facts: Mapping[str, Fact], bound: Mapping[str, str]) -> dict[str, str]:
    """Fact -> value, for the facts that bound parameters decide.

    A value that the fact does not have says nothing. An expression says the fact's value that it
    ends in: ``tf.image.ResizeMethod.BICUBIC``, and ``mode=area`` without quotes.
    """
    found: dict[str, str] = {}
    for name, fact in facts.items():
        for parameter, words in fact.parameters.items():
            said = _fact_value(fact, words, bound[parameter]) if parameter in bound else None
            if said and said != EXPRESSION:
                found.setdefault(name, said)
    return found


class _Parameter(msgspec.Struct, frozen=True):
    name: str
    stars: str = ""
    word: str = ""
    default: str | None = None
    named: bool = False
    """Whether an argument must name it."""

    def is_plain(self) -> bool:
        return self.stars != "**"

    def fits(self, text: str) -> bool:
        return not self.word or kind(text) in _FITTING[self.word]


class _Fit(msgspec.Struct, frozen=True):
    """How the arguments of a call fit one overload."""

    parameters: tuple[_Parameter, ...]
    given: dict[str, str]
    """Parameter -> value."""
    unpacked: bool
    """Whether unpacked arguments (``*args``) may give what else is left out."""
    misfit: tuple[int, int]
    """Arguments that it does not know, and arguments that it needs and does not get."""


_FITTING = {
    "Tensor": {"expression", "sequence"},
    "int": {"expression", "sequence", "int", "str", "none"},
    "number": {"expression", "int", "number"},
    "bool": {"expression", "bool"},
}
"""Word of a parameter -> kinds of arguments."""


@functools.cache
def _parameters(text: str) -> tuple[_Parameter, ...]:
    found: list[_Parameter] = []
    named = False
    for part in split_parts(text):
        left, equals, default = part.partition("=")
        name, _colon, word = left.partition(": ")
        stars = name[: len(name) - len(name.lstrip("*"))]
        if name != stars:
            found.append(
                _Parameter(name.lstrip("*"), stars, word, default if equals else None, named)
            )
        named = named or stars == "*"
    return tuple(found)


def _fit(
    parameters: tuple[_Parameter, ...], positional: Sequence[str], keywords: Mapping[str, str]
) -> _Fit | None:
    """How the arguments fit; None where Python would refuse them."""
    places = [each for each in parameters if not each.named and each.stars != "**"]
    given: dict[str, str] = {}
    for place, text in enumerate(positional):
        if text.startswith("*"):
            break
        parameter = places[min(place, len(places) - 1)] if places else None
        if parameter is None or (place >= len(places) and not parameter.stars):
            return None
        if not parameter.fits(text):
            return None
        said = value(text)
        given[parameter.name] = (
            f"{given[parameter.name]},{said}" if parameter.name in given else said
        )
    if given.keys() & keywords.keys():
        return None
    known = {each.name: each for each in parameters}
    takes_any = any(each.stars == "**" for each in parameters)
    unknown = 0 if takes_any else len(keywords.keys() - known.keys())
    for name, text in keywords.items():
        if name in known and not known[name].fits(text):
            return None
        given[name] = value(text)
    unpacked = any(text.startswith("*") for text in positional)
    needed = [each for each in parameters if each.default is None and not each.stars]
    missing = 0 if unpacked else sum(each.name not in given for each in needed)
    return _Fit(parameters, given, unpacked, (unknown, missing))


def _completed(found: _Fit, names: Iterable[str]) -> dict[str, str]:
    """The arguments of a call with the defaults of what is left out."""
    own = {each.name: each for each in found.parameters if each.is_plain()}
    bound = dict(found.given)
    for name in names:
        if name in bound or found.unpacked:
            continue
        if name not in own:
            bound[name] = "none"
        elif (default := own[name].default) is not None:
            bound[name] = value(default)
    return bound


def _fact_value(fact: Fact, words: Mapping[str, str], said: str) -> str | None:
    """The value of a fact that the value of a parameter means."""
    if any(word.endswith(_COUNT) for word in words):
        return words.get(f"{_length(said)}{_COUNT}")
    if said.startswith(EXPRESSION):
        last = said.rpartition(".")[2].removeprefix(EXPRESSION).lower()
        return words.get(last, last if last in fact.values else words.get(EXPRESSION))
    elements = set(said.split(","))
    single = elements.pop() if len(elements) == 1 else said
    if single in words:
        return words[single]
    if single in fact.values or (fact.type == "int" and single.isdigit()):
        return single
    return words.get(ANY)


def _length(said: str) -> int | None:
    """How many elements a value has; None where unpacked ones hide the number."""
    text = said.removeprefix(EXPRESSION)
    if text[:1] not in ("(", "["):
        return len(said.split(",")) if text == said else None
    parts = split_parts(text[1:-1])
    return None if any(part.startswith("*") for part in parts) else len(parts)
