# pyright: basic
"""Ends of TensorFlow's steps, and what is learned: losses, gradients, variables, batches.

An optimizer that is applied eagerly ends a step. Within a `tf.function`, as in the `fit` of Keras,
it is called only while the function is traced: then each outermost call of that function is a step.
"""

from __future__ import annotations

import functools
import json
import weakref

from .values import NONE

OPTIMIZERS = {
    "keras.src.optimizers.base_optimizer": "BaseOptimizer",
    "keras.src.optimizers.optimizer": "_BaseOptimizer",
    "keras.src.optimizers.legacy.optimizer_v2": "OptimizerV2",
    "keras.optimizers.optimizer": "_BaseOptimizer",
    "keras.optimizers.optimizer_experimental.optimizer": "_BaseOptimizer",
    "keras.optimizers.legacy.optimizer_v2": "OptimizerV2",
    "keras.optimizers.optimizer_v2.optimizer_v2": "OptimizerV2",
    "keras.optimizer_v2.optimizer_v2": "OptimizerV2",
    "tf_keras.src.optimizers.optimizer": "_BaseOptimizer",
    "tf_keras.src.optimizers.legacy.optimizer_v2": "OptimizerV2",
    "tensorflow.python.keras.optimizer_v2.optimizer_v2": "OptimizerV2",
    "tensorflow.python.training.optimizer": "Optimizer",
}
"""Module -> the class in it that all optimizers of that Keras, or of TensorFlow 1, extend."""


class Steps:
    """Wraps gradients, optimizers, functions and iterators. What is wrapped stays as it was in a
    graph that is being built.
    """

    def __init__(self, framework, watcher) -> None:
        self._framework = framework
        self._tensorflow = framework.tensorflow
        self._session = framework.session
        self._values = framework.values
        self._watcher = watcher
        self._off: list = []
        self._calls: list = []
        """Functions that are being called, the outermost first."""
        self._training: dict = {}
        """Identity of a function that applies an optimizer -> (weak reference, name, variables)."""
        self._names: dict = {}
        self.optimizers: list = []
        """Those that are being applied, the outermost first."""
        self.tapes = 0
        """Gradients that are being computed."""
        self._started = False
        self._iterators: dict = {}
        self.each = self._session.settings.level != "step"
        """Whether the digest of each variable is wanted, not only that of all."""
        self.text = self._values.digest
        """The function that returns the digest of a value, as recorded."""
        self.width = self._session.digester.width

    def begin(self) -> None:
        tensorflow = self._tensorflow
        self._wrap(tensorflow.GradientTape, "gradient", self._gradient)
        self._wrap(type(tensorflow.function(_nothing)), "__call__", self._call)
        from tensorflow.python.data.ops import (  # pyright: ignore[reportMissingImports]
            iterator_ops,
        )

        for name in ("OwnedIterator", "IteratorV2"):
            found = getattr(iterator_ops, name, None)
            if found is not None and hasattr(found, "_next_internal"):
                self._wrap(found, "_next_internal", self._next)
        for module, name in OPTIMIZERS.items():
            self._watcher.when_imported(module, functools.partial(self._found, name))

    def _found(self, name: str, module) -> None:
        optimizer = getattr(module, name, None)
        if optimizer is None:
            return
        if "apply" in vars(optimizer):
            self._wrap(optimizer, "apply", self._apply)
        elif "apply_gradients" in vars(optimizer):
            self._wrap(optimizer, "apply_gradients", self._apply_gradients)

    def _wrap(self, owner, name: str, make) -> None:
        original = getattr(owner, name)
        setattr(owner, name, functools.wraps(original)(make(original)))
        self._off.append(lambda: setattr(owner, name, original))

    def end(self) -> None:
        while self._off:
            self._off.pop()()

    # Gradients.

    def _gradient(self, original):
        session, eager = self._session, self._tensorflow.executing_eagerly

        def gradient(tape, target, *arguments, **named):
            if not eager():
                return original(tape, target, *arguments, **named)
            session.train()
            if self._framework.wanted():
                session.guarded("a loss", self._write_losses, target)
            self.tapes += 1
            try:
                found = original(tape, target, *arguments, **named)
            finally:
                self.tapes -= 1
            self._framework.step("backward")
            return found

        return gradient

    def _write_losses(self, target) -> None:
        losses = self._tensorflow.nest.flatten(target)
        self._session.record("l", [self.text(loss) for loss in losses])

    # Optimizers.

    def _apply(self, original):
        def apply(optimizer, grads, trainable_variables=None, *arguments, **named):
            if trainable_variables is None:
                variables = list(getattr(optimizer, "_trainable_variables", ()))
            else:
                variables = trainable_variables = list(trainable_variables)
            act = functools.partial(
                original, optimizer, grads, trainable_variables, *arguments, **named
            )
            return self._applied(optimizer, grads, variables, act)

        return apply

    def _apply_gradients(self, original):
        def apply_gradients(optimizer, grads_and_vars, *arguments, **named):
            pairs = list(grads_and_vars)
            act = functools.partial(original, optimizer, pairs, *arguments, **named)
            gradients = [gradient for gradient, _variable in pairs]
            return self._applied(optimizer, gradients, [pair[1] for pair in pairs], act)

        return apply_gradients

    def _applied(self, optimizer, gradients, variables: list, act):
        session = self._session
        if not self._tensorflow.executing_eagerly():
            session.guarded("an optimizer in a graph", self._traced, variables)
            return act()
        session.train()
        outermost = not self.optimizers
        if outermost and self._framework.wanted():
            session.guarded("gradients", self._write_before, gradients, variables)
        self.optimizers.append(optimizer)
        try:
            found = act()
        finally:
            self.optimizers.pop()
        if outermost:
            self._ended(variables)
        return found

    def _write_before(self, gradients, variables: list) -> None:
        self._start(variables)
        self._write("g", gradients)

    def _start(self, variables: list) -> None:
        if not self._started:
            self._started = True
            self._write("i", variables)

    def _ended(self, variables: list) -> None:
        if self._framework.wanted():
            self._session.guarded("variables", self._write, "p", variables)
        self._framework.step("optimizer")

    def _write(self, letter: str, values) -> None:
        texts = [self.text(value) for value in values]
        every = self._values.joined([text[: self.width] for text in texts])
        shown = texts if self.each else []
        self._session.add(json.dumps([letter, every, shown], separators=(",", ":")) + "\n")

    # Functions.

    def _traced(self, variables: list) -> None:
        """An optimizer was applied in a graph that is being built, for the outermost function."""
        if not self._calls:
            return
        function = self._calls[0]
        known = self._training.get(id(function))
        if known is None:
            number = len(self._training)
            known = weakref.ref(function), number, {}
            self._training[id(function)] = known
        for variable in variables:
            known[2].setdefault(id(variable), variable)
        self._session.train()
        if self._framework.wanted():
            self._start(list(known[2].values()))

    def _call(self, original):
        eager = self._tensorflow.executing_eagerly

        def call(function, *arguments, **named):
            if not eager():
                return original(function, *arguments, **named)
            outermost = not self._calls
            self._calls.append(function)
            try:
                found = original(function, *arguments, **named)
            finally:
                self._calls.pop()
            if outermost:
                self._called(function, found)
            return found

        return call

    def _called(self, function, found) -> None:
        known = self._training.get(id(function))
        if known is None or known[0]() is not function:
            return
        if self._framework.wanted():
            self._session.guarded("a function", self._write_returned, function, known[1], found)
        self._ended(list(known[2].values()))

    def _write_returned(self, function, number: int, found) -> None:
        if number not in self._names:
            name = getattr(function, "__name__", None) or type(function).__name__
            self._names[number] = name
            self._session.record("M", number, name)
        if hasattr(found, "has_value"):  # what Keras 3 packs its losses and metrics in
            found = self._values.quietly(found.get_value)
        texts = [self.text(value) for value in self._tensorflow.nest.flatten(found)]
        known = [text for text in texts if text != NONE]
        if known:
            self._session.record("m", number, known)

    # Batches.

    def _next(self, original):
        eager = self._tensorflow.executing_eagerly

        def next_internal(iterator):
            found = original(iterator)
            if eager() and self._framework.wanted():
                self._session.guarded("a batch", self._write_batch, iterator, found)
            return found

        return next_internal

    def _write_batch(self, iterator, batch) -> None:
        known = self._iterators.get(id(iterator))
        if known is None or known[0]() is not iterator:
            known = self._iterators[id(iterator)] = weakref.ref(iterator), str(len(self._iterators))
        values = self._tensorflow.nest.flatten(batch, expand_composites=True)
        self._session.record("b", known[1], [self.text(value) for value in values])


def _nothing() -> None:
    """A function, to know the class of functions by."""
