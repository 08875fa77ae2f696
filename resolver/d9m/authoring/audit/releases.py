"""Releases: is each that was read in the map, and is a wheel of each newer minor release read?"""

from __future__ import annotations

from collections.abc import Iterator

from d9m.authoring.audit.shipped import AuditDifference, Known, Shipped
from d9m.model.versions import key, minor


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
