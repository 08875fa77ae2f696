# pyright: basic
"""Compiled graphs: what goes in and what comes out. Between the two, kernels are fused."""

from __future__ import annotations

import functools


def begin(module, session, steps, wrote) -> None:
    """Wrap the call of inductor's graphs, in the module that has their class.

    `wrote` makes the digest of a tensor that a graph has written.
    """
    graphs = module.CompiledFxGraph
    original = graphs.__call__

    @functools.wraps(original)
    def call(self, inputs):
        if not session.on:
            return original(self, inputs)
        about, _done = session.guarded("a compiled graph", before, self, inputs)
        found = original(self, inputs)
        if about is not None:
            session.guarded("a compiled graph", after, about, found)
        return found

    def before(graph, inputs):
        direction = "backward" if graph.fx_kwargs.get("is_backward") else "forward"
        name = f"graph {graph.fx_kwargs.get('graph_id', 0)} {direction}"
        session.record("c", name, [steps.text(one) for one in inputs if is_tensor(one)])
        # Of the inputs only those are kept that it changes: a graph frees the others as it goes.
        changed = [inputs[index] for index in graph.mutated_input_idxs]
        return name, [one for one in changed if is_tensor(one)]

    def after(about, found) -> None:
        name, changed = about
        returned = [one for one in found if is_tensor(one)]
        session.record("e", name, [wrote(one) for one in (*returned, *changed)])

    graphs.__call__ = call

    def off() -> None:
        graphs.__call__ = original

    steps.at_end(off)


def before_compiling(torch, steps, act) -> None:
    """Call `act()` ahead of whatever the program has compiled. The compiler's import says nothing:
    many an optimizer's step imports it.
    """
    original = getattr(torch, "compile", None)
    if original is None:
        return

    @functools.wraps(original)
    def compiles(*arguments, **named):
        act()
        return original(*arguments, **named)

    torch.compile = compiles
    steps.at_end(lambda: setattr(torch, "compile", original))


def run_op_by_op(torch, steps) -> None:
    """Have graphs traced as before, and their ops run one by one instead of in fused kernels."""
    original = torch.compile

    @functools.wraps(original)
    def traced(*arguments, **named):
        for name in ("backend", "mode", "options"):
            named.pop(name, None)
        return original(*arguments, backend="aot_eager", **named)

    torch.compile = traced
    steps.at_end(lambda: setattr(torch, "compile", original))


def is_tensor(value) -> bool:
    return hasattr(value, "untyped_storage")
