"""Releases: is each that was read or published in the map, and is a wheel of each newer minor
release read?
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from d9m.authoring.audit.shipped import AuditDifference, Known, Shipped
from d9m.model.versions import key, minor
from d9m.model.wheel_facts import Published

_FINAL = re.compile(r"\d+(?:\.\d+)*")


def differences(known: Known, shipped: Shipped) -> Iterator[AuditDifference]:
    """`release-not-in-map` and `release-not-read`."""
    for package, releases in shipped.packages.items():
        listed = known.kb.releases(package)
        for version in releases:
            if version not in listed:
                yield AuditDifference(
                    "release-not-in-map", f"{package} {version}", "", "a wheel of it was read"
                )
        minors = {minor(version) for version in releases}
        oldest = min(key(version) for version in releases)
        for version in listed:
            if key(version) > oldest and minor(version) not in minors:
                minors.add(minor(version))
                detail = "no wheel of its minor release was read"
                yield AuditDifference("release-not-read", f"{package} {version}", "", detail)
    for published in shipped.published:
        yield from _missing(known, published)


def _missing(known: Known, published: Published) -> Iterator[AuditDifference]:
    """Final releases since the map's first that it does not list. A build (``1.4.1.post2``) counts
    as its release.
    """
    listed = [key(version) for version in known.kb.releases(published.package)]
    for version in published.releases:
        if _FINAL.fullmatch(version) and key(version) > listed[0] and key(version) not in listed:
            detail = f"listed as {published.distribution} on {published.date}"
            yield AuditDifference(
                "release-not-in-map", f"{published.package} {version}", "", detail
            )
