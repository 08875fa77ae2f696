"""The facts of one file: what rules know of it once its text is forgotten.

Facts of Python and of job files have the same type, so that a variable counts wherever it is set.
They depend on nothing but the text and the vocabulary of the records, and can be kept.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

import msgspec

from d9m.scan.finding import Spot

FileKind: TypeAlias = Literal["python", "notebook", "shell", "docker", "yaml", "env", "other"]

Written: TypeAlias = Literal[
    "assigned", "setdefault", "update", "putenv", "magic", "exported", "unexported",
    "command", "lost", "image", "build", "job", "unset",
]  # fmt: skip
"""How a variable is written.

By Python's own process: ``assigned``, ``setdefault``, ``update``, ``putenv``, ``magic``
(``%env``). Before it starts: ``exported``, ``command`` (``NAME=value python …``), ``image``
(Docker's ``ENV``), ``job`` (YAML's ``env:``, ``docker run -e``, ``srun --export``). Without effect:
``unexported`` (a shell variable that no line of the file exports), ``lost`` (``RUN export``,
``os.system("export …")``), ``build`` (Docker's ``ARG``).
"""

BY_PROCESS: frozenset[Written] = frozenset(("assigned", "setdefault", "update", "putenv", "magic"))
WITHOUT_EFFECT: frozenset[Written] = frozenset(("unexported", "lost", "build"))

Arms: TypeAlias = tuple[tuple[int, int], ...]
"""The branches around a statement, outermost first: number of the branching statement in its file,
and of its arm. Two statements of different arms never run both.
"""


class EnvironmentWrite(msgspec.Struct, frozen=True, kw_only=True):
    """A variable of the environment that is set or taken away."""

    name: str
    value: str | None
    """None where the text does not say it (``$SEED``)."""
    how: Written
    place: Spot
    """In YAML a ``name:``/``value:`` pair has the place of the name."""
    name_place: Spot | None = None
    """Where exactly the name is, with its quotes, for a fix."""
    scope: int = 0
    arms: Arms = ()
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
    launcher: str = ""
    """The program that starts its processes: ``torchrun``, ``mpirun``; empty for Python."""
    ranks: str = ""
    """How many processes, as far as the text says: ``8``; ``?`` for a variable, empty if unsaid."""
    variables: dict[str, str | None] = {}
    """Set for this command alone; None where the text does not say the value."""
    place: Spot
    drops: str | None = None
    """How the variables begin that do not reach the program, as after ``env -i``; empty for all."""


class Import(msgspec.Struct, frozen=True, array_like=True):
    module: str
    """Absolute, or with leading dots."""
    name: str
    """The imported name; empty for the module, ``*`` for all."""
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


class WrittenCall(msgspec.Struct, frozen=True, kw_only=True):
    """A call of something that the records name."""

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
    """The kind of a method's object, or else of the first argument, if one function shows it:
    ``tensor``, ``integer tensor``.
    """
    target: str = ""
    """The name that the result is given."""
    made_from: tuple[str, ...] = ()
    """Qualified names of calls inside its arguments, through names of the same function."""
    without_gradients: bool = False
    guarded: bool = False
    """Under ``hasattr``, ``try`` or a test of a version."""
    fallback: bool = False
    """Only where something (a seed) is None, or where a look-up finds nothing."""
    written_down: bool = False
    """Its first argument is shown, stored under a key or returned by the same function."""
    in_loop: bool = False

    @property
    def gets_nothing(self) -> bool:
        """Whether it gets no argument, or None alone: a seed call then takes a new seed."""
        given = [*self.positional, *self.keywords.values()]
        return not given or given == ["None"]


class Assignment(msgspec.Struct, frozen=True, kw_only=True):
    """``torch.backends.cudnn.benchmark = True``: an attribute of a module gets a value."""

    name: str
    value: str | None
    """Literals as written; None for anything else."""
    place: Spot
    value_place: Spot
    scope: int = 0
    arms: Arms = ()


class Order(msgspec.Struct, frozen=True, kw_only=True):
    """A value that depends on an order which is not fixed."""

    kind: Literal["listing", "set", "completion", "identity", "hash"]
    name: str
    """The call that has no order, or ``set``."""
    place: Spot
    used: str
    """How it is used, as half a sentence: ``random.shuffle(files)``."""
    used_line: int
    subject: str = ""
    """The expression as written, for the fix."""
    can_wrap: bool = False
    """Whether ``sorted(…)`` around it puts it in order."""


class FileFacts(msgspec.Struct, frozen=True, kw_only=True):
    """All of one file."""

    path: str
    kind: FileKind
    unreadable: str = ""
    """Why it could not be read, as half a sentence; the rest is then empty."""
    scopes: tuple[CodeScope, ...] = ()
    imports: tuple[Import, ...] = ()
    calls: tuple[WrittenCall, ...] = ()
    assignments: tuple[Assignment, ...] = ()
    variables: tuple[EnvironmentWrite, ...] = ()
    launches: tuple[Launch, ...] = ()
    sourced: tuple[tuple[str, int], ...] = ()
    """Scripts whose commands run in it (``source env.sh``), each with its line."""
    orders: tuple[Order, ...] = ()
    called: tuple[tuple[int, str], ...] = ()
    """Scope and last name of each call that no branch decides on."""
    sure_calls: tuple[tuple[int, int, str], ...] = ()
    """Scope, line and qualified name of each, but for methods of objects and known packages."""
    main: tuple[tuple[int, int], ...] = ()
    """First and last line of what only runs where the file itself is run."""
    options: tuple[tuple[str, bool], ...] = ()
    """Options of a command line, and whether each is None unless it is typed."""
    none_by_default: tuple[tuple[int, str], ...] = ()
    """Scope and name of parameters whose default is None."""
    may_seed: tuple[tuple[int, str], ...] = ()
    """Line and name of calls of code out of sight whose name says that they seed."""
    named: tuple[str, ...] = ()
    """Of YAML: dotted names among its values, such as the class of a model."""
    seed_line: int = 0
    """Of YAML: the line of a key such as ``seed: 1``."""
    is_entry: bool = False
    """Whether it has ``if __name__ == "__main__"``."""
    is_script: bool = False
    """Whether it calls something as a statement of its module."""
    cells: tuple[tuple[int, int], ...] = ()
    """Of a notebook: number of a code cell, and the line before its first in the joined text."""
