"""d9m from Python: the functions that ``import d9m`` offers.

Keywords name packages, with ``_`` for ``-``; `kb` is a knowledge base to use
instead of the installed one. Every function raises `d9m.UsageError` for what
cannot be asked, and `d9m.DataError` for a broken knowledge base.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import get_args

import msgspec

from d9m import api
from d9m.browse.explain import Explained
from d9m.browse.show import Showing
from d9m.environment.environment import Setup
from d9m.errors import UsageError
from d9m.kb.locate import open_knowledge_base
from d9m.kb.store import KnowledgeBase
from d9m.model import op_syntax
from d9m.model.advice import Advice
from d9m.model.records import Scope
from d9m.model.settings import PlainValue


def advise(
    *,
    ops: str | Sequence[str] | None = None,
    container: str | None = None,
    files: Sequence[str] = (),
    gpu: str | None = None,
    device: str | None = None,
    facts: Mapping[str, str] | None = None,
    inference: bool = False,
    fast: bool = False,
    scope: Scope = "run",
    calls: Sequence[str] = (),
    settings: Mapping[str, PlainValue] | None = None,
    kb: KnowledgeBase | None = None,
    **packages: str | None,
) -> Advice:
    """The exact settings for an environment and its ops; the fields are those of the JSON.

    `ops` is a list, or a text as after ``--ops``. Print the advice to read it as text.
    A package may be None: any release of it. Without a package or a container it
    is about what is installed here; without `ops`, about every op known there.
    `files` list packages, as ``--from`` takes them; what is named wins.
    `fast` prefers settings that cost less; a caution says what that gives up.
    `calls` are helper calls that the program makes, `settings` (as in
    ``os.environ``) are judged against the advice.

    >>> import d9m
    >>> advice = d9m.advise(torch="2.4", ops=["index_add", "cumsum"])
    >>> [op.outcome for op in advice.ops]
    ['solved', 'raises']
    >>> advice.ops[1].fixed_in
    {'torch': '2.6'}
    >>> advice.settings.env["CUBLAS_WORKSPACE_CONFIG"]
    ':4096:8'
    >>> advice = d9m.advise(torch="2.4", megatron_core="0.8", device="cuda")
    >>> advice.environment.packages["megatron-core"]
    '0.8'
    """
    if isinstance(ops, str):
        ops = op_syntax.split(ops)
    if ops is not None and not ops:
        raise UsageError("ops is empty", tip="leave it out to ask about every op on record")
    _must_be_strings("ops", ops or ())
    if scope not in get_args(Scope):
        raise UsageError(f"scope must be one of {', '.join(get_args(Scope))}, not {scope!r}")
    _must_be_mapping("facts", facts or {})
    kb = kb or open_knowledge_base()
    given = tuple((facts or {}).items())
    setup = Setup(_named(packages), container, device, given, inference, gpu)
    if not packages and container is None and not files:
        from d9m.environment.detect import installed_here

        here = installed_here(kb, os.environ, not api.brings_packages(kb, ops or ()))
        setup = Setup(here.packages, here.container, device or here.device, given, inference, gpu)
    for file in files:
        from d9m.environment import package_files

        setup = package_files.with_file(kb, setup, file)
    places = None if settings is None else [settings]
    answer = api.advise(kb, setup, ops, scope, calls, places, fast=fast)
    found = PrintedAdvice(**msgspec.structs.asdict(answer))
    vars(found).update(kb=kb, named_ops=ops is not None)
    return found


class PrintedAdvice(Advice, frozen=True, dict=True):
    """An advice that prints as the text of ``d9m advise``."""

    def __str__(self) -> str:
        from d9m.render.advice import text
        from d9m.render.interface import Answer

        answer = Answer(self, self.__dict__["kb"], named_ops=self.__dict__["named_ops"])
        body = text.render(answer).body
        return body if isinstance(body, str) else body.plain()


def explain(text: str, *, kb: KnowledgeBase | None = None, **packages: str | None) -> Explained:
    """Explain an error or warning text, or a log that holds some; packages narrow it to their
    wordings.

    >>> import d9m
    >>> text = "cumsum_cuda_kernel does not have a deterministic implementation"
    >>> found = d9m.explain(text, torch="2.4")
    >>> found.found[0].ops
    ['torch.cumsum', 'torch.cumprod']
    """
    from d9m.browse import explain as recognition

    _must_be_strings("text", [text])
    kb = kb or open_knowledge_base()
    setup = Setup(_named(packages)) if packages else None
    return recognition.explain(kb, text, setup)


def show(*names: str, kb: KnowledgeBase | None = None) -> Showing:
    """Records, or ops across all versions, by any of their names.

    >>> import d9m
    >>> [shown.kind for shown in d9m.show("TDO", "torch.cumsum").found]
    ['solution', 'op']
    """
    from d9m.browse import show as records

    _must_be_strings("names", names)
    return records.show(kb or open_knowledge_base(), names)


def _named(packages: Mapping[str, object]) -> tuple[tuple[str, str | None], ...]:
    named: list[tuple[str, str | None]] = []
    for name, version in packages.items():
        if version is not None and not isinstance(version, str):
            raise UsageError(
                f"{name}={version!r}: a version must be a string, since 2.10 is 2.1 as a number",
                tip=f'{name}="…"',
            )
        named.append((name, version))
    return tuple(named)


def _must_be_strings(what: str, values: Iterable[object]) -> None:
    for value in values:
        if not isinstance(value, str):
            raise UsageError(f"{what}: {value!r} is not a string")


def _must_be_mapping(what: str, value: object) -> None:
    if not isinstance(value, Mapping):
        raise UsageError(f"{what} must be a mapping", tip=f'{what}={{"name": "value"}}')
