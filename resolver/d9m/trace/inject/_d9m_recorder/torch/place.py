# pyright: basic
"""The place where an op is called: the module, the line of the user's code, the phase of the step.

Modules are found from Python's frames. Hooks of modules would be traced by the compiler, and change
what it makes.
"""

from __future__ import annotations

import os
import weakref

from ..core.lines import OURS, callers, short

NOWHERE = "", None

INTERNAL, CALL, USER, RECOMPUTE, ENGINE, UPDATE = range(6)

UPDATES = ("_single_tensor_", "_multi_tensor_", "_fused_")
"""How the functions of torch's optimizers begin that call ops and nothing else."""


class Places:
    """`here` says where, of the op that is being dispatched right now."""

    def __init__(self, torch, steps) -> None:
        module = torch.nn.Module
        self._steps = steps
        self._torch_folder = os.path.dirname(torch.__file__) + os.sep
        calls = module._call_impl, getattr(module, "_wrapped_call_impl", module._call_impl)
        self._calls = {function.__code__ for function in calls}
        self._codes: dict = {}
        """By the identity of a code object: to hash one takes as long as all the rest."""
        self._names: dict = {}
        self._folder = os.getcwd() + os.sep
        self._forward: dict = {}
        self._node = torch._C._current_autograd_node
        self._sequence = getattr(torch._C._autograd, "_get_sequence_nr", None)
        self._last = None
        self._grad_enabled = torch.is_grad_enabled

    def here(self, frame):
        """Phase, autograd node, module, source. `frame` is the caller of the handler."""
        node = self._node()
        if node is not None:
            if not (self._grad_enabled() and self._recomputes(frame)):
                module, source = self._of_node(node)
                return "bwd", node.name(), module, source
            module, source = self._walk(frame)
            self._mark(module, source)
            return "recompute", node.name(), module, source
        optimizer = self._steps.optimizer
        if optimizer is not None:
            return "opt", "", optimizer, self._line(frame)
        module, source = self._walk(frame)
        self._mark(module, source)
        return "fwd", "", module, source

    def callers(self, frame, place) -> tuple:
        """Lines of the program's own files that led to the source of a place."""
        phase, _node, _module, source = place
        if phase == "bwd" or source is None:
            return ()
        own = callers(frame, self._folder, 3)
        line = source[0], source[2], source[1]
        return own[1:] if own[:1] == (line,) else own[:2]

    def update(self, frame) -> int | None:
        """Return what stands for the run of an optimizer's function that calls ops and nothing
        else; None outside of one. Its ops have the same place.
        """
        if self._steps.optimizer is None:
            return None
        while frame is not None:
            kind = self._kind(frame.f_code)[0]
            if kind != INTERNAL:
                return id(frame) if kind == UPDATE else None
            frame = frame.f_back
        return None

    def view(self, frame) -> None:
        """A view was called: its backward op must find its place, too."""
        if self._sequence is None or self._node() is not None:
            return
        number = self._sequence() - 1
        if number != self._last and number >= 0:
            self._last = number
            if number not in self._forward:
                self._forward[number] = self._walk(frame)

    def forget(self) -> None:
        """A step ended: nothing of its graph is called again."""
        self._forward.clear()

    def _mark(self, module, source) -> None:
        """The first op that is seen with a number has made the node with that number."""
        if self._sequence is not None:
            self._forward.setdefault(self._sequence() - 1, (module, source))

    def _of_node(self, node):
        number = getattr(node, "_sequence_nr", None)
        return self._forward.get(number(), NOWHERE) if number is not None else NOWHERE

    def _recomputes(self, frame) -> bool:
        """Whether checkpointing runs a forward again, inside the backward."""
        while frame is not None:
            kind = self._kind(frame.f_code)[0]
            if kind in (RECOMPUTE, ENGINE):
                return kind == RECOMPUTE
            frame = frame.f_back
        return False

    def _walk(self, frame):
        """The innermost module that is being called, and the innermost line of user code."""
        module = source = None
        known = self._codes
        while frame is not None:
            code = frame.f_code
            kind, shown, _code = known.get(id(code)) or self._kind(code)
            if shown is not None:
                if source is None:
                    source = (*shown, frame.f_lineno)
                    if module is not None:
                        break
            elif kind == CALL and module is None:
                module = self._name(frame)
                if module is not None and source is not None:
                    break
            frame = frame.f_back
        return module or "", source

    def _line(self, frame):
        """The innermost line of user code."""
        while frame is not None:
            shown = self._kind(frame.f_code)[1]
            if shown is not None:
                return (*shown, frame.f_lineno)
            frame = frame.f_back
        return None

    def _kind(self, code):
        found = self._codes.get(id(code))
        if found is None:
            kind, shown = self._classified(code)
            found = self._codes[id(code)] = kind, shown, code
        return found

    def _classified(self, code):
        file = code.co_filename
        if code in self._calls:
            return CALL, None
        if file.startswith(self._torch_folder):
            rest = file[len(self._torch_folder) :].replace(os.sep, "/")
            if rest == "utils/checkpoint.py":
                return RECOMPUTE, None
            if code.co_name in ("_engine_run_backward", "backward") and "autograd/" in rest:
                return ENGINE, None
            if rest.startswith("optim/") and code.co_name.startswith(UPDATES):
                return UPDATE, None
            return INTERNAL, None
        if file.startswith((OURS, "<frozen", "<eval_with_key>")):
            return INTERNAL, None
        return USER, (short(file, self._folder), code.co_name)

    def _name(self, frame) -> str | None:
        module = frame.f_locals.get("self")
        if module is None or type(module).__name__ == "GraphModule":  # what a compiler has traced
            return None
        found = self._names.get(id(module))
        if found is None or found[0]() is not module:
            self._learn(self._outermost(frame, module))
            found = self._names.get(id(module))
            if found is None or found[0]() is not module:
                found = weakref.ref(module), type(module).__name__
                self._names[id(module)] = found
        return found[1]

    def _outermost(self, frame, module):
        while frame is not None:
            if frame.f_code in self._calls:
                module = frame.f_locals.get("self", module)
            frame = frame.f_back
        return module

    def _learn(self, root) -> None:
        name = type(root).__name__
        for path, module in root.named_modules():
            shown = f"{name}.{path}" if path else name
            self._names[id(module)] = weakref.ref(module), shown
