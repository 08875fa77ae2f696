# pyright: basic
"""The level of modules: what each module returned, and the gradients that came back to it. Where a
forward pass ends a step, what the outermost module returned is recorded at every level.
"""

from __future__ import annotations

import functools
import weakref


def begin(torch, session, steps) -> None:
    """Wrap the call of every module. Compiled code folds the wrapper away."""
    every = session.settings.level == "module"
    ends = session.settings.step_by == "forward"
    module_class = torch.nn.Module
    original = module_class.__call__
    names = Names(session)
    tensor = torch.Tensor
    compiling = getattr(getattr(torch, "compiler", None), "is_compiling", lambda: False)

    @functools.wraps(original)
    def call(self, *arguments, **named):
        if compiling() or not (session.on or ends):
            return original(self, *arguments, **named)
        names.inside.append(self)
        try:
            found = original(self, *arguments, **named)
        finally:
            names.inside.pop()
        if session.on and (every or not names.inside):
            session.guarded("a module", write, self, found)
        if not names.inside:
            session.end_step("forward")
        return found

    def write(module, found) -> None:
        number = names.number(module)
        outputs = _tensors(found, tensor)
        session.record("m", number, [steps.text(output) for output in outputs])
        for output in outputs if every else ():
            if output.requires_grad and not output.is_leaf and torch.is_grad_enabled():
                # A hook of the tensor would be seen in it, and torch warns where it is saved.
                place = output.output_nr
                output.grad_fn.register_prehook(functools.partial(came_back, number, place))

    def came_back(number: int, place: int, gradients) -> None:
        if session.on and gradients[place] is not None:
            session.guarded("a module's gradient", write_gradient, number, gradients[place])

    def write_gradient(number: int, gradient) -> None:
        session.record("h", number, [steps.text(gradient)])

    if every:
        steps.names = names.parameters
    module_class.__call__ = call
    steps.at_end(lambda: setattr(module_class, "__call__", original))


class Names:
    """Numbers of modules, and their paths below the outermost one that is being called."""

    def __init__(self, session) -> None:
        self.inside: list = []
        """The modules that are being called, the outermost first."""
        self._session = session
        self._roots: list = []
        """Weak references to modules that were called from outside of any."""
        self._known: dict = {}
        self._count = 0

    def number(self, module) -> int:
        known = self._known.get(id(module))
        if known is not None and known[0]() is module:
            return known[1]
        number = self._count
        self._count += 1
        self._known[id(module)] = weakref.ref(module), number
        self._session.record("M", number, self._path(module))
        return number

    def parameters(self, parameters: list) -> list:
        """The path of each below the modules that were called; empty where none holds it."""
        names: dict = {}
        for reference in self._roots:
            root = reference()
            for path, found in root.named_parameters() if root is not None else ():
                names.setdefault(id(found), f"{type(root).__name__}.{path}")
        return [names.get(id(parameter), "") for parameter in parameters]

    def _path(self, module) -> str:
        root = self.inside[0] if self.inside else module
        if module is root and all(reference() is not root for reference in self._roots):
            self._roots.append(weakref.ref(root))
        name = type(root).__name__
        for path, found in root.named_modules():
            if found is module:
                return f"{name}.{path}" if path else name
        return type(module).__name__


def _tensors(value, kind) -> list:
    """Return those in what a module returned."""
    if isinstance(value, kind):
        return [value]
    inside = value.values() if isinstance(value, dict) else value
    if not isinstance(value, (dict, list, tuple)):
        return []
    found: list = []
    for element in inside:
        found += _tensors(element, kind)
    return found
