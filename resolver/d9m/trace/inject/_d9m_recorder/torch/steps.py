# pyright: basic
"""Ends of steps, and what is learned: losses, gradients, parameters."""

from __future__ import annotations

import functools

from .tensors import NONE


class Steps:
    """Hooks of every optimizer and of `torch.autograd.backward`."""

    def __init__(self, torch, session, tensors) -> None:
        self._torch = torch
        self._session = session
        self._tensors = tensors
        self._stepping: list = []
        self._started = False
        self._off: list = []
        self._width = session.digester.width
        self.each = session.settings.level != "step"
        """Whether the digest of each tensor is wanted, not only that of all."""
        self.names = _none
        """Gives parameters their names, where those are wanted."""
        self._named: tuple = ()
        self._rates: dict = {}
        self.text = tensors.digest
        """The function that returns the digest of a tensor, as recorded."""
        compiling = getattr(getattr(torch, "compiler", None), "is_compiling", None)
        self._compiling = compiling or (lambda: False)
        self._has_optimizer = False
        self._backward_called = False

    @property
    def optimizer(self) -> str | None:
        """The class of the optimizer that steps right now."""
        return type(self._stepping[0]).__name__ if self._stepping else None

    def begin(self) -> None:
        from torch.optim import optimizer  # pyright: ignore[reportMissingImports]

        self._off.append(optimizer.register_optimizer_step_pre_hook(self._before).remove)
        self._off.append(optimizer.register_optimizer_step_post_hook(self._after).remove)
        autograd = self._torch.autograd
        original = autograd.backward
        autograd.backward = self._watched(original)
        self._off.append(lambda: setattr(autograd, "backward", original))

    def end(self) -> None:
        while self._off:
            self._off.pop()()

    def trains(self) -> bool:
        """Whether the program has made an optimizer or called `backward`."""
        return self._backward_called or self._optimizer_made()

    def _optimizer_made(self) -> bool:
        """Whether it has made one of torch's: with the first of a class, torch marks its `step`."""
        if not self._has_optimizer:
            optimizer = self._torch.optim.Optimizer
            self._has_optimizer, _done = self._session.guarded("optimizers", _is_made, optimizer)
        return self._has_optimizer

    def at_end(self, act) -> None:
        """Call `act` when the recording ends."""
        self._off.append(act)

    def _watched(self, original):
        session = self._session

        @functools.wraps(original)
        def backward(tensors, *arguments, **named):
            if session.on:
                session.guarded("backward", self._write_losses, tensors)
            found = original(tensors, *arguments, **named)
            by_hand = not self._optimizer_made()
            if by_hand:
                session.train()
            self._backward_called = True
            session.end_step("backward", fallback=by_hand)
            return found

        return backward

    def _write_losses(self, tensors) -> None:
        single = isinstance(tensors, self._torch.Tensor)
        losses = [tensors] if single else [root for root in tensors if hasattr(root, "dtype")]
        self._session.record("l", [self.text(loss) for loss in losses])

    def _before(self, optimizer, arguments, named) -> None:
        if self._compiling():
            return
        self._session.train()
        if optimizer in self._stepping:  # its last step ended with an exception
            self._stepping.clear()
        self._stepping.append(optimizer)
        if self._session.on and len(self._stepping) == 1:
            self._session.guarded("gradients", self._write_before, optimizer)

    def _write_before(self, optimizer) -> None:
        parameters = _parameters(optimizer)
        if self.names is not _none:
            self._write_names(optimizer, parameters)
        if not self._started:
            self._started = True
            self._write("i", parameters)
        self._session.guarded("learning rates", self._write_rates, optimizer)
        self._write("g", [parameter.grad for parameter in parameters])

    def _write_rates(self, optimizer) -> None:
        """A record, if learning rates have changed. No GPU is waited for."""
        rates = [group.get("lr") for group in optimizer.param_groups]
        if any(getattr(rate, "is_cuda", False) for rate in rates):
            return
        name = f"learning rate of {type(optimizer).__name__}"
        text = ", ".join(dict.fromkeys(str(float(rate)) for rate in rates if rate is not None))
        if self._rates.get(name) != text:
            self._rates[name] = text
            self._session.record("t", {name: text}, self._torch.get_num_threads())

    def _write_names(self, optimizer, parameters: list) -> None:
        known = id(optimizer), len(parameters)
        if self._named != known:
            self._named = known
            self._session.record("P", self.names(parameters))

    def _after(self, optimizer, arguments, named) -> None:
        if self._compiling() or optimizer not in self._stepping:
            return
        del self._stepping[self._stepping.index(optimizer) :]
        if self._stepping:
            return
        if self._session.on:
            self._session.guarded("parameters", self._write, "p", _parameters(optimizer))
        self._session.end_step("optimizer")

    def _write(self, letter: str, tensors: list) -> None:
        texts = [NONE if tensor is None else self.text(tensor) for tensor in tensors]
        every = self._tensors.joined([text[: self._width] for text in texts])
        shown = '"' + '","'.join(texts) + '"' if self.each and texts else ""
        self._session.add(f'["{letter}","{every}",[{shown}]]\n')


def _parameters(optimizer) -> list:
    found: list = []
    for group in optimizer.param_groups:
        found += group["params"]
    return found


def _is_made(kind) -> bool:
    """Whether there is an optimizer of a class below `kind`."""
    return any(
        getattr(getattr(one, "step", None), "hooked", False) or _is_made(one)
        for one in type.__subclasses__(kind)
    )


def _none(parameters: list) -> list:
    return []
