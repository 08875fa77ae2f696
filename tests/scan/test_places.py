"""Where a listing without an order is used, in whatever wrapping, and where it is put in order."""

from __future__ import annotations

import pytest

from scan.projects import scanned

LISTINGS = (
    "os.listdir(p)",
    'fnmatch.filter(os.listdir(p), "*.png")',
    "next(os.walk(p))[2]",
    "np.array(os.listdir(p)).tolist()",
    "[os.path.join(p, name) for name in os.listdir(p)]",
    "list(map(load, os.listdir(p)))",
    'glob.glob("*.png") + glob.glob("*.jpg")',
    "list(Path(p).iterdir())",
)
USES = (
    "files = {}\nfirst = files[0]",
    "files = {}\nrandom.shuffle(files)",
    "def names():\n    return {}",
    "class Data:\n    def __init__(self):\n        self.files = {}",
    "for name in {}:\n    kept.append(name)\nfirst = kept[0]",
    "keep({})",
)
ORDERED = (
    "files = sorted({})\nfirst = files[0]",
    "files = {}\nfiles.sort()\nfirst = files[0]",
    "count = len({})",
    'found = "a.png" in {}',
    "files = set({})",
    "print({})",
    "for name in {}:\n    os.remove(name)",
    "for name in {}:\n    kept.append(name)\nkept.sort()\nfirst = kept[0]",
)
IMPORTS = (
    "import fnmatch, glob, os, random\nimport numpy as np\nfrom pathlib import Path\nkept = []\n"
)


def places(text: str) -> int:
    found = scanned({"a.py": IMPORTS + text}).findings
    return sum(one.code == "unsorted-listing" for one in found)


@pytest.mark.parametrize("listing", LISTINGS)
@pytest.mark.parametrize("use", USES)
def test_an_unsorted_listing_is_a_place_wherever_it_is_used(listing: str, use: str) -> None:
    assert places(use.replace("{}", listing))


@pytest.mark.parametrize("listing", LISTINGS)
@pytest.mark.parametrize("use", ORDERED)
def test_a_listing_that_its_function_puts_in_order_is_no_place(listing: str, use: str) -> None:
    assert not places(use.replace("{}", listing))
