"""How a person's own words are read: the file ``kb/words.yaml``."""

from typing import Literal, TypeAlias

from d9m.model.records import Record

AskedKind: TypeAlias = Literal["recipe", "setting", "versions", "error", "seeds"]


class AbsentWords(Record, frozen=True, kw_only=True):
    """How a text says that something is absent."""

    before: list[str] = []
    """Words before a name: ``without``."""
    behind: list[str] = []
    """Words behind it: ``=0``."""
    names: list[str] = []
    """Things that may be absent."""
    examples: list[str] = []
    """Words with which brackets begin that hold an example."""
    contrasts: list[str] = []
    """Words of a sentence about what is deterministic where the thing is absent."""


class DeviceFact(Record, frozen=True, kw_only=True):
    """A fact that a device decides for some packages."""

    packages: list[str] = []
    says: dict[str, str] = {}
    """Device, ``gpu`` or ``cpu`` -> the value."""


class OnlyWarnsWords(Record, frozen=True, kw_only=True):
    """How a message says that it only warns."""

    said: str
    """The words, in lower case."""
    symptom: str
    """The symptom whose diagnosis such a message has above its own advice."""


class Words(Record, frozen=True, kw_only=True):
    """How a person's own words are compared with the symptoms on record. All is lower case."""

    empty: list[str] = []
    """Words that tell nothing."""
    groups: list[list[str]] = []
    """Words and phrases that say the same; the first one stands for all."""
    topics: list[str] = []
    """Groups that alone make a text one about determinism."""
    kinds: dict[AskedKind, list[str]] = {}
    """Kind of question -> patterns of what it says; the first kind that fits counts."""
    refused_gradient: str | None = None
    """The symptom whose diagnosis a message about gradients has below its own advice."""
    only_warns: OnlyWarnsWords | None = None
    """How a message says that the program goes on."""
    everyday: list[str] = []
    """Names of ops and packages that mean something else in most sentences, unless they are written
    as code.
    """
    devices: dict[str, list[str]] = {}
    """Device -> words that name it."""
    well: list[str] = []
    """Words of a sentence about a device on which the problem does not show."""
    values: dict[str, list[str]] = {}
    """Value of an argument that means nothing else in a sentence, ``bilinear`` -> other words that
    say it.
    """
    device_facts: dict[str, list[DeviceFact]] = {}
    """Fact -> what the device that a text names says of it."""
    facts: dict[str, dict[str, list[str]]] = {}
    """Fact -> its value -> words that say so of a program."""
    absent: AbsentWords = AbsentWords()
    """How a text says that its program lacks something."""
