"""Images that files name, and the packages in them."""

from __future__ import annotations

from collections.abc import Iterator

from d9m.environment.container import Image, contents, find_image
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


def is_unlisted(kb: KnowledgeBase, reference: str) -> bool:
    """Whether a reference names an image of the records by a tag that none of them has."""
    if "$" in reference or _moves(reference):
        return False
    if reference.rpartition(":")[0].rpartition("/")[2].lower() not in _families(kb):
        return False
    try:
        contents(kb, find_image(kb, reference))
    except UsageError as error:
        said = str(error)
        return not said.startswith("unknown container") and " variants" not in said
    return False


def _moves(reference: str) -> bool:
    """Whether a tag means another image after every release: ``latest-gpu``."""
    return reference.rpartition(":")[2].startswith("latest")


def newest(installed: Installed) -> str | None:
    releases = installed.candidates.releases
    return installed.version or (releases[-1] if releases else None)


def known_image(kb: KnowledgeBase, reference: str) -> Image | None:
    if reference.rpartition(":")[0].rpartition("/")[2].lower() not in _families(kb):
        return None
    try:
        return find_image(kb, reference)
    except UsageError:
        return None


def _families(kb: KnowledgeBase) -> set[str]:
    return kb.once("image words", lambda: set(_image_words(kb)))


def _image_words(kb: KnowledgeBase) -> Iterator[str]:
    """Yield the last parts of the names of images."""
    for family, packages in kb.meta.images.items():
        for word in (family, *packages, kb.packages[packages[0]].repository or family):
            yield word.rpartition("/")[2]
