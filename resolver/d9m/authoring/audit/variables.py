"""Environment variables and compiler flags: is what a record sets in the binaries, and the other
way round?
"""

from __future__ import annotations

from collections.abc import Iterator

from d9m.authoring.audit.shipped import AuditDifference, Known, Shipped, meant
from d9m.authoring.collect.words import is_variable
from d9m.kb.kinds import SETTINGS, SOLUTIONS
from d9m.model.records import Setting

TOPIC = "determinis"
"""Part of each name that needs a record; other names are collected for looking up."""


def differences(known: Known, shipped: Shipped) -> Iterator[AuditDifference]:
    """`variable-not-shipped`, `variable-shipped-elsewhere`, `variable-unknown` and
    `flag-unknown`.
    """
    settings = known.of(SETTINGS)
    for package in shipped.packages:
        for id_, setting in settings.items():
            if setting.kind == "env" and is_variable(setting.name):
                yield from _setting(known, shipped, package, id_, setting)
        names = {each.name for each in settings.values()}
        flags = " ".join(_values(known))
        for field, code, told in (
            ("variables", "variable-unknown", names),
            ("flags", "flag-unknown", flags),
        ):
            for name in shipped.all(package, field):
                if TOPIC in name.lower() and name not in told:
                    have = shipped.carrying(
                        package, lambda release, f=field, n=name: n in release.all(f)
                    )
                    yield AuditDifference(
                        code,
                        name,
                        shipped.spans(package, have),
                        f"{package}: no setting has this name",
                    )


def _setting(
    known: Known, shipped: Shipped, package: str, id_: str, setting: Setting
) -> Iterator[AuditDifference]:
    releases = shipped.packages[package]
    have = shipped.carrying(package, lambda release: setting.name in release.all("variables"))
    if setting.effect == "never":
        said: set[str] | None = set()
    else:
        said = meant(setting.when, known.home(id_), package, releases)
    if said is None:
        return
    subject = f"settings/{id_}"
    if said - have:
        detail = f"{package}: {setting.name} is in no library of these"
        yield AuditDifference(
            "variable-not-shipped", subject, shipped.spans(package, said - have), detail
        )
    if have - said:
        detail = f"{package}: {setting.name} is in these, the record names others"
        yield AuditDifference(
            "variable-shipped-elsewhere", subject, shipped.spans(package, have - said), detail
        )


def _values(known: Known) -> Iterator[str]:
    """Every value that a solution gives a setting, and every name of a setting: flags are
    either.
    """
    solutions = known.of(SOLUTIONS)
    for solution in solutions.values():
        for turn in (*solution.settings, *solution.sets):
            yield from turn.to
    for setting in known.of(SETTINGS).values():
        yield f"{setting.name} {' '.join(setting.accepts)} {setting.summary}"
