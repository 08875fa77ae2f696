"""The facts of one file: what rules know of it once its text is forgotten.

Facts of Python and of job files have the same type, so that a variable counts wherever it is set.
They depend on nothing but the text and the vocabulary of the records, and can be kept.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypeAlias

import msgspec

from d9m.scan.finding import Spot

FileKind: TypeAlias = Literal[
    "python", "notebook", "shell", "docker", "yaml", "env", "other", "about"
]
"""``about`` says something of the project: a README, a licence, a configuration of its programs."""

Written: TypeAlias = Literal[
    "assigned",
    "setdefault",
    "update",
    "putenv",
    "magic",
    "exported",
    "unexported",
    "command",
    "lost",
    "image",
    "build",
    "job",
    "child",
    "unset",
]
"""How a variable is written.

By Python's own process: ``assigned``, ``setdefault``, ``update``, ``putenv``, ``magic``
(``%env``). Before it starts: ``exported``, ``command`` (``NAME=value python …``), ``image``
(Docker's ``ENV``), ``job`` (YAML's ``env:``, ``docker run -e``, ``srun --export``), ``child``
(``env=`` of a subprocess). Without effect: ``unexported`` (a shell variable that no line of the
file exports), ``lost`` (``RUN export``, ``os.system("export …")``), ``build`` (Docker's ``ARG``).
"""

BY_PROCESS: frozenset[Written] = frozenset(("assigned", "setdefault", "update", "putenv", "magic"))
WITHOUT_EFFECT: frozenset[Written] = frozenset(("unexported", "lost", "build"))

Arms: TypeAlias = tuple[tuple[int, int], ...]
"""The branches that a statement stands in, outermost first: number of the branching statement in
its file, and of its arm. Two statements of different arms never run both.
"""


Comparison: TypeAlias = Literal["true", "false", "in", "not in", "<", "<=", ">", ">="]
Opening: TypeAlias = Literal["", "rest", "decorator"]


class EnvironmentWrite(msgspec.Struct, frozen=True, kw_only=True):
    """A variable of the environment that is set or taken away."""

    name: str
    value: str | None
    """None where the text does not say it (``$SEED``)."""
    how: Written
    place: Spot
    """In YAML a ``name:``/``value:`` pair has the place of the name."""
    value_place: Spot | None = None
    name_place: Spot | None = None
    """Where exactly the name stands, without quotes, for a fix."""
    scope: int = 0
    arms: Arms = ()
    offered: str = ""
    copies: str = ""
    """The variable whose value it appends to, as in ``XLA_FLAGS="$XLA_FLAGS …"``."""


class Launch(msgspec.Struct, frozen=True, kw_only=True):
    """A command of a job file that starts a Python program."""

    path: str = ""
    """The file that it runs, as written: ``scripts/train.py``."""
    module: str = ""
    """Or the module: ``pkg.train`` of ``python -m pkg.train``."""
    options: tuple[str, ...] = ()
    """Options of the program as written, such as ``--deterministic-mode``."""
    variables: dict[str, str | None] = {}
    """Set for this command alone; None where the text does not say the value."""
    place: Spot
    launcher: str = ""
    """``torchrun``, ``mpirun``."""
    ranks: str = ""
    """How many processes it starts; ``?`` where the text does not say it."""


class Import(msgspec.Struct, frozen=True, array_like=True):
    module: str
    """Absolute, or with leading dots."""
    name: str
    """What is taken from it; empty for the module itself, ``*`` for all."""
    line: int
    scope: int
    guarded: bool = False
    """Under ``try`` or ``if``: it may not be there."""


class CodeScope(msgspec.Struct, frozen=True):
    """The module, a class or a function of a file."""

    kind: Literal["module", "class", "function"]
    name: str
    """``Model.forward``; empty for the module."""
    parent: int
    line: int = 1
    end_line: int = 0
    registered: bool = False
    """Whether a decorator puts it into a register, from which its name is looked up."""
    bases: tuple[str, ...] = ()
    """Of a class: qualified names."""
    parameters: tuple[tuple[str, str], ...] = ()
    """Name and default as written; the default is empty where there is none."""
    opened_by: Opening = ""
    """Why a function may get other arguments than its parameters say: it has ``*rest``, or what
    decorates it gives them.
    """


OWN = ("self", "cls")
"""The first parameter of a method, which a call does not give."""


def class_around(scopes: Sequence[CodeScope], scope: int) -> int:
    """The class that holds a scope, or is it; 0 outside of classes."""
    while scope > 0 and scopes[scope].kind != "class":
        scope = scopes[scope].parent
    return scope


def scopes_around(scopes: Sequence[CodeScope], scope: int) -> list[int]:
    """A scope and those around it, innermost first, without the module unless it is that."""
    found = [scope]
    while scopes[found[-1]].parent > 0:
        found.append(scopes[found[-1]].parent)
    return found


class Predicate(msgspec.Struct, frozen=True, array_like=True):
    """What a test asks of a name: ``mode == "train"`` is ``in`` of one value."""

    subject: str
    """As written: ``self.mode``."""
    test: Comparison
    values: tuple[str, ...] = ()
    """Literals as written."""


class Guard(msgspec.Struct, frozen=True, array_like=True):
    """A piece of a scope that only runs where predicates hold."""

    place: Spot
    scope: int
    predicates: tuple[Predicate, ...]


class AttributeValue(msgspec.Struct, frozen=True, array_like=True):
    """``self.mode = mode``: what a class gives an attribute of its objects."""

    scope: int
    """The class; 0 for an attribute of any other object."""
    name: str
    literal: str = ""
    """As written."""
    parameter: str = ""
    """Of ``__init__``. Without either it can be anything."""


class WrittenCall(msgspec.Struct, frozen=True, kw_only=True):
    """A call that may matter."""

    name: str
    """Qualified (``torch.nn.functional.interpolate``), or ``.cumsum`` for a method of an object."""
    positional: tuple[str, ...] = ()
    """Literals as written; anything else as a name."""
    keywords: dict[str, str] = {}
    place: Spot
    scope: int = 0
    arms: Arms = ()
    receiver: str = ""
    """Of a method: the object as written (``self.rng``), if it is a name."""
    kind: str = ""
    """What the object of a method, or else the first argument, is if one function shows it:
    ``tensor``, ``integer tensor``.
    """
    target: str = ""
    """The name that the result is given."""
    made_from: tuple[str, ...] = ()
    """Qualified names of calls inside its arguments, through names of the same function."""
    without_gradients: bool = False
    guarded: bool = False
    """Under ``hasattr``, ``try`` or a test of a version."""
    offered: str = ""
    """Parameter of its function that has to ask for it, and is false by default."""
    fallback: bool = False
    """Only where something (a seed) is None."""
    from_alphabet: bool = False
    """A draw of characters, which make a name."""
    none_with: str = ""
    """The parameter of its function that its only argument is None with: ``seed``, or ``own`` after
    ``own = None if seed is None else seed + rank``.
    """
    written_down: bool = False
    """Its first argument is shown, stored under a key or returned by the same function."""
    in_main: bool = False
    """Only where the file itself is run: under ``if __name__ == "__main__"``."""
    in_lambda: str = ""
    """The name of the lambda that it stands in, if that has one."""
    in_loop: bool = False
    to_show: bool = False
    """What it gives is only shown, or only decides whether something is: ``if random() < 0.01:
    print(loss)``.
    """
    unread: bool = False
    """Whether it makes a generator that its function never reads."""
    refilled: bool = False
    """Whether its function overwrites all that the layer draws with constants."""
    on_trial: bool = False
    """Whether it only runs where somebody debugs, or tests what is trained."""
    insert: tuple[int, int] = (0, 0)
    """Line and column at which a further argument can be written."""

    @property
    def gets_nothing(self) -> bool:
        """Whether it gets no argument, or None alone: a seed call then takes a new seed."""
        given = [*self.positional, *self.keywords.values()]
        return not given or given == ["None"]


DYNAMIC = "*"
"""The name of a call of something that only the run decides: ``getattr(models, name)()``."""


class LocalCall(msgspec.Struct, frozen=True, array_like=True):
    """A call of the project's own code, or its name handed on as a value."""

    scope: int
    name: str
    """The last part of its name."""
    is_bare: bool
    """Written without what it belongs to: ``train()``, not ``engine.train()``."""
    of_object: bool = False
    """Written as a method of what cannot be a module: ``self.fit()``, ``KMeans(8).fit()``."""
    asked: tuple[str, ...] = ()
    """Keywords that are given something other than False, None or 0."""
    positional: int = 0
    constants: tuple[tuple[str, str], ...] = ()
    """Keywords and numbers of places, each with the short literal that it is given, or ``$`` and
    the name.
    """
    has_rest: bool = False
    """Whether ``*rest`` or ``**rest`` gives more."""
    is_optional: bool = False
    """Whether a test of something else decides that it is called."""
    line: int = 0
    is_call: bool = False
    is_statement: bool = False
    """Whether it is a statement by itself, so that nobody keeps its value."""
    in_main: bool = False
    """Only where the file itself is run."""
    may_seed: bool = False
    """Whether its name, or a seed that it gets, says that it seeds; of no call that is known, other
    than as a helper.
    """
    in_step: bool = False
    """Whether it stands in a step of a dataset: ``transforms.Lambda(lambda image: cut(image))``."""


class OwnDraw(msgspec.Struct, frozen=True, array_like=True):
    """A method of a generator that the file made: ``self.rng.normal()``."""

    generator: str
    place: Spot
    scope: int
    from_alphabet: bool = False
    target: str = ""
    """The name that the result is given."""


class StateWrite(msgspec.Struct, frozen=True, array_like=True):
    """``rng.bit_generator.state = state``: a generator that the file made gets a state."""

    generator: str
    line: int
    scope: int


class OptionDefault(msgspec.Struct, frozen=True, array_like=True):
    """An option of a command line, and its value where nobody gives one, as written."""

    name: str
    """Without dashes, as the program reads it: ``num_workers``."""
    default: str


class Assignment(msgspec.Struct, frozen=True, kw_only=True):
    """``torch.backends.cudnn.benchmark = True``: an attribute of a module gets a value."""

    name: str
    value: str | None
    """Literals as written; None for anything else."""
    place: Spot
    value_place: Spot
    scope: int = 0
    arms: Arms = ()
    offered: str = ""


class Order(msgspec.Struct, frozen=True, kw_only=True):
    """Something without a fixed order, and the consumer that builds on its order."""

    kind: Literal["listing", "set", "completion", "identity", "hash"]
    name: str
    """The call that has no order, or ``set``."""
    place: Spot
    consumer: str
    """What builds on it, as half a sentence: ``random.shuffle(files)``."""
    consumer_place: Spot
    sure: bool = True
    """Otherwise it is a hint at most."""
    draws: str = ""
    """The consumer, if it draws from a global generator: ``random.shuffle``."""
    subject: str = ""
    """The expression as written, for the way out."""
    holds: str = ""
    """The expression whose words say what the elements are; `subject` may be made of it."""
    by_caller: bool = False
    """Whether the consumer takes the place that its function gets: ``self.files[index]``."""
    returned: bool = False
    """Whether its function returns it: then that has no consumer."""
    consumer_path: str = ""
    """The file of the consumer, where that is another one."""
    wrap: Spot | None = None
    """What a fix may put into ``sorted(…)``."""
    scope: int = 0
    in_main: bool = False
    """Only where the file itself is run."""
    lasting: bool = False
    """Whether it numbers or splits the elements, which is meant to hold in every run, even in a
    program that seeds nothing.
    """
    kept_as: str = ""
    """The attribute that its numbers go into, and nothing else: ``class_to_id``."""
    also_in: tuple[int, ...] = ()
    """Lines in which the same function lists the same, unsorted: what it makes of one may belong
    to what it makes of the other, element by element.
    """


class OrderUse(msgspec.Struct, frozen=True, kw_only=True):
    """What builds on the order of what a function of the project returns."""

    called: str
    """The function: ``:list_files`` of this file, ``data.list_files`` of another."""
    consumer: str
    place: Spot
    scope: int
    in_main: bool = False
    draws: str = ""
    lasting: bool = False
    by_caller: bool = False


class FileFacts(msgspec.Struct, frozen=True, kw_only=True):
    """All of one file."""

    path: str
    kind: FileKind
    unreadable: str = ""
    """Why it could not be read, as half a sentence; the rest is then empty."""
    unreadable_line: int = 1
    scopes: tuple[CodeScope, ...] = ()
    imports: tuple[Import, ...] = ()
    calls: tuple[WrittenCall, ...] = ()
    assignments: tuple[Assignment, ...] = ()
    variables: tuple[EnvironmentWrite, ...] = ()
    launches: tuple[Launch, ...] = ()
    orders: tuple[Order, ...] = ()
    order_uses: tuple[OrderUse, ...] = ()
    called: tuple[LocalCall, ...] = ()
    own_draws: tuple[OwnDraw, ...] = ()
    states: tuple[StateWrite, ...] = ()
    options: tuple[OptionDefault, ...] = ()
    mentioned: tuple[str, ...] = ()
    """Every name in it, but for those of its own definitions and of attributes that it assigns."""
    texts: tuple[str, ...] = ()
    """Words in texts: in those of Python, in configurations and documents."""
    values: tuple[str, ...] = ()
    """What its texts may give to something: ``coco`` in ``--data coco``, not in ``data ==
    "coco"``.
    """
    named: tuple[str, ...] = ()
    """Of YAML: dotted names among its values, such as the class of a model."""
    seed_line: int = 0
    """Of YAML: the line of a key such as ``seed: 1``."""
    guards: tuple[Guard, ...] = ()
    attributes: tuple[AttributeValue, ...] = ()
    is_entry: bool = False
    """Whether it has ``if __name__ == "__main__"``."""
    cells: tuple[tuple[int, int], ...] = ()
    """Of a notebook: number of a code cell, and the line before its first in the joined text."""
