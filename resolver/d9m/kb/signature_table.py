"""Signatures of the frameworks' callables, each findable by its name alone."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator

from d9m.kb.public_names import spans_of
from d9m.model.op_syntax import plain
from d9m.model.records import Existence
from d9m.model.signatures import Signature, drop_first
from d9m.model.wheel_facts import AS_FUNCTION, OR, SignatureCatalogue, places


def table(catalogues: Iterable[SignatureCatalogue]) -> dict[str, tuple[Signature, ...]]:
    """``package:plain name`` -> the signatures of that name, by release."""
    found: dict[str, list[Signature]] = {}
    for catalogue in catalogues:
        for signature in _signatures(catalogue):
            found.setdefault(f"{catalogue.package}:{plain(signature.name)}", []).append(signature)
    return {key: tuple(signatures) for key, signatures in found.items()}


def _signatures(catalogue: SignatureCatalogue) -> Iterator[Signature]:
    """Every signature, with the releases that have it; open at the ends of what was read."""
    stated: dict[str, dict[int, str]] = {}
    for span, named in catalogue.signatures.items():
        present = places(catalogue.releases, span)
        for name, text in named.items():
            stated.setdefault(name, {}).update(dict.fromkeys(present, text))
    _fill_gaps(stated)
    spans: dict[frozenset[int], tuple[Existence, ...]] = {}
    for name, by_place in stated.items():
        held: dict[tuple[str, bool], set[int]] = {}
        for place, text in by_place.items():
            is_method = text == AS_FUNCTION
            said = stated[_function(name)][place] if is_method else text
            held.setdefault((said, is_method), set()).add(place)
        for (text, is_method), at in held.items():
            overloads = text.split(OR)
            if is_method:
                overloads = [drop_first(each) for each in overloads]
            key = frozenset(at)
            if key not in spans:
                spans[key] = tuple(spans_of(catalogue.releases, key))
            yield Signature(name, spans[key], tuple(overloads))


def _fill_gaps(stated: dict[str, dict[int, str]]) -> None:
    """Take signatures to be the same in releases whose wheels do not show the namespace, if they
    are on both sides.
    """
    shown: dict[str, set[int]] = {}
    for name, by_place in stated.items():
        shown.setdefault(name.rpartition(".")[0], set()).update(by_place)
    for name, by_place in stated.items():
        known = sorted(by_place)
        if known[-1] - known[0] == len(known) - 1:
            continue
        for before, after in itertools.pairwise(known):
            gap = set(range(before + 1, after))
            if by_place[before] == by_place[after] and not gap & shown[name.rpartition(".")[0]]:
                by_place.update(dict.fromkeys(gap, by_place[before]))


def _function(method: str) -> str:
    """``torch.cumsum`` for ``torch.Tensor.cumsum``."""
    space, _dot, last = method.rpartition(".")
    return f"{space.rpartition('.')[0]}.{last}"
