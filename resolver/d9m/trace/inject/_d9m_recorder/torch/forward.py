# pyright: basic
"""Inference under `--step-by auto`: forward passes end steps as long as nothing trains."""

from __future__ import annotations

import functools

from .batches import leaves
from .modules import Names


class ForwardSteps:
    """Wraps the call of modules until the program makes an optimizer or calls `backward`.

    A step ends where the outermost module is called again. Modules that have no parameters, such as
    those that transform images, end none, and neither do workers that prepare data.
    """

    def __init__(self, torch, session, steps) -> None:
        self._torch = torch
        self._session = session
        self._steps = steps
        self._names = Names(session)
        self._called: set = set()
        """Outermost modules that this step has called, by their identity."""
        self._inside = False
        self._off = None
        """Takes the wrapper off; None where there is none."""
        self._over = False
        functorch = getattr(torch._C, "_functorch", None)
        self._is_wrapped = getattr(functorch, "is_functorch_wrapped_tensor", lambda _tensor: False)

    def begin(self, watcher) -> None:
        """The compiler keeps how modules are called where it is imported: it must find torch's."""
        self._wrap()
        if self._off is not None:
            watcher.when_imported("torch._dynamo", lambda _module: self._wrap(), self._unwrap)

    def step_ended(self) -> None:
        self._called.clear()

    def end(self) -> None:
        """The program trains, or the recording ends."""
        if not self._over:
            self._over = True
            if self._session.open == "forward":
                self._session.open = None
            self._unwrap()

    def _wrap(self) -> None:
        if self._over or self._off is not None:
            return
        module_class = self._torch.nn.Module
        original = module_class.__call__
        compiling = getattr(getattr(self._torch, "compiler", None), "is_compiling", bool)

        @functools.wraps(original)
        def call(module, *arguments, **named):
            if self._inside or self._over or compiling() or not self._is_wanted(module):
                return original(module, *arguments, **named)
            if id(module) in self._called:
                self._session.end_step("forward", fallback=True)
            self._inside = True
            try:
                found = original(module, *arguments, **named)
            finally:
                self._inside = False
            self._session.guarded("a module", self._ended, module, found)
            return found

        def off() -> None:
            if module_class.__call__ is call:
                module_class.__call__ = original

        module_class.__call__ = call
        self._off = off

    def _unwrap(self) -> None:
        if self._off is not None:
            self._off()
            self._off = None

    def _is_wanted(self, module) -> bool:
        if self._steps.trains():
            self.end()
            return False
        try:
            held = next(module.parameters(), None)
            held = next(module.buffers(), None) if held is None else held
        except Exception:  # a program's module may have made something else of these names
            return False
        return held is not None and not self._session.waits

    def _ended(self, module, found) -> None:
        if self._over:
            return
        outputs = [leaf for leaf in leaves(found) if isinstance(leaf, self._torch.Tensor)]
        if not outputs or not all(self._has_values(output) for output in outputs):
            return
        self._called.add(id(module))
        self._session.open = "forward"
        if self._session.on and self._session.settings.level != "module":
            self._names.inside.append(module)
            number = self._names.number(module)
            self._names.inside.pop()
            self._session.record("m", number, [self._steps.text(output) for output in outputs])

    def _has_values(self, tensor) -> bool:
        """Whether it is no stand-in, as tracers and `vmap` use."""
        plain = type(tensor) in (self._torch.Tensor, self._torch.nn.Parameter)
        return (plain or hasattr(tensor, "__tensor_flatten__")) and not self._is_wrapped(tensor)
