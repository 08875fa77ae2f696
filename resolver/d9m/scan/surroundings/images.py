"""Images that files name, and the packages in them."""

from __future__ import annotations

import re

from d9m.environment.container import Image, contents, find_image, split_reference
from d9m.environment.releases import Installed
from d9m.errors import UsageError
from d9m.kb.store import KnowledgeBase
from d9m.scan.surroundings.surrounding import How, StatedVersion
from d9m.scan.versions.stated import StatedImage


def packages_in(kb: KnowledgeBase, image: StatedImage, path: str) -> dict[str, StatedVersion]:
    """Return the packages of an image, as far as the records and its tag say."""
    held = kb.once(("contents", image.reference), lambda: _contents(kb, image.reference))
    found: dict[str, StatedVersion] = {}
    for name, installed in held.items():
        if name not in kb.meta.platforms:
            version = newest(installed)
            how: How = "assumed" if _moves(image.reference) else "pinned"
            found[name] = StatedVersion(version, how, f"{path}:{image.line}")
    return found


def _contents(kb: KnowledgeBase, reference: str) -> dict[str, Installed]:
    image = known_image(kb, reference)
    if image is None:
        return {}
    try:
        return contents(kb, image)
    except UsageError:  # a tag like that of another one: pytorch:0.4_cuda9_cudnn7
        return {}


def is_unlisted(kb: KnowledgeBase, reference: str, is_base: bool) -> bool:
    """Whether a reference names an image of the records by a tag that none of them has, or, for the
    base of a Dockerfile, another image that is named for a framework.
    """
    if "$" in reference:
        return False
    try:
        contents(kb, find_image(kb, _tagged(reference)))
    except UsageError as error:
        said = str(error)
        if said.startswith("unknown container"):
            words = re.split(r"[/._-]", split_reference(reference)[0].lower())
            return is_base and not _frameworks(kb).isdisjoint(words)
        return " variants" not in said
    return False


def _frameworks(kb: KnowledgeBase) -> set[str]:
    """Return the names of frameworks, as images have them: ``torch`` and ``pytorch``."""
    packages = [(name, each) for name, each in kb.packages.items() if each.kind == "framework"]
    return {word for name, each in packages for word in (name, each.title.lower())}


def _tagged(reference: str) -> str:
    path, tag = split_reference(reference)
    return f"{path}:{tag or 'latest'}"


def _moves(reference: str) -> bool:
    """Whether a tag means another image after every release: ``latest-gpu``."""
    tag = split_reference(reference)[1]
    return not tag or tag.startswith("latest")


def newest(installed: Installed) -> str | None:
    releases = installed.candidates.releases
    return installed.version or (releases[-1] if releases else None)


def known_image(kb: KnowledgeBase, reference: str) -> Image | None:
    try:
        return find_image(kb, _tagged(reference))
    except UsageError:
        return None
