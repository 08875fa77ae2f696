"""Pages of errors, solutions and helper calls answer what their visitors came for, as the resolver
does.
"""

from __future__ import annotations

import functools
import random
import re
from typing import Any

import pytest
from site_build import generator, real

from d9m.api import advise
from d9m.environment.environment import Setup
from d9m.model.records import ErrorRecord, Helper


@functools.cache
def room(name: str) -> dict[str, str]:
    """The pages of one kind."""
    generator()
    import importlib

    return dict(importlib.import_module(f"pages.{name}").pages(real()))


def title(page: str) -> str:
    return page.split('title: "')[1].partition('"\n')[0].replace('\\"', '"')


def literal(text: str) -> str:
    """Markdown as the text that it shows."""
    plain = (
        re.sub(r"<wbr>|</?code>", "", text)
        .replace("&lt;", "<")
        .replace("&gt;", ">")
        .replace("&amp;", "&")
    )
    return re.sub(r"\\(.)", r"\1", plain.replace("&quot;", '"').replace("&#x27;", "'"))


# --- errors ----------------------------------------------------------------------


@pytest.mark.parametrize("id_", real().errors)
def test_an_error_page_is_called_as_its_message_begins(id_: str) -> None:
    error: ErrorRecord = real().errors[id_]
    page = room("errors")[f"errors/{id_}.md"]
    shown = literal(title(page))
    if error.kind == "symptom":
        assert shown == error.title
    else:
        text = re.sub(r"\{.*?\}", "…", error.texts[0].text)
        message = " ".join(text.replace("`", "").split())
        assert message.startswith(shown.removesuffix(" …"))
        assert len(shown) >= min(len(message) - 1, 25)
    for each in error.texts:
        assert "\n".join(each.text.splitlines()) in page


def test_an_error_page_tells_its_causes_by_version() -> None:
    told = 0
    for id_ in real().errors:
        error: ErrorRecord = real().errors[id_]
        page = room("errors")[f"errors/{id_}.md"]
        for source in error.sources:
            link = rf"\(\.\./\.\./sources/{source}\.md\)"
            heading = rf"### [^\n]*{link}[^\n]*|[^\n]*\[The record with every release\]{link}"
            (part,) = re.findall(rf"^(?:{heading})$(.*?)^#", page, re.S | re.M)
            rows = [
                line.split(" | ")[0].removeprefix("| ")
                for line in part.splitlines()
                if "md-tag d9m-" in line
            ]
            assert rows == [row.span for row in _history(source).usual.rows]
            told += len(rows)
    assert told > 50


def _history(source: str) -> Any:
    generator()
    from d9m.browse import history

    return history.of(real(), source)


# --- solutions -------------------------------------------------------------------


def test_a_solution_page_lists_every_op_of_what_it_solves() -> None:
    """Setup of the resolver: sources that some release solves with the label, on some device."""
    dice = random.Random(3)
    labels = dice.sample(list(real().solutions), 15)
    pages = room("solutions")
    for id_ in labels:
        label = _record(id_).label
        rows = [
            line for line in pages[f"solutions/{id_}.md"].splitlines() if line.startswith("| [")
        ]
        for source in real().sources:
            if _solved_by(source, label):
                (row,) = [
                    row for row in rows if f"(../../sources/{source}.md)" in row.partition(" | ")[0]
                ]
                for op in real().sources[source].ops:
                    assert op in literal(row).replace("`", ""), (id_, source)


def _record(id_: str) -> Any:
    return real().solutions[id_]


def _solved_by(source: str, label: str) -> bool:
    generator()
    from d9m.browse.history import of

    told = of(real(), source)
    return any(label in labels for row in told.usual.rows for labels in row.verdict.alternatives)


def test_what_a_solution_costs_includes_what_its_sources_cost() -> None:
    costly = [id_ for id_ in real().sources if real().sources[id_].costs]
    assert costly
    told = "".join(room("solutions").values())
    for id_ in costly:
        by = {labels for step in _steps(id_) for labels in step.alternatives}
        assert not by or all(
            literal(each.text) in literal(told) for each in real().sources[id_].costs
        ), id_


def _steps(id_: str) -> list[Any]:
    return [
        step
        for steps in real().sources[id_].timeline.values()
        for step in steps
        if step.outcome != "raises"
    ]


# --- helper calls ----------------------------------------------------------------


@pytest.mark.parametrize("id_", real().helpers)
def test_a_helper_page_tells_what_the_call_leaves_out(id_: str) -> None:
    helper: Helper = real().helpers[id_]
    page = room("helpers")[f"helpers/{id_}.md"]
    for command in re.findall(r"^d9m advise (.*) --calls", page, re.MULTILINE):
        named = [each.partition("=") for each in command.replace("--with ", "").split()]
        asked = Setup(tuple((name, version or None) for name, _equals, version in named))
        called = advise(real(), asked, calls=[helper.call])
        (told,) = called.helpers
        heading = page.rpartition(command)[0].rpartition("\n### ")[2]
        rows = {
            literal(row.partition("](")[0])[3:]: row
            for row in heading.splitlines()
            if row.startswith("| [")
        }
        plain = advise(real(), asked)
        assert rows.keys() == {step.name for step in plain.steps}
        differing = {each.name for each in (*told.differs, *called.conflicts)}
        for name, row in rows.items():
            assert ("| sets it |" in row) == (name in told.covers), name
            assert ("**does not set it**" in row) == (name not in {*told.covers, *differing}), name


def test_a_helper_page_has_what_is_set_in_each_release() -> None:
    """Lightning's Trainer turned cuDNN's flag until 1.4 and asks PyTorch for its mode from 1.5 on
    (stack facts).
    """
    page = room("helpers")["helpers/lightning/trainer-deterministic.md"]
    tabs = dict(
        re.findall(r'^=== "(.*?)"\n(.*?)(?=^===|^\*\*|^## )', page, re.MULTILINE | re.DOTALL)
    )
    assert list(tabs) == ["2.0 and later", "1.6 – 1.9", "1.5", "0.7.6 – 1.4"]
    assert "use-deterministic-algorithms.md" not in tabs["0.7.6 – 1.4"]
    assert "torch-backends-cudnn-deterministic.md" in tabs["0.7.6 – 1.4"]
    assert all("torch-use-deterministic-algorithms.md" in tabs[each] for each in list(tabs)[:3])
    assert "horovod-fusion-threshold.md" not in tabs["2.0 and later"]
    assert "| replaces yours |" in tabs["2.0 and later"]


def test_most_calls_are_compared_with_an_advice() -> None:
    """A call without a comparison makes nothing that is advised; there are few."""
    without = [
        path
        for path, page in room("helpers").items()
        if "--calls" not in page and "index" not in path
    ]
    assert len(without) <= 5, without
