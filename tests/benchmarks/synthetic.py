"""Knowledge bases of any size, alike in everything else: to see what size costs.

All records belong to one framework, and twenty sources share each op. The first
ops, with all that answers a question about them, are the same at every size.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from d9m.kb import build, compiled
from d9m.kb.yaml_files import Loaded, Records
from d9m.model import records

FRAMEWORK = "tensorflow"
SOURCES_AN_OP = 20
RELEASES = tuple(
    f"{major}.{minor}.{patch}" for major in (1, 2) for minor in range(20) for patch in range(3)
)


def op(number: int) -> str:
    """Name of the op with this number, from 0."""
    return f"tf.synthetic.op_{number}"


def write(size: int, path: Path) -> int:
    """Compile a knowledge base of `size` records. Returns the bytes written."""
    return compiled.write(build.build(synthetic(size)), path)


def synthetic(size: int) -> Records:
    """`size` records: four fifths sources, the rest what sources refer to.

    `size` is a multiple of 100.
    """
    ops = size // 25
    loaded = [
        _loaded("versions", FRAMEWORK, _framework()),
        _loaded(
            "ops",
            FRAMEWORK,
            records.OpRecords(
                package=FRAMEWORK, ops={op(at): records.Existence() for at in range(ops)}
            ),
        ),
        *(each for at in range(ops) for each in _sources(at)),
        *(each for at in range(size // 20) for each in _solution(at)),
        *(_pull_request(at) for at in range(size // 10 - 2)),
    ]
    assert len(loaded) == size
    facts = {"training": records.Fact(title="Training", values=["true", "false"], default="true")}
    return Records(Path(), facts, loaded, [])


def _loaded(kind: str, id_: str, record: Any) -> Loaded:
    return Loaded(kind, id_, f"{kind}/{id_}.yaml", record, {})


def _evidence(at: int) -> list[records.Evidence]:
    return [
        records.Evidence(
            kind="release-note",
            url=f"https://example.org/{at}/notes",
            where="Bug fixes",
            note="Says so.",
        ),
        records.Evidence(
            kind="source-read",
            url=f"https://example.org/{at}/kernel.cu",
            where="line 100",
            note="Atomics.",
        ),
    ]


def _framework() -> records.Package:
    releases = {name: records.Release(date="2020-01-01") for name in RELEASES}
    return records.Package(
        title="Synthetic framework",
        kind="framework",
        folder=FRAMEWORK,
        releases=releases,
        evidence=_evidence(0),
    )


def _sources(number: int) -> Iterator[Loaded]:
    for place in range(SOURCES_AN_OP):
        timeline = [
            records.TimelineStep(from_="1.0.0", outcome="unsolved", evidence=_evidence(place)),
            records.TimelineStep(
                from_=f"1.{place % 20}.1", by=[f"S{number}"], evidence=_evidence(place)
            ),
            records.TimelineStep(
                from_="2.5.0",
                by=["S0", f"S{number}"],
                verified_through="2.19",
                evidence=_evidence(place),
            ),
        ]
        source = records.Source(
            title=f"Mechanism {place} of op {number}",
            summary=(
                "Sums with unordered atomic additions, so the last bits differ from run to run."
            ),
            mechanism="atomic-float-add",
            ops=[f"{op(number)}:backward"],
            timeline={FRAMEWORK: timeline},
            evidence=_evidence(number),
            references=[f"{FRAMEWORK}#{number}"],
        )
        yield _loaded("sources", f"{FRAMEWORK}/op-{number}-{place}", source)


def _solution(number: int) -> Iterator[Loaded]:
    name = f"TF_SYNTHETIC_{number}"
    setting = records.Setting(
        name=name,
        kind="env",
        summary="Chooses ordered kernels.",
        read="process-start",
        evidence=_evidence(number),
    )
    solution = records.Solution(
        label=f"S{number}",
        title=f"Synthetic solution {number}",
        summary="Chooses ordered kernels.",
        settings=[records.SettingChange(set=name, to=["1"])],
        evidence=_evidence(number),
    )
    yield _loaded("settings", f"{FRAMEWORK}/synthetic-{number}", setting)
    yield _loaded("solutions", f"{FRAMEWORK}/synthetic-{number}", solution)


def _pull_request(number: int) -> Loaded:
    pull_request = records.PullRequest(
        repository=FRAMEWORK,
        number=str(number),
        title=f"Add deterministic kernel {number}",
        status="merged",
        merged="2020-01-01",
        version="1.1.0",
        url=f"https://example.org/pull/{number}",
        evidence=_evidence(number),
    )
    return _loaded("pull_requests", f"{FRAMEWORK}/{number}", pull_request)
