"""Order: does something without a fixed order decide which sample is which?"""

from __future__ import annotations

import re
from collections.abc import Iterator

import msgspec

from d9m.scan.facts import FileFacts, Order
from d9m.scan.finding import Fix, RelatedSpot, Spot, TextEdit
from d9m.scan.knowledge import Generator
from d9m.scan.measuring import is_aside, measures
from d9m.scan.order_sources import is_surely_text
from d9m.scan.programs import Program
from d9m.scan.project import Project
from d9m.scan.rules.program_seeds import seeded
from d9m.scan.rules.rule import Objection, ScanRule


def _orders(project: Project, kind: str) -> Iterator[tuple[str, Order]]:
    for path, facts in project.python.items():
        for order in facts.orders:
            if order.kind == kind:
                sure = order.sure and _reaches_training(project, path, order)
                yield path, msgspec.structs.replace(order, sure=sure)


def _reaches_training(project: Project, path: str, order: Order) -> bool:
    """Whether an order can decide what is trained. It can in code of a program that trains and
    seeds something: one that seeds nothing differs in every run anyway, but for the numbers of its
    classes and its splits, if a machine decides them or the program keeps what it has trained. It
    can in a script that seeds something, or numbers or splits, and writes what it makes, as one
    that prepares data does; and in code that nothing here runs: that is a library. What draws from
    a generator decides nothing in a project that seeds nothing, nor in a function of a library that
    leaves the generator unseeded. Nor does what only measures.
    """
    if measures(project.python[path], order):
        return False
    may_run: list[Program] = []
    for program in project.programs:
        if path in program.files and program.may_run(path, order):
            may_run.append(program)
    trained: list[Program] = []
    for program in may_run:
        if program.path in project.training_paths and not is_aside(program.path):
            trained.append(program)
    if trained:
        if any(_asks_to_repeat(project, program, order) for program in trained):
            return True
        if order.lasting and (order.kind != "set" or any(map(_keeps, trained))):
            return True
        return _is_seeded(project, path, order)
    if is_aside(path):
        return False
    is_script = bool(may_run) or order.scope == 0
    if is_script and (project.training_paths or project.python[path].kind == "notebook"):
        asks = order.lasting or _is_seeded(project, path, order)
        return asks and _writes(project.python[path])
    if not order.draws or _is_seeded(project, path, order):
        return True
    scope = project.python[path].scopes[order.scope]
    in_class = scope.parent > 0 and project.python[path].scopes[scope.parent].kind == "class"
    return not _leaves_to_chance(project, order) and (in_class or is_script)


def _asks_to_repeat(project: Project, program: Program, order: Order) -> bool:
    """Whether a program seeds a generator: a global one, or one of its own, as for a split. What
    draws from a global one is not repeated by a seed of another object.
    """
    if seeded(project, program, running=bool(order.draws)):
        return True
    if order.draws:
        return False
    vocabulary = project.vocabulary
    for facts in program.files.values():
        for call in facts.calls:
            seeds = call.name in vocabulary.reseeds or call.name in vocabulary.makers
            if seeds and not call.gets_nothing:
                return True
    return False


_WRITES = re.compile(
    r"dumps?|write\w*|copy\w+|move|save\w*|to_(csv|json|jsonl|parquet|pickle|hdf)|imwrite|symlink"
)
"""Last names of calls that write files."""


def _keeps(program: Program) -> bool:
    """Whether a program writes what it has trained, for others to load."""
    return any(map(_writes, program.files.values()))


def _writes(facts: FileFacts) -> bool:
    """Whether a file writes something that stays; ``copy(file, folder)`` does, too."""
    for call in facts.called:
        if _WRITES.fullmatch(call.name) or (call.name == "copy" and call.positional > 1):
            return True
    return False


def _is_seeded(project: Project, path: str, order: Order) -> bool:
    """Whether a file, or a program that it is part of, seeds the generator that the consumer draws
    from; where it draws from none, whether the file seeds something.
    """
    drawn = _drawn_from(project, order)
    wanted = project.vocabulary.seeds if drawn is None else drawn.marks.seeds
    for call in project.python[path].calls:
        if call.name in wanted and not call.gets_nothing:
            return True
    if drawn is None:
        return False
    if drawn.title in project.configured_generators:
        return True
    return any(
        path in program.files and drawn.title in seeded(project, program, running=True)
        for program in project.programs
    )


def _drawn_from(project: Project, order: Order) -> Generator | None:
    """The generator that the consumer draws from, if it draws from one."""
    for generator in project.knowledge.generators() if order.draws else ():
        draws, others = project.vocabulary.draws_of(generator.marks)
        if order.draws in draws and order.draws not in others:
            return generator
    return None


def _leaves_to_chance(project: Project, order: Order) -> bool:
    """Whether nothing in a project seeds the generator that the consumer draws from, nor states a
    seed that may be for it: then sorting alone repeats nothing.
    """
    if any(facts.seed_line for facts in project.files.values()):
        return False
    return not project.seeds_anything or bool(_unseeded(project, order))


def _unseeded(project: Project, order: Order) -> str:
    """The generator that the consumer draws from, if nothing in the project seeds it: then the
    order alone is not enough. Empty otherwise.
    """
    drawn = _drawn_from(project, order)
    return "" if drawn is None or drawn.title in project.used_generators else drawn.title


def _in_order(project: Project, order: Order) -> str:
    """How to list in a fixed order; a walk sorts nothing by being sorted itself."""
    if order.name in project.vocabulary.walks:
        return "in the loop: dirs.sort(), and sorted(files)"
    return f"sorted({order.subject})"


def _sorted(order: Order) -> Fix | None:
    spot = order.wrap
    if spot is None:
        return None
    edits = [
        TextEdit((spot.line, spot.column), (spot.line, spot.column), "sorted("),
        TextEdit((spot.end_line, spot.end_column), (spot.end_line, spot.end_column), ")"),
    ]
    return Fix(True, "Sort it", edits)


def _built_on(path: str, order: Order) -> tuple[RelatedSpot, ...]:
    if order.consumer_place.line == order.place.line:
        return ()
    return (RelatedSpot(path, order.consumer_place.line, f"{order.consumer} builds on it"),)


def _where(project: Project, path: str, order: Order) -> str:
    line = order.consumer_place.line
    if line == order.place.line:
        return order.consumer
    return f"{order.consumer} in {project.line(path, line)}"


def _seed_too(generator: str) -> str:
    return f" Nothing seeds {generator}, either." if generator else ""


def _and_seed(generator: str) -> str:
    return f", and seed {generator}" if generator else ""


def _check_listing(project: Project) -> Iterator[Objection]:
    spoken: set[tuple[str, int, Spot]] = set()
    for path, order in _orders(project, "listing"):
        one = (path, order.place.line, order.consumer_place)
        if one in spoken:  # glob(a) + glob(b)
            continue
        spoken.add(one)
        drawn = _unseeded(project, order)
        yield Objection(
            path=path,
            place=order.place,
            severity=None if order.sure else "hint",
            message=(
                f"{order.name}() lists in no fixed order, and {_where(project, path, order)} "
                f"builds on it: the order differs between machines.{_seed_too(drawn)}"
            ),
            way_out=f"{_in_order(project, order)}{_and_seed(drawn)}",
            related=_built_on(path, order),
            fix=None if order.name in project.vocabulary.walks else _sorted(order),
        )


UNSORTED_LISTING = ScanRule(
    code="unsorted-listing",
    family="order",
    severity="warning",
    title="The order of a folder decides which sample is which",
    why="""os.listdir, glob and Path.iterdir list files in the order of the file system, which
    can change after a copy, and differs between disks and machines. A shuffle with a fixed seed,
    a split, an index or a class number that builds on it changes, too. Sort the list.""",
    silent="""The list is sorted, counted, searched, printed, or its items are handled one by one.
    files[0] is mostly the only file that there is: a hint, and so are a handful of the first
    (files[:5]). In a project with programs that train, a script or notebook that does not train is
    a hint, too, unless it seeds something or numbers or splits, and writes what it makes. So is an
    order in a program that trains and seeds nothing, or only objects of its own where the order is
    shuffled or drawn from, a shuffle by a generator that nothing in the project seeds, or in a
    function that no program here runs and that does not seed it, the order of a list to validate or
    test on, and what a file or function does whose name says that it evaluates, infers, plots or
    analyses.""",
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


def _check_set(project: Project) -> Iterator[Objection]:
    for path, order in _orders(project, "set"):
        sure = order.sure and is_surely_text(order.subject)
        drawn = _unseeded(project, order)
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
            fix=_sorted(order),
        )


SET_ORDER = ScanRule(
    code="set-order",
    family="order",
    severity="warning",
    title="The order of a set of strings decides a number or a choice",
    why="""Strings hash with a salt that Python draws when it starts, so the
    order of a set of them differs in every process, unless PYTHONHASHSEED is fixed outside.
    Class numbers taken from a set, samples drawn from one, and its first element differ in
    every run. Sort the set.""",
    silent="""The set is sorted, tested or counted, or it holds whole numbers. Where the text
    does not say what it holds, this is a hint; and so are numbers in a program that seeds nothing
    and keeps nothing of what it trains.""",
    bad="names = load_names()\nindex = {name: i for i, name in enumerate(set(names))}\n",
    good="names = load_names()\nindex = {name: i for i, name in enumerate(sorted(set(names)))}\n",
    fixable="safe",
    check=_check_set,
)


def _check_hash(project: Project) -> Iterator[Objection]:
    for path, order in _orders(project, "hash"):
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
    severity="error",
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
    for path, order in _orders(project, "set"):
        if order.sure and is_surely_text(order.subject):
            yield path, order
    for path, order in _orders(project, "hash"):
        if order.sure:
            yield path, order


def _check_completion(project: Project) -> Iterator[Objection]:
    for path, order in _orders(project, "completion"):
        drawn = _unseeded(project, order)
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
    severity="warning",
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
    for path, order in _orders(project, "identity"):
        yield Objection(
            path=path,
            place=order.place,
            message=f"{order.consumer} sorts by {order.name}(), which differs in every process.",
            way_out="sort by something stored in the elements",
        )


IDENTITY_ORDER = ScanRule(
    code="identity-order",
    family="order",
    severity="warning",
    title="A list is sorted by addresses or hashes",
    why="""id() is an address, and hash() of most objects is made from one or salted: a list
    sorted by them comes out in a different order in every process.""",
    bad="parts = sorted(modules, key=id)\n",
    good="parts = sorted(modules, key=len)\n",
    check=_check_identity,
)

RULES = (UNSORTED_LISTING, SET_ORDER, COMPLETION_ORDER, IDENTITY_ORDER)
HASHES = (STRING_HASH,)
