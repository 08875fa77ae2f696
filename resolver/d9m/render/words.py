"""How conditions, outcomes and versions read in a sentence."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec

from d9m.model.advice import Advice
from d9m.model.records import Allowed, Clause, EvidenceKind, Outcome, Range, Scope
from d9m.render.page import Style

STYLES: dict[Outcome, Style] = {
    "no-known-source": "good",
    "deterministic": "good",
    "solved": "good",
    "depends": "doubt",
    "unknown": "doubt",
    "raises": "bad",
    "unsolved": "bad",
}


SAYS: dict[EvidenceKind, str] = {
    "assumed": "others assume",
    "documented": "the docs say",
    "release-note": "the release notes say",
    "tested-upstream": "upstream's tests say",
    "source-read": "the source code says",
    "binary-read": "the shipped binary says",
    "measured": "a run says",
}
"""How evidence that is not followed begins, before `otherwise`."""


class About(msgspec.Struct, frozen=True):
    """How an answer of one scope speaks."""

    promise: tuple[str, str]
    """What one op does, and what several do."""
    source: str
    says: str


SCOPES: dict[Scope, About] = {
    "run": About(("repeats bit for bit", "repeat bit for bit"), "a source of nondeterminism", ""),
    "batch": About(
        ("gives the same bits in any batch", "give the same bits in any batch"),
        "a dependence on the batch",
        "This is about batches only: the same sample, whatever it is batched with.",
    ),
    "hardware": About(
        ("gives the same bits on any machine", "give the same bits on any machine"),
        "a dependence on the machine",
        "This is about machines only: other hardware, thread counts and precision modes.",
    ),
}


def shout(outcome: Outcome) -> str:
    """An outcome as a headline, or in a table where it is bad."""
    return outcome.upper().replace("-", " ")


def listed(items: Sequence[str], last: str = "and") -> str:
    """a; a and b; a, b and c."""
    if len(items) < 2:
        return "".join(items)
    return f"{', '.join(items[:-1])} {last} {items[-1]}"


def short(call: str) -> str:
    """A call as one word: the last name before its arguments, or its first flag."""
    word = call.partition("(")[0].split()[0]
    return word if word.startswith("-") else word.rpartition(".")[2]


def allowed(name: str, value: Allowed) -> str:
    """A fact as `--fact` and an op's arguments take it: xla=true, method=nearest or area."""
    if isinstance(value, Range):
        bounds = [*([f">= {value.from_}"] if value.from_ else []), *([f"< {value.until}"] if value.until else [])]
        return f"{name} {', '.join(bounds)}" if bounds else name
    values = [value] if isinstance(value, str) else list(value)
    return f"no {name}" if values == ["absent"] else f"{name}={listed(values, 'or')}"


def clause(when: Clause) -> str:
    """A condition as a phrase; empty for one that always holds."""
    return " and ".join(allowed(name, value) for name, value in when.items())


def clauses(when: Iterable[Clause]) -> str:
    return ", or ".join(dict.fromkeys(clause(each) for each in when))


def span(releases: Sequence[str], word: str = "") -> str:
    """2.0.0 - 2.0.4; 2.4.0, 2.4.1; between 2.1.2 and 2.2.0."""
    if word:
        return f"{word} {releases[0]} and {releases[-1]}"
    if len(releases) > 2:
        return f"{releases[0]} - {releases[-1]}"
    return ", ".join(releases)


def environment(advice: Advice) -> str:
    """One line: tensorflow 2.0 (2.0.0 - 2.0.4) · cuda · training · xla off (assumed)."""
    here = advice.environment
    parts = [here.container] if here.container else []
    for name, version in here.packages.items():
        if name in here.assumed or (here.container and here.container.endswith(version)):
            continue
        releases = here.releases.get(name, [])
        told = span(releases, "between" if name in here.between else "")
        if version == "any" and name in here.between:
            parts.append(f"{name} {told}")
        else:
            parts.append(f"{name} {version}" + (f" ({told})" if len(releases) > 1 and version != "any" else ""))
    parts.append(here.device)
    facts = {name: value for name, value in here.facts.items() if name != "training"}
    parts.append("inference" if here.facts.get("training") == "false" else "training")
    for name, value in facts.items():
        word = {"true": f"{name} on", "false": f"{name} off"}.get(value, f"{name} {value}")
        parts.append(f"{word} (assumed)" if name in here.assumed else word)
    return " · ".join(parts)


def stamp(advice: Advice, command: str) -> str:
    """The comment line that every block carries."""
    return f"d9m {advice.d9m.version}, knowledge base {advice.d9m.kb_date}: {command}"
