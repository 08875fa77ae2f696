"""Orders that a function returns, and what its callers build on them: one step, by name."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import msgspec

from d9m.scan.facts import FileFacts, Order
from d9m.scan.project.modules import Modules
from d9m.scan.syntax.names import LOCAL


def through_returns(
    files: Mapping[str, FileFacts], modules: Modules
) -> Iterator[tuple[str, Order]]:
    """Orders that functions of these files return, each with a consumer in a caller."""
    returned: dict[tuple[str, str], list[Order]] = {}
    for path, facts in files.items():
        for order in facts.orders:
            if order.returned:
                returned.setdefault((path, facts.scopes[order.scope].name), []).append(order)
    if not returned:
        return
    names = {name.rpartition(".")[2] for _path, name in returned}
    for path, facts in files.items():
        for use in facts.order_uses:
            if use.called.rpartition(".")[2].lstrip(LOCAL) not in names:
                continue
            home, name = _meant(modules, path, use.called)
            for order in returned.get((home, name), ()):
                yield (
                    home,
                    msgspec.structs.replace(
                        order,
                        returned=False,
                        sure=True,
                        consumer=use.consumer,
                        consumer_place=use.place,
                        consumer_path="" if home == path else path,
                        scope=use.scope,
                        in_main=use.in_main,
                        draws=use.draws,
                        lasting=use.lasting,
                        by_caller=use.by_caller,
                    ),
                )


def _meant(modules: Modules, path: str, called: str) -> tuple[str, str]:
    """The file and the name there of a function that a file calls."""
    if called.startswith(LOCAL):
        return path, called.removeprefix(LOCAL)
    module, _dot, name = called.rpartition(".")
    return modules.importable(path, module or ".") or "", name
