"""The resolver and a second evaluation that shares no code with it agree on every release and every
op.
"""

from __future__ import annotations

import itertools
import shutil
from pathlib import Path

import pytest

from conftest import sample
from d9m.environment.environment import Setup, describe
from d9m.kb import build, yaml_files
from d9m.kb.store import KnowledgeBase
from d9m.model import op_syntax
from d9m.model.advice import SourceAnswer
from d9m.model.when import Allowed, Range
from d9m.resolve import op_lookup
from d9m.resolve.resolver import resolve
from golden import KB, knowledge_base
from second_opinion import OUTCOMES, Opinion, OwnAnswer, OwnVerdict
from second_reading import OPLESS, AskedPlace, Book


def frameworks(book: Book) -> list[str]:
    """What has ops or sources of its own."""
    return [
        name
        for name, record in book.packages.items()
        if record["kind"] != "image" and book.answerable(name)
    ]


def images(book: Book) -> list[str]:
    return [name for name, record in book.packages.items() if record["kind"] == "image"]


def differences(
    kb: KnowledgeBase,
    opinion: Opinion,
    package: str,
    release: str,
    device: str = "cuda",
    facts: dict[str, str] | None = None,
    part: str = "ops",
) -> list[str]:
    """Where the two do not say the same of one release: of its ops, or of the names that reach
    them.

    Names that never meet a source are asked in the newest release only.
    """
    given, book = facts or {}, opinion.book
    if package in images(book):
        place, packages, container = (
            book.image(package, release, device, given),
            (),
            book.reference(package, release),
        )
    else:
        place, packages, container = (
            book.stock(package, release, device, given),
            ((package, release),),
            None,
        )
    asked = Setup(packages, container, device, tuple(given.items()))
    environment = describe(kb, asked)
    newest = release == book.releases[package][-1]
    homes: dict[str, list[str]] = {}
    for home in place.releases:
        for name in book.names(home, place, part):
            if newest or book.meets(home, name):
                homes.setdefault(name, []).append(home)
    items = {name: op_lookup.find(kb, environment, op_syntax.parse(name)) for name in homes}
    advice = resolve(kb, environment, list(items.values()))
    left_out = {name: {op.name: op.defaults for op in item.ops} for name, item in items.items()}
    told = {op.query: {source.id: source for source in op.sources} for op in advice.ops}
    found: list[str] = []
    brought = {op.package for item in items.values() for op in item.ops if op.name == OPLESS}
    for name in [*homes, OPLESS]:
        asked_of = homes[name] if name in homes else _named(book, package, place, brought)
        expected: dict[str, list[OwnAnswer]] = {}
        for home in asked_of:
            expected |= opinion.answers(home, name, place, left_out.get(name, {}))
        ops = items[name].ops if name in items else ()
        parts = [op.package for op in ops if op.name == OPLESS]
        for home in parts:
            expected |= opinion.answers(home, OPLESS, place)
        answered = told.get(name, {})
        where = f"{package} {release} {device} {name}"
        found += [
            f"{where}: only one of the two meets {id_}"
            for id_ in sorted(expected.keys() ^ answered.keys())
        ]
        found += [
            f"{where} {id_}: {_brief(answered[id_])}, but a second opinion has {expected[id_]}"
            for id_ in expected.keys() & answered.keys()
            if not any(_agree(answered[id_], each) for each in _worst_of(expected[id_]))
        ]
    return found


def _named(book: Book, package: str, place: AskedPlace, brought: set[str]) -> list[str]:
    """Of CUDA, cuDNN and NCCL that a wheel or an image ships only the one that the program uses is
    asked about; and not here if an op of the question brings it along.
    """
    found: list[str] = []
    for name in place.releases:
        concerns = book.packages[name].get("concerns")
        used = concerns is not None and concerns.items() <= place.facts.items()
        part = book.packages[name]["kind"] == "platform"
        if name not in brought and (name == package or not part or used):
            found.append(name)
    return found


def _worst_of(readings: list[OwnAnswer]) -> list[OwnAnswer]:
    """A name that meets a source in several ways counts as the worst of them."""
    rank = max(OUTCOMES.index(each.outcome) for each in readings)
    return [each for each in readings if OUTCOMES.index(each.outcome) == rank]


def _agree(answer: SourceAnswer, expected: OwnAnswer) -> bool:
    possible = {each.outcome for each in answer.possible}
    if answer.outcome != expected.outcome or not _agree_elsewhere(answer, expected):
        return False
    if expected.only_elsewhere:
        return (
            possible == {"deterministic"} and not answer.alternatives and answer.raised_by is None
        )
    if possible != {each.outcome for each in expected.verdicts}:
        return False
    alternatives = tuple(tuple(labels) for labels in answer.alternatives)
    if answer.outcome == "depends":
        offered = {each.alternatives for each in expected.verdicts}
        return answer.raised_by is None and (
            alternatives in offered if alternatives else offered == {()}
        )
    return OwnVerdict(answer.outcome, alternatives, answer.raised_by) in expected.verdicts


def _agree_elsewhere(answer: SourceAnswer, expected: OwnAnswer) -> bool:
    """Whatever is worse elsewhere is listed, with the fewest facts that lead to it, and nothing
    else is.
    """
    least = max(OUTCOMES.index(answer.outcome), OUTCOMES.index("deterministic"))
    worse = {
        facts: outcome
        for facts, outcome in expected.elsewhere.items()
        if OUTCOMES.index(outcome) > least
    }
    fewest = {
        facts: outcome
        for facts, outcome in worse.items()
        if not any(other < facts for other in worse)
    }
    listed: dict[frozenset[tuple[str, str]], str] = {}
    for each in answer.otherwise:
        choices = [
            [(name, value) for value in _values(allowed)] for name, allowed in each.when.items()
        ]
        listed |= {frozenset(chosen): each.outcome for chosen in itertools.product(*choices)}
    known = set(expected.elsewhere)
    return {facts: outcome for facts, outcome in listed.items() if facts in known} == fewest


def _values(allowed: Allowed) -> list[str]:
    assert not isinstance(allowed, Range), "no assumed fact is a number"
    return [allowed] if isinstance(allowed, str) else allowed


def _brief(answer: SourceAnswer) -> str:
    branches = [each.outcome for each in answer.possible]
    elsewhere = [(each.when, each.outcome) for each in answer.otherwise]
    return (
        f"{answer.outcome} {answer.alternatives} {answer.raised_by} of {branches}, otherwise "
        f"{elsewhere}"
    )


@pytest.fixture(scope="module")
def opinion() -> Opinion:
    return Opinion(Book(KB))


@pytest.mark.parametrize("device", ["cuda", pytest.param("cpu", marks=pytest.mark.nightly)])
def test_both_say_the_same_of_every_op_in_every_release(opinion: Opinion, device: str) -> None:
    releases = [
        (name, release)
        for name in frameworks(opinion.book)
        for release in opinion.book.releases[name]
    ]
    found = [
        each
        for place in sample(releases, 8)
        for each in differences(knowledge_base(), opinion, *place, device)
    ]
    assert not found, "\n".join([f"{len(found)} differences", *found[:40]])


def test_both_say_the_same_of_every_op_in_every_image(opinion: Opinion) -> None:
    releases = [
        (name, release) for name in images(opinion.book) for release in opinion.book.releases[name]
    ]
    found = [
        each
        for place in sample(releases, 8)
        for each in differences(knowledge_base(), opinion, *place)
    ]
    assert not found, "\n".join([f"{len(found)} differences", *found[:40]])


@pytest.mark.parametrize(
    ("part", "device", "facts"),
    [
        ("ops", "cpu", {}),
        ("ops", "cuda", {"training": "false"}),
        pytest.param("reach", "cuda", {}, marks=pytest.mark.nightly),
        pytest.param("ops", "cuda", {"xla": "true"}, marks=pytest.mark.nightly),
        pytest.param("ops", "cuda", {"distributed": "true"}, marks=pytest.mark.nightly),
        pytest.param("ops", "mps", {}, marks=pytest.mark.nightly),
    ],
)
def test_both_say_the_same_of_the_first_of_every_minor_release(
    opinion: Opinion, part: str, device: str, facts: dict[str, str]
) -> None:
    firsts = [
        (name, release)
        for name in frameworks(opinion.book)
        for release in {
            each.rpartition(".")[0]: each for each in reversed(opinion.book.releases[name])
        }.values()
    ]
    found = [
        each
        for name, release in sample(firsts, 4)
        for each in differences(knowledge_base(), opinion, name, release, device, facts, part)
    ]
    assert not found, "\n".join([f"{len(found)} differences", *found[:40]])


PLANTED = [
    ("sources/pytorch/index-add.yaml", 'from: "1.9"', 'from: "1.9.1"', "torch", "1.9.0"),
    (
        "solutions/pytorch/uda.yaml",
        'when: {torch: {from: "1.7"}}',
        'when: {torch: {from: "1.8"}}',
        "torch",
        "1.7.1",
    ),
    (
        "sources/tensorflow/resize-bilinear.yaml",
        'from: "20.03"',
        'from: "20.02"',
        "ngc-tensorflow-tf1",
        "20.02",
    ),
    ("solutions/tensorflow/tdp.yaml", 'until: "2.1"', 'until: "2.0.4"', "tensorflow", "2.0.4"),
    (
        "sources/pytorch/cublas-workspace.yaml",
        'cuda: {from: "10.2"}',
        'cuda: {from: "11.0"}',
        "torch",
        "1.8.0",
    ),
]


@pytest.mark.parametrize(
    ("file", "right", "wrong", "package", "release"),
    [*PLANTED[:2], *(pytest.param(*each, marks=pytest.mark.nightly) for each in PLANTED[2:])],
)
def test_a_wrong_boundary_in_either_is_a_difference(
    opinion: Opinion, tmp_path: Path, file: str, right: str, wrong: str, package: str, release: str
) -> None:
    assert not differences(knowledge_base(), opinion, package, release)
    bad = tmp_path / "kb"
    shutil.copytree(KB, bad)
    text = (bad / file).read_text(encoding="utf-8")
    assert right in text
    (bad / file).write_text(text.replace(right, wrong, 1), encoding="utf-8")
    assert differences(build.build(yaml_files.load(bad)), opinion, package, release), (
        "planted in the records of the resolver"
    )
    assert differences(knowledge_base(), Opinion(Book(bad)), package, release), (
        "planted in the records of the second opinion"
    )
