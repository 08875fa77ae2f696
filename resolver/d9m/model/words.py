"""How somebody's own words are read: the file ``kb/words.yaml``."""

from d9m.model.records import Record


class RuledOutWords(Record, frozen=True, kw_only=True):
    """How a text says that something plays no part in its trouble."""

    said: list[str] = []
    """What a clause says so with: ``makes no difference``."""
    names: list[str] = []
    """What can play no part; the first word of a group stands for all of it."""


class AbsentWords(Record, frozen=True, kw_only=True):
    """How a text says that something is absent."""

    before: list[str] = []
    """Words before a name: ``without``."""
    behind: list[str] = []
    """Words behind it: ``=0``."""
    names: list[str] = []
    """What can be absent; the first word of a group stands for all of it."""
    examples: list[str] = []
    """Words with which brackets begin that hold an example."""
    contrasts: list[str] = []
    """Groups of a sentence that says what repeats where the thing is absent."""
    ruled_out: RuledOutWords = RuledOutWords()
    """How a text says that something plays no part."""


class DeviceFact(Record, frozen=True, kw_only=True):
    """A fact that a device decides for some packages."""

    packages: list[str] = []
    says: dict[str, str] = {}
    """Device, ``gpu`` or ``cpu`` -> the value."""


class OverwrittenWords(Record, frozen=True, kw_only=True):
    """How a program fills memory that it takes unwritten."""

    calls: list[str] = []
    """Last names of calls that leave what they return unwritten: ``empty``."""
    by: list[str] = []
    """Last names of those that write all of it: ``random_``."""


class OnlyWarnsWords(Record, frozen=True, kw_only=True):
    """How a message says that it only warns."""

    said: str
    """What it says. All is lower case."""
    symptom: str
    """The symptom whose first paragraph such a message has above its own advice."""


class AskedWords(Record, frozen=True, kw_only=True):
    """How a question asks about a setting that nobody says to have made."""

    begins: list[str] = []
    """Its first words: ``should``."""
    opens: list[str] = []
    """What can stand before them: ``hello``, ``so``."""
    made: list[str] = []
    """What says in such a question that it is made all the same: ``besides``; ``it`` stands for
    the setting.
    """


class SeededWords(Record, frozen=True, kw_only=True):
    """How a text says that seeds are set, without saying which. All is lower case."""

    before: list[str] = []
    """Words before a seed: ``same``."""
    between: list[str] = []
    """What can stand between: ``random``."""
    behind: list[str] = []
    """Words behind a seed: ``is fixed``."""
    not_before: list[str] = []
    """Words before which it says no such thing: ``to`` set a seed."""


class TwoModelsWords(Record, frozen=True, kw_only=True):
    """How code builds one model twice."""

    group: str
    """What such a text says."""
    moves: list[str] = []
    """Methods that move a model to a device: ``cuda``."""
    copies: list[str] = []
    """What copies or loads weights: ``load_state_dict``. All is lower case."""
    arrays: list[str] = []
    """Libraries whose calls make arrays: ``torch`` in ``torch.rand(3)``."""
    models: list[str] = []
    """Parts of them whose calls make models: ``nn`` in ``torch.nn.Linear(2, 3)``."""


class Words(Record, frozen=True, kw_only=True):
    """How somebody's own words are compared with the symptoms on record."""

    empty: list[str] = []
    """Words that tell nothing. All words are lower case."""
    groups: list[list[str]] = []
    """Words and phrases that say the same; the first one stands for all."""
    ruling_out: dict[str, list[str]] = {}
    """Group -> phrases that say it, in addition to what their words say. Such a group only rules
    symptoms out.
    """
    faint: list[str] = []
    """Words of groups that often mean something else: a symptom needs more than one of them."""
    negations: list[str] = []
    """Words that turn what follows into its opposite: ``not``, and the ``t`` of ``isn't``."""
    opposite: dict[str, str] = {}
    """Group -> what it says after a negation."""
    implies: dict[str, str] = {}
    """Group -> another one that its words say as well."""
    several: dict[str, str] = {}
    """Group -> what it says where two different words of it stand together: an A100 and a V100 are
    two models.
    """
    together: dict[str, list[str]] = {}
    """Group -> those that say it where all of them stand in one sentence."""
    topics: list[list[str]] = []
    """Groups that make a text one about determinism, where all of a list stand in one thought."""
    general: str | None = None
    """The symptom that such a text shows at least."""
    with_all_settings: str | None = None
    """The symptom of a program that has all settings and still differs."""
    beyond_switch: list[str] = []
    """Symptoms of what the switches do not reach: their answer stays where all are on."""
    with_switch: str | None = None
    """The symptom of a program that has one of the `switches`, and not all settings."""
    switches: list[str] = []
    """Settings that switch the deterministic ops of a framework on."""
    narrow_switches: list[str] = []
    """Settings that reach few ops, and that people take for a switch of all."""
    another_cause: str | None = None
    """The symptom of a program in which what is named repeats by the records, and runs differ."""
    refused_gradient: str | None = None
    """The symptom whose first paragraph a message about gradients has below its own advice."""
    next_to_message: dict[str, str] = {}
    """Group -> the symptom whose first paragraph a message has below its own advice, where a text
    says so next to it.
    """
    only_warns: OnlyWarnsWords | None = None
    """How a message says that the program goes on."""
    broad: list[str] = []
    """Symptoms that nearly every complaint shows: any other one is the better answer."""
    sameness: list[str] = []
    """Symptoms of results that should differ and do not: no second answer to somebody whose results
    differ.
    """
    runs: list[str] = []
    """Groups that say outright that runs are compared."""
    readings: list[str] = []
    """Symptoms that a text may mean which does not say what it compares."""
    everyday: list[str] = []
    """Names of ops and packages that mean something else in most sentences, unless they are written
    as code.
    """
    devices: dict[str, list[str]] = {}
    """Device -> words that name it."""
    well: list[str] = []
    """What a sentence says of a device on which the trouble does not show."""
    overwritten: OverwrittenWords = OverwrittenWords()
    """How a program fills memory that it takes unwritten."""
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
    asked: AskedWords = AskedWords()
    """How a text asks about a setting."""
    seeded: SeededWords = SeededWords()
    """How a text says that seeds are set."""
    two_releases: str | None = None
    """Group that a text says which names one package in two releases."""
    two_models: TwoModelsWords | None = None
    """How code builds one model twice."""
    said_by_code: dict[str, list[str]] = {}
    """Group -> code that says it, in lower case; ``…`` stands for names: ``for … in set(``."""
    in_both_releases: list[str] = []
    """What says that the trouble is the same in both: ``occurs in``."""
