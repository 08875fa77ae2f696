"""The record types of the knowledge base, and nothing else.

A record is one small YAML file under ``kb/``; its id is its path. YAML is read
as strings only, so numbers and booleans below are converted by msgspec.

Two ideas carry every record: ``when``, one grammar for conditions, and a
*timeline*, a step function over the releases of one package.
"""

import functools
import re
from collections.abc import Collection, Iterator
from typing import Annotated, Any, Literal, TypeAlias, get_args

import msgspec

from d9m.model.when import Clause, Condition, Range, When, parse


class Record(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """Base of all record types: immutable, unknown keys are errors."""


class Conditional(Record, frozen=True, dict=True):
    """Base of what has a `when`."""

    @functools.cached_property
    def condition(self) -> Condition:
        """Its `when`, parsed when first asked for."""
        record: Any = self
        return parse(record.when)


Prose: TypeAlias = Annotated[str, "prose"]
"""A text in our words for a person to read; no outcome, setting or exit code depends on it."""


Labels: TypeAlias = tuple[str, ...]
"""Solutions that are all needed together."""


def together(combined: str) -> Labels:
    """The solutions of ``A + B``; none of an empty text."""
    return tuple(combined.split(" + ")) if combined else ()


class Ruling(Record, frozen=True, dict=True):
    """Base of what says how ops behave: steps and exceptions to them."""

    @functools.cached_property
    def alternatives(self) -> tuple[Labels, ...]:
        """The labels in `by`, preferred first."""
        ruling: Any = self
        return tuple(together(combined) for combined in ruling.by)


RecordedOutcome = Literal[
    "no-known-source", "deterministic", "solved", "unknown", "raises", "unsolved"
]
"""The outcome of a source with the advised settings once everything is decided, best first. Records
say this.
"""

Outcome = Literal[
    "no-known-source", "deterministic", "solved", "depends", "unknown", "raises", "unsolved"
]
"""The outcome of an answer, best first. ``depends``: the question leaves open which of several; no
record can say it.
"""

Default = Literal["deterministic", "nondeterministic", "raises", "unknown"]
"""The behaviour of an op with nothing set."""

Scope = Literal["run", "batch", "hardware"]

INCLUDED: dict[Scope, tuple[Scope, ...]] = {
    "run": ("run",),
    "batch": ("run", "batch"),
    "hardware": ("run", "hardware"),
}
"""Scope -> the scopes whose sources it has: what differs between runs differs between machines."""
"""Same bits from run to run; for any batch composition; on any machine."""

EvidenceKind = Literal[
    "assumed",
    "documented",
    "release-note",
    "tested-upstream",
    "source-read",
    "binary-read",
    "measured",
]
"""Weakest first. ``assumed``: a vendor build taken to behave like the stock release."""

EVIDENCE_KINDS: tuple[EvidenceKind, ...] = get_args(EvidenceKind)


class Evidence(Record, frozen=True, kw_only=True):
    """The evidence for a claim. Exactly one of ``document``, ``url``, ``run`` and ``wheel`` names
    the place.
    """

    kind: EvidenceKind
    document: str | None = None
    """Id of a record under ``documents/``."""
    url: str | None = None
    run: str | None = None
    """Id of a measured run under ``evidence/``."""
    wheel: str | None = None
    """The wheel of a release: a fact file under ``evidence/wheels/``, such as ``torch-2.6.0``."""
    where: str | None = None
    """Section, table row, line or function inside the place."""
    date: str | None = None
    """When it was published: a release, a commit, the start of a thread or its merge."""
    read: str | None = None
    """The day we read it, where that is all that is known: the page may have changed since."""
    note: Prose | None = None
    """Its statement in our words; required where ``follows`` is false."""
    follows: bool = True
    """Whether the record follows this statement; false keeps a disagreeing one in view."""


class Caution(Conditional, frozen=True, kw_only=True):
    """Something to know when ``when`` holds; ``blocks`` makes a solution unusable there."""

    text: Prose
    when: When = {}
    blocks: bool = False
    evidence: list[Evidence] = []


class SettingChange(Conditional, frozen=True, kw_only=True):
    """One setting changed: exactly one of ``set`` (to the first value everyone accepts) and
    ``unset``.
    """

    set: str | None = None
    unset: str | None = None
    to: list[str] = []
    """Accepted values, preferred first."""
    when: When = {}
    any_value: bool = False
    """`to` is a suggestion: any fixed value does as well (a seed)."""
    note: Prose | None = None
    """Half a line shown next to the setting."""

    @property
    def name(self) -> str:
        """The setting that it turns."""
        return self.set or self.unset or ""


class Workaround(Conditional, frozen=True, kw_only=True):
    text: Prose
    when: When = {}
    settings: list[SettingChange] = []
    evidence: list[Evidence] = []


class Cost(Conditional, frozen=True, kw_only=True):
    text: Prose
    when: When = {}
    factor: str | None = None
    """Time with the setting over time without it."""
    evidence: list[Evidence] = []


class Unless(Conditional, Ruling, frozen=True, kw_only=True):
    """An exception to a step: where ``when`` holds, this instead."""

    when: When
    outcome: RecordedOutcome | None = None
    by: list[str] = []
    default: Default | None = None
    error: str | None = None
    note: Prose | None = None
    evidence: list[Evidence] = []


class TimelineStep(Ruling, frozen=True, kw_only=True):
    """From this release until the next step's.

    ``by`` lists alternatives, preferred first; ``"A + B"`` needs both. With
    ``outcome: raises`` it lists the switches that make the op raise. Without an
    outcome, ``by`` means solved.
    """

    from_: str = msgspec.field(name="from")
    outcome: RecordedOutcome | None = None
    by: list[str] = []
    as_: Literal["stock"] | None = msgspec.field(name="as", default=None)
    """On a vendor's track: behaves as the stock release it is built from."""
    default: Default | None = None
    error: str | None = None
    """Id of the record under ``errors/`` that a raising step shows."""
    unless: list[Unless] = []
    verified_through: str | None = None
    """Last release that was checked; required on a track's last step."""
    note: Prose | None = None
    evidence: list[Evidence] = []


class Source(Conditional, frozen=True, kw_only=True):
    """One mechanism of nondeterminism in one home package."""

    title: Prose
    summary: Prose
    """One or two sentences: what happens, and what that means for the user."""
    mechanism: str
    """The kind of mechanism: atomic-float-add, algorithm-choice, uninitialised-memory, …"""
    status: Literal["confirmed", "suspected", "historic"] = "confirmed"
    scope: Scope = "run"
    ops: list[str] = []
    """Query items of its ops: ``tf.nn.bias_add:backward``, ``…interpolate[mode=bilinear]``."""
    when: When = {}
    """Where it applies at all."""
    timeline: dict[str, list[TimelineStep]]
    """Package -> steps: the home package, and its vendor builds where they differ."""
    cautions: list[Caution] = []
    workarounds: list[Workaround] = []
    costs: list[Cost] = []
    evidence: list[Evidence]
    references: list[str] = []
    """Pull requests and issues: ``tensorflow#31465``."""

    def rulings(self) -> Iterator[TimelineStep | Unless]:
        """Every step of every track, each followed by its exceptions."""
        for steps in self.timeline.values():
            for step in steps:
                yield step
                yield from step.unless

    def labels(self) -> set[str]:
        """Every solution that some release has."""
        found: set[str] = set()
        for ruling in self.rulings():
            found.update(*ruling.alternatives)
        return found


class Solution(Conditional, frozen=True, kw_only=True):
    """A fix for a source: settings to change."""

    label: str
    known_label: bool = False
    """People know the label from elsewhere: an answer names it once, after the title."""
    title: Prose
    summary: Prose
    when: When = {}
    """Where it exists."""
    settings: list[SettingChange] = []
    """The settings that the user changes."""
    sets: list[SettingChange] = []
    """The settings that it changes automatically once in use."""
    notes: list[Caution] = []
    """Good to know rather than a warning: what replaces it, what it includes."""
    cautions: list[Caution] = []
    costs: list[Cost] = []
    warns: When | None = None
    """Where a call that it refuses goes on with a warning."""
    evidence: list[Evidence]
    references: list[str] = []

    @functools.cached_property
    def warns_where(self) -> Condition:
        """Its `warns`, parsed when first asked for."""
        return Condition(()) if self.warns is None else parse(self.warns)


class SpellingRule(Conditional, frozen=True, kw_only=True):
    """How a program reads the text of a setting, from its source."""

    same: dict[str, str] = {}
    """Text -> the value that it stands for: ``true`` -> ``1``; empty for a flag without a value."""
    ignores_case: bool = False
    when: When = {}
    """Where it reads like that."""


class Setting(Conditional, frozen=True, kw_only=True):
    """One setting: what is true of it wherever it is made."""

    name: str
    kind: Literal["env", "python", "flag", "config", "install", "code"]
    summary: Prose
    read: Literal["process-start", "import", "first-use", "per-call", "build", "install"]
    """When the value is read; set later, it has no effect."""
    read_in: When = {}
    """Where it is read then, if other releases read it later."""
    statement: str | None = None
    """Python to turn it, with ``{value}``; may be several lines."""
    imports: list[str] = []
    """Import statements that ``statement`` needs: ``import torch``, ``import numpy as np``."""
    before_import: bool = False
    """The statement must run before the framework's import."""
    list_: str | None = msgspec.field(name="list", default=None)
    """Separator of a list variable: its values are united and appended, never overwritten."""
    flags: list[str] = []
    """How the flags of a list variable begin; those of another variable do nothing here."""
    value_type: Literal["string", "integer", "boolean"] = "string"
    """Type of a config key's value."""
    least: int | None = None
    """The lowest number that it takes, where it takes integers."""
    most: int | None = None
    """The highest one."""
    where: str | None = None
    """For ``code``: the call or place to edit."""
    effect: Literal["always", "never"] = "always"
    """``never``: a name in circulation that nothing reads."""
    instead: str | None = None
    """The setting that was meant."""
    accepts: list[str] = []
    """Every value it takes, where the set is closed, or but for those that have its `form`."""
    form: str | None = None
    """``:SIZE:COUNT``: other values, where words in capitals are whole numbers; it may repeat."""
    separators: str | None = None
    """Characters between the words of a value: each word is one of `accepts`, or a number."""
    reading: list[SpellingRule] = []
    """Other spellings of its values; the first one whose `when` holds counts."""
    needs: dict[str, str] = {}
    """Settings without these values of which this one has no effect."""
    refuses: list[str] = []
    """Values that undo what it is set for: ``PYTHONHASHSEED=random``."""
    refuses_in: When = {}
    """Where they undo it, if not everywhere that it is read."""
    default: str | None = None
    """Its value where nothing sets it, in every release that reads it."""
    decides: dict[str, dict[str, str]] = {}
    """Value -> facts that a program has which sets it: new memory is not filled."""
    current: str | None = None
    """Dotted name that holds its value in a running program, or returns it when called."""
    setters: list[str] = []
    """Dotted names of the functions through which a program changes it."""
    when: When = {}
    """Where something reads it."""
    evidence: list[Evidence]

    def has_form(self, text: str) -> bool:
        """Return whether a text has its form."""
        if self.form is None:
            return False
        pattern = re.sub("[A-Z]+", r"\\d+", re.escape(self.form))
        return re.fullmatch(f"(?:{pattern})+", text, re.ASCII) is not None

    def takes_number(self, text: str) -> bool:
        """Return whether a text is a number that it takes, as C and Python read numbers; true for
        a setting that is no number.
        """
        if self.value_type != "integer":
            return True
        if _INTEGER.fullmatch(text) is None:
            return False
        number = int(text)
        is_enough = self.least is None or number >= self.least
        return is_enough and (self.most is None or number <= self.most)

    def number_wanted(self) -> str:
        """Describe the numbers that it takes: ``a whole number from 0 to 7``."""
        lower = "" if self.least is None else f" from {self.least}"
        upper = "" if self.most is None else f" up to {self.most}"
        return f"a whole number{lower}{upper}"


_INTEGER = re.compile(r"\s*[+-]?[0-9]{1,1000}", re.ASCII)
"""Longer ones Python refuses to read."""


class Example(Conditional, frozen=True, kw_only=True):
    """Code to copy. ``python`` blocks are executed by the tests."""

    language: Literal["python", "shell", "json", "text"] = "python"
    code: str
    when: When = {}
    note: Prose | None = None


class Ingredient(Conditional, frozen=True, kw_only=True):
    """A need of every deterministic program in addition to op settings."""

    title: Prose
    summary: Prose
    scope: Scope = "run"
    when: When = {}
    """Where it holds."""
    optional: bool = False
    """Needed by some programs only: its settings are shown, not merged."""
    costly: bool = False
    """Its settings slow a program down severalfold and may not be needed: `d9m run` does not make
    them, unless a solution asks for the same.
    """
    done_by: list[str] = []
    """Labels of solutions that leave nothing of it to do."""
    settings: list[SettingChange] = []
    sets: list[SettingChange] = []
    examples: list[Example] = []
    cautions: list[Caution] = []
    evidence: list[Evidence]
    references: list[str] = []
    order: int = 50
    """Place in lists: lower comes first."""


class Helper(Conditional, frozen=True, kw_only=True):
    """A call that sets things on your behalf."""

    title: Prose
    call: str
    """As a person writes it: ``lightning.seed_everything(workers=True)``."""
    aliases: list[str] = []
    """Other spellings of the call: ``pl.seed_everything``."""
    summary: Prose
    when: When = {}
    """Releases that have it."""
    left_out: When | None = None
    """Where a call without its first argument, or with None, does the same."""
    sets: list[SettingChange]
    overwrites: list[str] = []
    """Names of settings that it replaces even where the user has set another value."""
    warns: When | None = None
    """Where it asks for warnings only: an op that would raise an error goes on, and is
    nondeterministic.
    """
    evidence: list[Evidence]

    @functools.cached_property
    def warns_where(self) -> Condition:
        """Its `warns`, parsed when first asked for."""
        return Condition(()) if self.warns is None else parse(self.warns)

    @functools.cached_property
    def left_out_where(self) -> Condition:
        """Its `left_out`, parsed when first asked for."""
        return Condition(()) if self.left_out is None else parse(self.left_out)


class Target(Record, frozen=True, kw_only=True):
    """A query item that a name reaches, under a condition."""

    op: str
    when: Clause = {}


class Existence(Record, frozen=True, kw_only=True):
    """Releases of the home package that have this name; no bounds: all of the map."""

    from_: str | None = msgspec.field(name="from", default=None)
    until: str | None = None


class OpRecords(Record, frozen=True, kw_only=True):
    """The catalogue of one package: its op names, and the names that reach them."""

    package: str
    prefixes: dict[str, str] = {}
    """How people shorten names: ``F.`` -> ``torch.nn.functional.``."""
    ops: dict[str, Existence]
    reach: dict[str, list[str | Target]] = {}
    """Alias, family, layer, wrapper, alert name -> query items."""
    messages: bool = False
    """Whether these names occur in error texts, logs and profiles: they say nothing of the
    arguments of the call, not even that it left them out.
    """
    defaults: dict[str, dict[str, str]] = {}
    """Name -> facts of a call that leaves them out, where no signature says so: a layer of
    batch normalization trains.
    """
    methods: list[str] = []
    """Name spaces of what is called on an object: ``torch.Tensor.``."""
    plain: list[str] = []
    """Name spaces in which a bare name is looked for, the plainest first."""
    operators: dict[str, list[str]] = {}
    """Name spaces of operators, whose names may end in an overload
    (``torch.ops.aten.index_add.default``), with those of functions that call the operator of their
    name: ``torch.sum`` calls ``torch.ops.aten.sum``.
    """
    unread: list[str] = []
    """Name spaces of the framework whose names no catalogue holds: ``torch.func.``."""
    stands_for: list[str] = []
    """Query items meant by a user who only names the package: FlashAttention means attention."""
    facts: dict[str, dict[str, str]] = {}
    """Op -> facts that a program with it has: ``torch.compile`` -> ``compile: "true"``."""
    parts: dict[str, list[str]] = {}
    """Op -> packages that work when it does, with what they do whatever the op: NCCL."""
    judged: dict[str, str] = {}
    """Op that wraps a user's model -> the part of it that its records are about."""
    see: dict[str, str] = {}
    """Op without records -> ingredient with the advice for it."""
    add_ons: dict[str, str] = {}
    """Name prefix of an add-on -> package that it brings along."""


class Release(Record, frozen=True, kw_only=True):
    date: str | None = None
    """Day (or month) of publication, ISO 8601."""
    with_: dict[str, str] = msgspec.field(name="with", default={})
    """Versions inside: hard in an image, a weak default in a wheel."""
    note: Prose | None = None
    confidence: Literal["confirmed", "weak", "unconfirmed"] = "confirmed"
    evidence: list[Evidence] = []


class TagForm(Record, frozen=True, kw_only=True):
    """Image tags of some releases: ``{release}-tf2-py3``. The first form is the one to show."""

    forms: list[str]
    when: Range = Range()


class TagContents(Record, frozen=True, kw_only=True):
    """Image tags that say what is inside: ``{torch}-cuda{cuda}-cudnn{cudnn}-runtime``."""

    forms: list[str]
    device: Literal["cuda", "rocm", "cpu"] = "cuda"
    """The devices that the packages inside are built for."""


class Review(Record, frozen=True, kw_only=True):
    """Releases of a package of which all public entry points were read for nondeterminism."""

    extent: Literal["whole"]
    releases: list[str]
    entry_points: dict[str, list[Evidence]]
    """Public function, class or command -> where it was read."""

    def covers(self, releases: Collection[str]) -> bool:
        """Return whether each of some releases was read."""
        return bool(releases) and set(releases).issubset(self.releases)


class Package(Record, frozen=True, kw_only=True, dict=True):
    """A package, image or platform component, and its releases."""

    title: Prose
    kind: Literal["framework", "library", "application", "image", "platform"]
    folder: str | None = None
    """Folder of its records under ``sources/`` and ``solutions/``."""
    aliases: list[str] = []
    concerns: When | None = None
    """For a platform part that wheels and images ship: programs that it concerns even if the
    question does not name it.
    """
    builds: dict[str, list[str]] = {}
    """Device -> platform parts that the builds for it ship, in versions that are not listed."""
    devices: dict[str, str] = {}
    """Device -> the release that brought it, where older ones lack it."""
    device: Literal["rocm", "cpu"] | None = None
    """The device that a question about it means, where it says none; absent: an NVIDIA GPU."""
    distributions: list[str] = []
    """Names on PyPI by which an installed copy is found."""
    conda: list[str] = []
    """Names in a conda environment, where they are others than on PyPI."""
    imports: list[str] = []
    """Import names: ``tensorflow``."""
    begun: list[str] = []
    """Dotted names that hold something, or return true when called, once it has computed: a setting
    that is read at first use comes too late then.
    """
    image: str | None = None
    """Public name of an image family: ``ngc-tensorflow``."""
    repository: str | None = None
    """Path in the registry: ``nvidia/tensorflow``."""
    tags: list[TagForm] = []
    holds: list[TagContents] = []
    """For an image that is tagged with the versions of its packages, and has no releases."""
    variable: str | None = None
    """Environment variable inside the image that holds its release."""
    variable_forms: list[str] = []
    """Values of that variable: ``{release}-tf2``."""
    stock: str | None = None
    """For a vendor build: the package that it rebuilds."""
    synonyms: list[str] = []
    """Other names in sentences, lower case, with spaces: ``pytorch lightning``."""
    framework: str | None = None
    """For a library: the framework whose ops it runs."""
    runs_on: list[str] = []
    """For a library that runs on one of several frameworks: these, its default first."""
    computes_alone: bool = False
    """For a library: whether it runs its own models, and no framework's."""
    is_server: bool = False
    """Whether it answers requests with a trained model, and never trains."""
    seed: str | None = None
    """For a library: the setting that seeds its random numbers, or `none` where it draws none."""
    reviewed: Review | None = None
    """Without it no answer calls the package deterministic, however good its records."""
    releases: dict[str, Release] = {}
    """Those that ``evidence/releases/`` lists as well need only what is not said there."""
    contains: dict[str, dict[str, str]] = {}
    """Release -> versions inside its wheel (a release's `with`), the same until the next release
    here; the last one speaks for itself alone.
    """
    never_released: list[str] = []
    lists_every_release: bool = False
    """Whether the list comes from a complete one, such as the package index: what it lacks was
    never released.
    """
    evidence: list[Evidence]
    note: Prose | None = None

    @functools.cached_property
    def concern(self) -> Condition | None:
        """`concerns`, parsed when first asked for."""
        return None if self.concerns is None else parse(self.concerns)


class Frequent(Conditional, frozen=True, kw_only=True):
    """A value that many programs have, though another one is assumed."""

    value: str
    when: When = {}


class Fact(Record, frozen=True, kw_only=True):
    """One word of the closed vocabulary that conditions may use in addition to packages."""

    title: Prose
    values: list[str] = []
    type: Literal["choice", "int"] = "choice"
    least: str = "0"
    """The smallest number that there is, for a whole number."""
    default: str | None = None
    """Assumed, and echoed as assumed; without one the fact can be undecided."""
    usual: str | None = None
    """The value of most programs, where nothing is assumed: of several answers theirs comes first.
    Decides nothing.
    """
    often: list[Frequent] = []
    """Values other than the default that many programs have: a verdict that takes the default for
    granted names them where they are worse.
    """
    fast: str | None = None
    """The value that costs less time, for those who ask for it (`--fast`)."""
    argument: bool = False
    """An argument or property of one call (``interpolate[mode=bilinear]``), not of the program."""
    since: dict[str, str] = {}
    """Package -> the release that brought it: of an older one nothing is assumed aloud."""
    names_device: bool = False
    """Says where a library computes: an answer about such libraries names this, and no device."""
    says: dict[str, Prose] = {}
    """How a value reads in a sentence: ``true`` -> ``with torch.compile``, ``value`` -> ``with
    mode={value}``.

    An integer has ``from``, ``until``, ``is`` and ``range``, which may hold
    ``{from}``, ``{until}`` and ``{last}``: ``on inputs of {from} or more dimensions``.
    """
    parameters: dict[str, dict[str, str]] = {}
    """Parameter of a call that decides it -> value of the parameter -> value of the fact.

    Values that both spell alike are not listed. ``*`` is any other value, ``?`` an argument
    whose value the text of a call does not say; as a value of the fact it says nothing.
    ``4 elements`` is every value with so many; where one is listed, nothing else counts.
    """
    takes: dict[str, list[str]] = {}
    """Op -> the values that it takes, where those of several ops share one word."""


class GpuModel(Record, frozen=True, kw_only=True):
    """A GPU model: what its name decides."""

    device: Literal["cuda", "rocm", "mps", "xpu"] = "cuda"
    sm: str | None = None
    """The fact ``sm``, for NVIDIA's."""
    gfx: str | None = None
    """The fact ``gfx``, for AMD's."""
    aliases: list[str] = []


class GpuFile(Record, frozen=True, kw_only=True):
    """GPU models by the name that people and tools give them, without the maker's."""

    evidence: list[Evidence] = []
    gpus: dict[str, GpuModel] = {}


class ErrorText(Conditional, frozen=True, kw_only=True):
    text: str
    """As shipped; ``{…}`` stands for a part that varies."""
    whole: bool = False
    """Python says its first words of anything (``module 'torch' has no attribute``): only all of it
    is this message.
    """
    when: When = {}


class ErrorRecord(Record, frozen=True, kw_only=True):
    """An error, warning or alert about determinism, in every wording that shipped."""

    title: Prose
    kind: Literal["error", "warning"] = "error"
    exception: str | None = None
    texts: list[ErrorText]
    ops: list[str] = []
    sources: list[str] = []
    advice: Prose
    """The advice."""
    evidence: list[Evidence]


AdviceFor: TypeAlias = Literal["pytorch", "tensorflow", "jax", "other"]
"""Whom a part of a symptom's advice is for; ``other`` is for every framework and library."""


class Symptom(Record, frozen=True, kw_only=True):
    """A trouble as people describe it, without a message, and what to do."""

    title: Prose
    phrases: list[str]
    """How people say it."""
    question: Prose
    """The question that tells this symptom apart from its neighbours."""
    diagnosis: Prose
    """The cause, in at most three sentences."""
    advice: dict[AdviceFor, Prose]
    """The advice, in Markdown."""
    scope: Scope = "run"
    """The comparison in which results differ."""
    by_settings: bool = False
    """Whether the settings that `d9m advise` names are part of the answer."""
    packages: list[str] = []
    """Packages that have a part in it, for every reader."""
    language: str | None = None
    """The language of the programs that it is about, where that is not Python."""
    ops: list[str] = []
    sources: list[str] = []
    evidence: list[Evidence]


class PullRequest(Record, frozen=True, kw_only=True):
    """A pull request or a stand-alone commit."""

    repository: str
    number: str
    title: str
    status: Literal["open", "closed", "merged", "unknown"]
    opened: str | None = None
    merged: str | None = None
    version: str | None = None
    """First release that contains it."""
    updated: str | None = None
    """When the list that named it was last updated, as printed there."""
    url: str = ""
    """Of a commit; that of a pull request follows from its number."""
    notes: list[Prose] = []
    corrections: list[Prose] = []
    """Where an earlier list said otherwise, and what it said."""
    records: list[str] = []
    """Records that cite it under `references`. Derived: not written."""
    evidence: list[Evidence]


class Issue(Record, frozen=True, kw_only=True):
    repository: str
    number: str
    title: str
    status: Literal["open", "closed", "unknown"]
    opened: str | None = None
    updated: str | None = None
    url: str = ""
    """Follows from its number."""
    notes: list[Prose] = []
    corrections: list[Prose] = []
    records: list[str] = []
    """Derived: not written."""
    evidence: list[Evidence]


class Myth(Record, frozen=True, kw_only=True):
    myth: Prose
    fact: Prose
    order: int = 50
    evidence: list[Evidence]


class Correction(Record, frozen=True, kw_only=True):
    """An answer of an earlier edition that was wrong, for those who relied on it."""

    title: Prose
    date: str
    """Of the first edition that is right."""
    was: Prose
    """The wrong statement of d9m."""
    now: Prose
    """The correct statement, and the advice that follows."""
    records: list[str]
    """Sources, solutions and ingredients that say it now, with their evidence."""


class Document(Record, frozen=True, kw_only=True):
    """A page, talk, README or scan that evidence cites."""

    title: str
    url: str
    date: str | None = None
    """When it was written, or last changed."""
    read: str | None = None
    """The day we read it: for an undated page, which may have changed since."""
    kind: Literal[
        "page", "talk", "slides", "poster", "plan", "repository", "package", "scan", "paper"
    ] = "page"
    note: Prose | None = None
    seed: str | None = None
    """Number of the project's seed document that holds a copy: ``"000"``."""
