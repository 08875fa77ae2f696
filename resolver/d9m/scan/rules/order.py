"""Order: places where something without a fixed order is used."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from d9m.scan.facts import Order
from d9m.scan.finding import Fix, RelatedSpot, TextEdit
from d9m.scan.project.project import Project
from d9m.scan.rules.rule import Objection, ScanRule


def _places(kind: str, message: str, workaround: str) -> Callable[[Project], Iterator[Objection]]:
    """A check for the orders of one kind. Texts name fields of an order in braces."""

    def check(project: Project) -> Iterator[Objection]:
        walks = project.vocabulary.marks("walks")
        for path, facts in project.python.items():
            lines = [order.subject for order in facts.orders]
            for order in facts.orders:
                if order.kind != kind:
                    continue
                is_walk = order.name in walks
                said = {name: getattr(order, name) for name in ("name", "used", "subject")}
                where = project.line(path, order.used_line)
                same = order.used_line == order.place.line
                said["where"] = order.used if same else f"{order.used} in {where}"
                yield Objection(
                    path=path,
                    place=order.place,
                    message=message.format(**said),
                    workaround="in the loop: dirs.sort(), and sorted(files)"
                    if is_walk
                    else workaround.format(**said),
                    related=()
                    if same
                    else (RelatedSpot(path, order.used_line, "its order is used here"),),
                    fix=_sorted(order, lines.count(order.subject) == 1),
                )

    return check


def _sorted(order: Order, is_only: bool) -> Fix | None:
    """Put ``sorted(…)`` around it; safe unless the file lists the same twice, for then what is made
    of the two may belong together, element by element.
    """
    if not order.can_wrap:
        return None
    start = (order.place.line, order.place.column)
    end = (order.place.end_line, order.place.end_column)
    return Fix(is_only, "Sort it", [TextEdit(start, start, "sorted("), TextEdit(end, end, ")")])


UNSORTED_LISTING = ScanRule(
    code="unsorted-listing",
    family="order",
    severity="place",
    title="The order of a folder is used",
    why="""os.listdir, glob and Path.iterdir list files in the order of the file system, which
    can change after a copy, and differs between disks and machines. A shuffle with a fixed seed,
    a split, an index or a class number that builds on it changes, too. Sort the list.""",
    silent="""The same function sorts the list, counts it, tests for membership, puts it in a set,
    shows it, or handles its items one by one and keeps nothing. Where a file lists one folder
    twice, --fix leaves both: their elements may belong together, so sort both or neither.""",
    bad='import os\n\nfiles = os.listdir("data")\nfirst = files[0]\n',
    good='import os\n\nfiles = sorted(os.listdir("data"))\nfirst = files[0]\n',
    fixable="safe",
    check=_places(
        "listing",
        "{name}() lists in no fixed order, which differs between machines, and {where} uses it.",
        "sorted({subject})",
    ),
)

SET_ORDER = ScanRule(
    code="set-order",
    family="order",
    severity="place",
    title="The order of a set is used",
    why="""Strings hash with a salt that Python draws when it starts, so the order of a set of them
    differs in every process, unless PYTHONHASHSEED is fixed outside. Class numbers taken from a
    set, samples drawn from one, and its first element differ in every run. Sort the set.""",
    silent="The same function sorts the set, tests or counts it, or it holds numbers.",
    bad="names = load_names()\nindex = {name: i for i, name in enumerate(set(names))}\n",
    good="names = load_names()\nindex = {name: i for i, name in enumerate(sorted(set(names)))}\n",
    fixable="safe",
    check=_places(
        "set",
        "The order of a set of strings differs in every process, and {where} uses it.",
        "sorted({subject})",
    ),
)

COMPLETION_ORDER = ScanRule(
    code="completion-order",
    family="order",
    severity="place",
    title="Results are kept in the order in which they finish",
    why="""as_completed and imap_unordered yield results as workers finish, in an order that
    differs from run to run. Keep each result under the index of its task, or use map.""",
    silent="The list is sorted, counted, or handled one by one.",
    bad="""from concurrent.futures import as_completed

results = []
for future in as_completed(futures):
    results.append(future.result())
first = results[0]
""",
    good="""from concurrent.futures import as_completed

results = {}
for future in as_completed(futures):
    results[futures[future]] = future.result()
""",
    check=_places(
        "completion",
        "{name}() yields results in the order in which they finish, and {where} uses it.",
        "keep each result under the index of its task",
    ),
)

IDENTITY_ORDER = ScanRule(
    code="identity-order",
    family="order",
    severity="place",
    title="A list is sorted by addresses or hashes",
    why="""id() is an address, and hash() of most objects is made from one or salted: a list
    sorted by them comes out in a different order in every process.""",
    bad="parts = sorted(modules, key=id)\n",
    good="parts = sorted(modules, key=len)\n",
    check=_places(
        "identity",
        "{used} sorts by {name}(), which differs in every process.",
        "sort by something stored in the elements",
    ),
)

STRING_HASH = ScanRule(
    code="string-hash",
    family="seeds",
    severity="place",
    title="The hash of an object is used",
    why="""hash() of a string is salted anew in every process. A bucket, a split or a seed made
    from it differs in every run. zlib.crc32 and hashlib give the same number everywhere.""",
    silent="The hash is of numbers, in __hash__, or is only compared or shown.",
    bad='bucket = hash("name") % 10\n',
    good='import zlib\n\nbucket = zlib.crc32(b"name") % 10\n',
    check=_places(
        "hash",
        "The hash of a string differs in every process, and {where} uses it.",
        "zlib.crc32 of its bytes",
    ),
)

RULES = (UNSORTED_LISTING, SET_ORDER, COMPLETION_ORDER, IDENTITY_ORDER)
HASHES = (STRING_HASH,)
