# pyright: basic
"""The dispatch mode: every op of a thread and of its backward passes comes by here."""

from __future__ import annotations

import sys

from .tensors import holds_nothing


def make_mode(torch, ops, watcher):
    """A mode that `ops` records with."""
    from torch.utils._python_dispatch import (  # pyright: ignore[reportMissingImports]
        TorchDispatchMode,
    )

    had_compiler = "torch._dynamo" in sys.modules
    plain = (torch.Tensor, torch.nn.Parameter)
    session = ops.session
    unheard = torch._C.DisableTorchFunction
    below = torch._C._len_torch_dispatch_stack
    call = _unheard_call(torch)

    def dispatch(self, function, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        if below():  # modes that trace: what their tensors hold is not computed
            return call(function, args, kwargs)
        plan = ops.plans.get(function) or ops.learn(function)
        if not session.on or plan.passes:
            if session.on and ops.viewing:
                ops.passed(sys._getframe(1))
            return call(function, args, kwargs)
        for kind in types:
            if kind not in plain:
                if holds_nothing(kind):
                    return call(function, args, kwargs)
                return NotImplemented  # it splits itself, and its parts come by here
        with unheard():
            about = ops.before(plan, args, kwargs, sys._getframe(1))
        found = call(function, args, kwargs)
        if about is not None:
            with unheard():
                ops.after(plan, about, found)
        return found

    class RecorderMode(TorchDispatchMode):
        """Under it `torch.compile` compiles as it does without."""

        supports_higher_order_operators = True
        __torch_dispatch__ = dispatch

        @classmethod
        def ignore_compile_internals(cls) -> bool:
            return True

    # Where a class is made, torch wraps the handler, and that imports the compiler: seconds, in a
    # program that may never use it. It is wrapped when the program itself imports the compiler.
    def wrap(compiler) -> None:
        RecorderMode.__torch_dispatch__ = compiler.disable(dispatch, recursive=True)

    if not had_compiler and hasattr(torch, "_disable_dynamo"):
        RecorderMode.__torch_dispatch__ = dispatch
        watcher.when_imported("torch._dynamo", wrap)
    return RecorderMode()


def _unheard_call(torch):
    """Calls an op so that a function mode of the program does not see that it is called again."""
    modes, unheard = torch._C._len_torch_function_stack, torch._C.DisableTorchFunction
    boxed = getattr(torch._C, "_dispatch_call_boxed", None)

    def call(function, args, kwargs):
        if not modes():
            return function(*args, **kwargs)
        handle = _handle(function)
        if boxed is not None and handle is not None:
            return boxed(handle, *args, **kwargs)
        with unheard():  # in old releases, such a mode does not see what an op in Python calls
            return function(*args, **kwargs)

    return call


def _handle(function):
    """Return what the dispatcher knows the op by; None of those that it does not know."""
    try:
        return getattr(function, "_handle", None)
    except RuntimeError:
        return None


class Window:
    """Puts the mode on the stack of modes, and takes it off, where the program's own permit."""

    def __init__(self, torch, mode) -> None:
        self._depth = torch._C._len_torch_dispatch_stack
        self._top = torch._C._get_dispatch_stack_at
        self._mode = mode
        self.open = False

    def enter(self) -> bool:
        """Whether the mode is active now. Under a mode of the program's own it would be popped in
        that one's place.
        """
        if not self.open and self._depth() == 0:
            self._mode.__enter__()
            self.open = True
        return self.open

    def leave(self) -> bool:
        """Whether the mode is off the stack now."""
        if self.open and self._depth() and self._top(self._depth() - 1) is self._mode:
            self._mode.__exit__(None, None, None)
            self.open = False
        return not self.open
