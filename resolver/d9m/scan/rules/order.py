"""Order: does something without a fixed order decide which sample is which?"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from d9m.scan.facts import Order
from d9m.scan.finding import Fix, RelatedSpot, Spot, TextEdit
from d9m.scan.project.project import Project
from d9m.scan.rules.order_reach import orders, unseeded
from d9m.scan.rules.program_seeds import in_words
from d9m.scan.rules.rule import Objection, ScanRule
from d9m.scan.syntax.elements import is_surely_text


def _in_order(project: Project, order: Order) -> str:
    """How to list in a fixed order; a walk sorts nothing by being sorted itself."""
    if order.name in project.vocabulary.walks:
        return "in the loop: dirs.sort(), and sorted(files)"
    return f"sorted({order.subject})"


def _around(spot: Spot) -> list[TextEdit]:
    return [
        TextEdit((spot.line, spot.column), (spot.line, spot.column), "sorted("),
        TextEdit((spot.end_line, spot.end_column), (spot.end_line, spot.end_column), ")"),
    ]


def _built_on(path: str, order: Order) -> tuple[RelatedSpot, ...]:
    where = order.consumer_path or path
    if where == path and order.consumer_place.line == order.place.line:
        return ()
    return (RelatedSpot(where, order.consumer_place.line, f"{order.consumer} builds on it"),)


def _where(project: Project, path: str, order: Order) -> str:
    line = order.consumer_place.line
    if order.consumer_path:
        return f"{order.consumer} in {project.spot(order.consumer_path, line)}"
    if line == order.place.line:
        return order.consumer
    return f"{order.consumer} in {project.line(path, line)}"


def _seed_too(generator: str) -> str:
    return f" Nothing seeds {generator}, either." if generator else ""


def _and_seed(generator: str) -> str:
    return f", and seed {generator}" if generator else ""


def _check_listing(project: Project) -> Iterator[Objection]:
    for path, together in _by_consumer(orders(project, "listing")):
        order, *others = together
        drawn = unseeded(project, order)
        alike = ", and the others alike" if others else ""
        twins = _twins(together)
        if twins and not others:
            lines = in_words([project.line(path, line) for line in twins])
            alike = f", and the same in {lines}: their elements may belong together"
        yield Objection(
            path=path,
            place=order.place,
            severity=None if order.sure else "hint",
            message=(
                f"{order.name}() lists in no fixed order, and {_where(project, path, order)} "
                "builds on it: the order differs between machines."
                f"{_also(project, path, others)}{_seed_too(drawn)}"
            ),
            way_out=f"{_in_order(project, order)}{alike}{_and_seed(drawn)}",
            related=_built_on(path, order),
            fix=_sorted(project, together),
        )


def _also(project: Project, path: str, others: Sequence[Order]) -> str:
    """The other listings that end up in the same place."""
    if not others:
        return ""
    lines = list(dict.fromkeys(project.line(path, other.place.line) for other in others))
    return f" It also builds on those in {in_words(lines)}."


def _by_consumer(found: Iterable[tuple[str, Order]]) -> Iterator[tuple[str, list[Order]]]:
    """Orders of one file that the same place builds on, those that count apart from hints."""
    groups: dict[tuple[str, str, Spot, bool], list[Order]] = {}
    for path, order in _each_once(found, lambda order: order.sure):
        key = (path, order.consumer_path, order.consumer_place, order.sure)
        groups.setdefault(key, []).append(order)
    for (path, *_rest), together in groups.items():
        yield path, sorted(together, key=lambda order: order.place)


def _sorted(project: Project, together: Sequence[Order]) -> Fix | None:
    """A fix for all of them, or none: a walk sorts nothing by being sorted itself."""
    edits: list[TextEdit] = []
    for order in together:
        if order.name in project.vocabulary.walks or order.wrap is None:
            return None
        edits += _around(order.wrap)
    return Fix(not _twins(together), "Sort it", edits)


def _twins(together: Sequence[Order]) -> list[int]:
    """Lines that list the same as one of these, and are not among them."""
    own = {order.place.line for order in together}
    return sorted({line for order in together for line in order.also_in} - own)


UNSORTED_LISTING = ScanRule(
    code="unsorted-listing",
    family="order",
    severity="place",
    title="The order of a folder decides which sample is which",
    why="""os.listdir, glob and Path.iterdir list files in the order of the file system, which
    can change after a copy, and differs between disks and machines. A shuffle with a fixed seed,
    a split, an index or a class number that builds on it changes, too. Sort the list.""",
    silent="""The list is sorted, counted, searched, printed, or its items are handled one by one.
    files[0] is mostly the only file that there is: a hint, and so are a handful of the first
    (files[:5]). In a project with programs that train, a script or notebook that does not train is
    a hint, too, unless it seeds something or numbers or splits, and writes what it makes. So is an
    order in a program that trains and seeds nothing, or only objects of its own where the order is
    shuffled or drawn from, a shuffle by a generator that no program seeds which runs it, the order
    of a list to validate or test on, and what a file or function does whose name says that it
    evaluates, infers, plots or analyses. A dataset that gets an index is a hint where no program
    that trains shuffles, splits or draws; so is a listing in a notebook that keeps a function to
    train and calls it no more. So is code that splits paths at backslashes: it runs on Windows,
    whose file systems list by name. An iterator such as Path.glob() has no places
    to build on. A copy of another project, in a folder such as third_party, is a hint. So are a
    table of numbers that nothing in the project reads, and draws from a list by a generator that
    gets no seed, or that the function around it seeds by chance. A list that a function returns is
    followed to its callers in the project, and not further. Where a function lists one folder
    twice, --fix leaves both: their elements may belong together, so sort both or neither.""",
    bad=(
        "import os\nimport random\n\nrandom.seed(1)\n"
        'files = os.listdir("data")\nrandom.shuffle(files)\n'
    ),
    good=(
        "import os\nimport random\n\nrandom.seed(1)\n"
        'files = sorted(os.listdir("data"))\nrandom.shuffle(files)\n'
    ),
    fixable="safe",
    check=_check_listing,
)


def _is_sure_set(order: Order) -> bool:
    return order.sure and is_surely_text(order.holds)


def _each_once(
    found: Iterable[tuple[str, Order]], is_sure: Callable[[Order], bool]
) -> Iterator[tuple[str, Order]]:
    """One order for each line that it begins in, a sure one if any is: several callers may build on
    what a function returns, and one on ``names & others`` or on ``glob(a) + glob(b)``.
    """
    spoken: set[tuple[str, int]] = set()
    for path, order in sorted(found, key=lambda one: not is_sure(one[1])):
        if (path, order.place.line) not in spoken:
            spoken.add((path, order.place.line))
            yield path, order


def _check_set(project: Project) -> Iterator[Objection]:
    for path, order in _each_once(orders(project, "set"), _is_sure_set):
        sure = _is_sure_set(order)
        drawn = unseeded(project, order)
        yield Objection(
            path=path,
            place=order.place,
            severity=None if sure else "hint",
            confidence="sure" if sure else "likely",
            message=(
                "The order of a set of strings differs in every process, and "
                f"{_where(project, path, order)} builds on it.{_seed_too(drawn)}"
            ),
            way_out=f"sorted({order.subject}){_and_seed(drawn)}",
            related=_built_on(path, order),
            fix=_sorted(project, [order]),
        )


SET_ORDER = ScanRule(
    code="set-order",
    family="order",
    severity="place",
    title="The order of a set of strings decides a number or a choice",
    why="""Strings hash with a salt that Python draws when it starts, so the
    order of a set of them differs in every process, unless PYTHONHASHSEED is fixed outside.
    Class numbers taken from a set, samples drawn from one, and its first element differ in
    every run. Sort the set.""",
    silent="""The set is sorted, tested or counted, or it holds whole numbers, such as the keys of a
    table of lengths. Where the text does not say what it holds, this is a hint; and so are numbers
    in a program that seeds nothing and keeps nothing of what it trains, and in a file whose
    programs train nothing.""",
    bad="names = load_names()\nindex = {name: i for i, name in enumerate(set(names))}\n",
    good="names = load_names()\nindex = {name: i for i, name in enumerate(sorted(set(names)))}\n",
    fixable="safe",
    check=_check_set,
)


def _check_hash(project: Project) -> Iterator[Objection]:
    for path, order in orders(project, "hash"):
        yield Objection(
            path=path,
            place=order.place,
            severity=None if order.sure else "hint",
            confidence="sure" if order.sure else "likely",
            message=(
                f"The hash of a string differs in every process, so {order.consumer} "
                "differs in every run."
            ),
            way_out=f"zlib.crc32({order.subject})",
        )


STRING_HASH = ScanRule(
    code="string-hash",
    family="seeds",
    severity="place",
    title="The hash of a string decides a number",
    why="""hash() of a string is salted anew in every process. A bucket, a split or a seed made
    from it differs in every run. zlib.crc32 and hashlib give the same number
    everywhere.""",
    silent="""The hash is of numbers, stands in __hash__, or is only compared. Where the
    text does not say what is hashed, or the hash only becomes a part of a name or message, this is
    a hint.""",
    bad='bucket = hash("name") % 10\n',
    good='import zlib\n\nbucket = zlib.crc32(b"name") % 10\n',
    check=_check_hash,
)


def surely_hashed(project: Project) -> Iterator[tuple[str, Order]]:
    """Where the hashes of strings surely decide what a program trains."""
    for path, order in orders(project, "set"):
        if order.sure and is_surely_text(order.holds):
            yield path, order
    for path, order in orders(project, "hash"):
        if order.sure:
            yield path, order


def _check_completion(project: Project) -> Iterator[Objection]:
    for path, order in orders(project, "completion"):
        drawn = unseeded(project, order)
        yield Objection(
            path=path,
            place=order.place,
            severity=None if order.sure else "hint",
            message=(
                f"{order.name}() yields results in the order in which they finish, and "
                f"{_where(project, path, order)} builds on it.{_seed_too(drawn)}"
            ),
            way_out=f"keep each result under the index of its task{_and_seed(drawn)}",
            related=_built_on(path, order),
        )


COMPLETION_ORDER = ScanRule(
    code="completion-order",
    family="order",
    severity="place",
    title="Results are kept in the order in which they finish",
    why="""as_completed and imap_unordered yield results as workers finish, in an order that
    differs from run to run. Keep each result under the index of its task, or use map.""",
    silent="""The list is sorted, counted, or handled one by one. For a list that is returned, this
    is a hint.""",
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
    check=_check_completion,
)


def _check_identity(project: Project) -> Iterator[Objection]:
    for path, order in orders(project, "identity"):
        yield Objection(
            path=path,
            place=order.place,
            message=f"{order.consumer} sorts by {order.name}(), which differs in every process.",
            way_out="sort by something stored in the elements",
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
    check=_check_identity,
)

RULES = (UNSORTED_LISTING, SET_ORDER, COMPLETION_ORDER, IDENTITY_ORDER)
HASHES = (STRING_HASH,)
