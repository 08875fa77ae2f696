"""What every claim rests on: its own evidence, else its step's, else its source's."""

from __future__ import annotations

from d9m.browse.claims import claims
from d9m.browse.listing import listing
from d9m.model.records import Evidence, Source, TimelineStep, Unless
from d9m.model.when import Range
from golden import knowledge_base


class OneSource:
    """As much of a knowledge base as `claims` reads."""

    def __init__(self, source: Source) -> None:
        self.sources = {"torch/one": source}


def of(kind: str, follows: bool = True) -> Evidence:
    return Evidence(kind=kind, url="https://example.org", follows=follows)  # type: ignore[arg-type]


def source(steps: list[TimelineStep], evidence: list[Evidence]) -> Source:
    return Source(
        title="t", summary="s", mechanism="m", timeline={"torch": steps}, evidence=evidence
    )


def best(steps: list[TimelineStep], evidence: list[Evidence]) -> list[tuple[str, str]]:
    return [(each.text, each.best) for each in claims(OneSource(source(steps, evidence)))]  # type: ignore[arg-type]


def test_the_strongest_kind_counts() -> None:
    step = TimelineStep(
        from_="1.0",
        outcome="unsolved",
        evidence=[of("documented"), of("binary-read"), of("source-read")],
    )
    assert best([step], [of("measured")]) == [("from 1.0: unsolved", "binary-read")]


def test_evidence_that_says_otherwise_does_not_count() -> None:
    step = TimelineStep(
        from_="1.0", by=["UDA", "A + B"], evidence=[of("documented"), of("measured", follows=False)]
    )
    assert best([step], []) == [("from 1.0: solved by UDA or A + B", "documented")]


def test_a_claim_without_evidence_rests_on_its_step_or_its_source() -> None:
    exception = Unless(when={"dtype": ["integer", "bool"]}, outcome="deterministic")
    own = Unless(
        when=[{"torch": Range(from_="1.2")}, {"xla": "true"}],
        outcome="unknown",
        evidence=[of("measured")],
    )
    step = TimelineStep(from_="1.0", outcome="raises", by=["UDA"], unless=[exception, own])
    assert best([step], [of("documented")]) == [
        ("from 1.0: raises by UDA", "documented"),
        ("from 1.0, dtype integer/bool: deterministic", "documented"),
        ("from 1.0, torch from 1.2 or xla true: unknown", "measured"),
    ]


def test_the_list_shows_only_what_rests_on_no_more() -> None:
    kb = knowledge_base()
    every = listing(kb, "claims", None, None).rows
    documented = listing(kb, "claims", None, None, "documented").rows
    assert {each.status for each in documented} == {"documented"}
    assert 0 < len(documented) < len(every) == len(list(claims(kb)))


def test_every_claim_of_the_knowledge_base_rests_on_something() -> None:
    assert [each for each in claims(knowledge_base()) if not each.best] == []
