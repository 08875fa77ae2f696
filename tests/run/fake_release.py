"""A framework of any release, as a package that has the names which evidence gives it
(tests/emitted/api_names.json) and notes what is called and assigned.
"""

from __future__ import annotations

import sys
from pathlib import Path

from started import installed

sys.path.append(str(Path(__file__).parents[1] / "emitted"))
from api_names import lifetimes

BODY = """
import sys, types

calls = []


class Strict(types.ModuleType):
    def __setattr__(self, name, value):
        if name not in self.__dict__ and not name.startswith("__"):
            raise AttributeError("{} has no {}".format(self.__name__, name))
        if not name.startswith("__"):
            calls.append("{}.{} = {}".format(self.__name__, name, value))
        types.ModuleType.__setattr__(self, name, value)


def named(name, words):
    def call(*arguments, **keywords):
        assert set(keywords) <= set(words), (name, keywords)
        calls.append("{}({})".format(name, ", ".join(map(str, arguments))))
        return Strict(name)

    return call


for dotted, words in NAMES.items():
    parts, owner = dotted.split("."), sys.modules[__name__]
    for end in range(2, len(parts)):
        place = ".".join(parts[:end])
        if place not in sys.modules:
            sys.modules[place] = owner.__dict__[parts[end - 1]] = Strict(place)
            sys.modules[place].__path__ = []
        owner = sys.modules[place]
    owner.__dict__.setdefault(parts[-1], named(dotted, words))
"""


def names_of(package: str, release: str) -> dict[str, list[str]]:
    """Dotted name -> the keywords that it takes, in a release."""
    found: dict[str, list[str]] = {}
    for text, lifetime in lifetimes().items():
        if text.startswith(f"{package}.") and lifetime.covers(release):
            name, _bracket, word = text.partition("(")
            found.setdefault(name, [])
            if word:
                found[name].append(word.rstrip("=)"))
    return dict(sorted(found.items()))


def fake_release(place: Path, package: str, release: str) -> Path:
    """Make a folder of packages with this release in it, and return it."""
    return installed(place, package, release, f"NAMES = {names_of(package, release)!r}\n{BODY}")
