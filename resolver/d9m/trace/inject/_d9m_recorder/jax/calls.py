# pyright: basic
"""Calls of jitted functions from outside of any other: what went in, and what came out.

A jitted function is one program of XLA. It runs as it would alone: what is recorded is read before
the call and after it. Only where its ops are wanted one by one, `eager` runs it.
"""

from __future__ import annotations

import functools
import inspect
import threading

from .eager import Eager
from .records import Records, shape

MAKERS = ("jit", "pmap")
"""Functions of `jax` that make such functions."""

KEYS = ("key", "PRNGKey")
"""Functions of `jax.random` that make a key from a seed."""

LEVELS = ("step", "op")


class Call:
    """The part of a call that is known before it."""

    __slots__ = ("inputs", "name", "plain", "shapes", "source")

    def __init__(self, name: str, source, shapes: list, inputs: list, plain: str) -> None:
        self.name = name
        self.source = source
        self.shapes = shapes
        self.inputs = inputs
        self.plain = plain


class Calls:
    """Wraps what makes jitted functions, and each function that it makes."""

    def __init__(self, jax, session, arrays) -> None:
        self._jax = jax
        self._session = session
        self._arrays = arrays
        self._records = Records(jax, session, arrays)
        self._eager = None
        """Runs functions op by op, if that is wanted."""
        if session.settings.level == "op" and session.settings.compiled == "eager":
            self._eager = Eager(jax, session, arrays, self._records)
        self._tracer = jax.core.Tracer
        self._off: list = []
        self.used = False
        """Whether the program has called one of them, or made a key."""
        self._inside = False
        """Whether such a function runs: what it calls is a part of it."""
        self._thread = threading.get_ident()
        self._called: set = set()
        """Functions that this step has called."""
        self._names: dict = {}

    def begin(self) -> None:
        self._records.hide()
        for name in MAKERS:
            original = getattr(self._jax, name, None)
            if original is not None:
                self._replace(self._jax, name, self._maker(original))
        for name in KEYS:
            original = getattr(self._jax.random, name, None)
            if original is not None:
                self._replace(self._jax.random, name, self._key_maker(name, original))

    def end(self) -> None:
        while self._off:
            self._off.pop()()

    def step_ended(self) -> None:
        self._called.clear()

    def _replace(self, module, name: str, new) -> None:
        original = getattr(module, name)
        setattr(module, name, new)
        self._off.append(lambda: setattr(module, name, original))

    def _maker(self, original):
        @functools.wraps(original)
        def make(*arguments, **named):
            made = original(*arguments, **named)
            if hasattr(made, "lower"):
                return self.watched(made)
            if arguments or "fun" in named or not callable(made):
                return made

            @functools.wraps(made)
            def decorate(*functions, **more):
                jitted = made(*functions, **more)
                return self.watched(jitted) if hasattr(jitted, "lower") else jitted

            return decorate

        return make

    def watched(self, jitted):
        """The function, with all that a jitted function has."""
        identity = _identity(jitted)

        @functools.wraps(jitted)
        def call(*arguments, **named):
            if self._inside or threading.get_ident() != self._thread:
                return jitted(*arguments, **named)
            before, _done = self._session.guarded(
                "a jitted function", self._before, jitted, identity, arguments, named
            )
            self._inside = True
            try:
                found, by_ops = self._run(jitted, before, arguments, named)
            finally:
                self._inside = False
            self._session.guarded("a jitted function", self._after, before, found, by_ops)
            return found

        for name in dir(jitted):
            if not name.startswith("__") and not hasattr(call, name):
                setattr(call, name, getattr(jitted, name))
        if hasattr(jitted, "__wrapped__"):
            call.__wrapped__ = jitted.__wrapped__
        return call

    def _before(self, jitted, identity, arguments, named):
        """Return what is known before a call; None where JAX only traces it, or it is not
        wanted.
        """
        leaves, tree = self._jax.tree_util.tree_flatten((arguments, named))
        if any(isinstance(leaf, self._tracer) for leaf in leaves):
            return None
        session = self._session
        if identity in self._called:
            session.end_step("call")
        self._called.add(identity)
        self.used = True
        session.open = "call"
        if session.on and session.settings.level not in LEVELS:
            session.unseen("level")
        if not self._wanted():
            return NOT_WANTED
        names = self._names_of(jitted, identity, tree, arguments, named)
        shapes, inputs, plain = [], [], []
        for name, leaf in zip(names, leaves):
            if leaf is None or isinstance(leaf, (bool, int, float, complex, str)):
                plain.append(f"{name}={self._records.plain(leaf)}")
            else:
                inputs.append(self._arrays.read(leaf))
                shapes.append(f"{name} {shape(leaf)}")
        return Call(identity[0], self._records.caller(), shapes, inputs, ", ".join(plain))

    def _wanted(self) -> bool:
        return self._session.on and self._session.settings.level in LEVELS

    def _run(self, jitted, before, arguments, named):
        """Return what the function returns, and whether its ops were run one by one. Where they
        cannot be, as where the function itself fails, it is called as a whole.
        """
        eager = self._eager
        if eager is None or not isinstance(before, Call):
            return jitted(*arguments, **named), False
        traced = eager.trace(jitted, arguments, named)
        if traced is not None:
            place = f"the ops of {before.name}"
            found, done = self._session.guarded(place, eager.run, traced, before)
            if done:
                return found, True
        return jitted(*arguments, **named), False

    def _after(self, before, found, by_ops: bool) -> None:
        if before is None:
            return
        session = self._session
        leaves = self._jax.tree_util.tree_leaves(found)
        if any(isinstance(leaf, self._tracer) for leaf in leaves):
            return
        if isinstance(before, Call):
            outputs = [self._arrays.wrote(leaf) for leaf in leaves]
            if not by_ops:
                site = self._records.site(before.name, "jit", "", before.source, before.shapes)
                session.record("o", site, before.plain, before.inputs, outputs)
                if session.settings.level == "op":
                    session.unseen("compiled")
            session.record("m", self._records.module(before.name), outputs)
        session.end_step("forward")

    def _key_maker(self, name: str, original):
        @functools.wraps(original)
        def make(seed, *arguments, **named):
            found = original(seed, *arguments, **named)
            wanted = self._wanted() and not self._inside
            if wanted and threading.get_ident() == self._thread:
                self._session.guarded("a key", self._write_key, name, seed, found)
            return found

        return make

    def _write_key(self, name: str, seed, key) -> None:
        if isinstance(seed, self._tracer) or isinstance(key, self._tracer):
            return
        self.used = True
        output = self._arrays.wrote(key)
        site = self._records.site(f"jax.random.{name}", "fwd", "", self._records.caller(), [])
        self._session.record("o", site, "", [], [output], [str(seed), ""])

    def _names_of(self, jitted, identity, tree, arguments, named) -> list:
        """Of the leaves of the arguments: `batch['x']`."""
        known = identity, tree
        found = self._names.get(known)
        if found is None:
            pairs = self._jax.tree_util.tree_flatten_with_path((arguments, named))[0]
            words = _parameters(jitted)
            found = self._names[known] = [self._name(path, words) for path, _leaf in pairs]
        return found

    def _name(self, path, words: list) -> str:
        """`path` leads from (arguments, named) to a leaf."""
        where, first, rest = path[0].idx, path[1], path[2:]
        if where == 1:
            word = str(first.key)
        else:
            word = words[first.idx] if first.idx < len(words) else f"[{first.idx}]"
        return word + self._jax.tree_util.keystr(rest)


NOT_WANTED = object()
"""Stands for a call outside of the steps that are recorded."""


def _identity(jitted):
    """Name and place of a function: where a program jits it anew each time, it is the same."""
    name = getattr(jitted, "__name__", None) or type(jitted).__name__
    code = getattr(getattr(jitted, "__wrapped__", None), "__code__", None)
    place = (code.co_filename, code.co_firstlineno) if code is not None else ("", 0)
    return (name, *place)


def _parameters(jitted) -> list:
    """Names of the parameters that can be given by position."""
    try:
        found = inspect.signature(jitted).parameters.values()
    except (TypeError, ValueError):
        return []
    positional = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return [parameter.name for parameter in found if parameter.kind in positional]
