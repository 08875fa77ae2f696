"""Which orders decide what is trained: what builds on them, and which programs run that."""

from __future__ import annotations

import re
from collections.abc import Iterator

import msgspec

from d9m.scan.facts import FileFacts, Order, WrittenCall, scopes_around
from d9m.scan.measuring import is_aside, measures
from d9m.scan.project.knowledge import Generator
from d9m.scan.project.programs import Program
from d9m.scan.project.project import Project
from d9m.scan.rules.loaders import loadings
from d9m.scan.rules.program_seeds import seeded


def orders(project: Project, kind: str) -> Iterator[tuple[str, Order]]:
    """The orders of a kind, each with the file that it begins in; not sure where they decide
    nothing that is trained.
    """
    for path, order in project.orders:
        if order.kind == kind:
            sure = order.sure and _reaches_training(project, order.consumer_path or path, order)
            yield path, msgspec.structs.replace(order, sure=sure)


def _may_run(program: Program, path: str, order: Order) -> bool:
    """Whether a program may run what builds on an order, in a file, and so the order before it."""
    place = order.consumer_place
    return program.may_run(path, order) and not program.never_runs(path, place.line, place.column)


def _reaches_training(project: Project, path: str, order: Order) -> bool:
    """Whether an order can decide what is trained. It can in code of a program that trains and
    seeds something: one that seeds nothing differs in every run anyway, but for the numbers of its
    classes and its splits, if a machine decides them or the program keeps what it has trained. It
    can in a script that seeds something, or numbers or splits, and writes what it makes, as one
    that prepares data does; in code of a library, which others run; and in a function that nothing
    here runs, if it seeds what it draws from. What draws from a generator decides nothing in a
    project that seeds nothing, nor in a function of a library that leaves the generator unseeded.
    Nor does what no program in sight uses, in a project that trains and seeds nothing; nor what
    only measures, nor a table of numbers that nothing reads, nor a file of which no
    program that uses it trains, nor a place that a caller picks, where those that train do not pick
    by chance.
    """
    if measures(project.python[path], order) or _is_reseeded_by_chance(project, path, order):
        return False
    if order.kept_as and order.kept_as not in project.mentioned:
        return False
    if project.reach.needs_option(path, order.consumer_place.line):
        return False
    if project.training_paths and project.reach.by(path, order.consumer_place.line) == "nothing":
        return _seeds_itself(project, path, order)
    may_run: list[Program] = []
    is_refused = False
    for program in project.programs:
        if path not in program.files:
            continue
        if _may_run(program, path, order):
            may_run.append(program)
        elif program.may_enter((path, order.scope)):
            is_refused = True
    if is_refused and not may_run:
        return False
    trained: list[Program] = []
    for program in may_run:
        trains = program.path in project.training_paths and not is_aside(program.path)
        if trains and _trains_with(project, program, path, order):
            trained.append(program)
    held = [program for program in project.programs if path in program.files]
    picked = any(
        program.makes_objects(path, order.scope) and _picks_by_chance(project, program)
        for program in trained
    )
    elsewhere = not project.training_paths or _is_registered(project, path, order)
    if order.by_caller and not picked and not elsewhere:
        return False
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
    if held and not project.training_paths and not is_script:
        return False
    known = held or order.lasting or project.seeds_anything or _is_registered(project, path, order)
    if not known and project.has_training_code:
        return False
    if not order.draws or _is_seeded(project, path, order):
        return True
    scope = project.python[path].scopes[order.scope]
    in_class = scope.parent > 0 and project.python[path].scopes[scope.parent].kind == "class"
    stated = is_script and any(facts.seed_line for facts in project.files.values())
    return not _leaves_to_chance(project, order) and (in_class or stated)


def _trains_with(project: Project, program: Program, path: str, order: Order) -> bool:
    """Whether a program trains with what its file does as it is run: not only in a function that
    the file keeps, and nothing calls any more.
    """
    if path != program.path or order.scope != 0 or order.in_main:
        return True
    trains = project.vocabulary.trains
    for other, facts in program.files.items():
        for call in facts.calls:
            if call.name not in trains or not program.may_run(other, call):
                continue
            if not _is_idle(program, other, call.scope):
                return True
    return False


def _is_idle(program: Program, path: str, scope: int) -> bool:
    """Whether a scope is of a function of the program's own file that nothing calls or names."""
    if path != program.path:
        return False
    outermost = scopes_around(program.entry.scopes, scope)[-1]
    is_function = program.entry.scopes[outermost].kind == "function"
    return is_function and not program.runs(path, outermost)


def _is_registered(project: Project, path: str, order: Order) -> bool:
    """Whether its class is in a register, from which something out of sight may take it."""
    scopes = project.python[path].scopes
    return any(scopes[scope].registered for scope in scopes_around(scopes, order.scope))


_NO = ("", "False", "None", "0")


def _picks_by_chance(project: Project, program: Program) -> bool:
    """Whether a program shuffles what it loads, or draws from it, or splits it; one without a
    loader of the records has something else that may.
    """
    loaders = 0
    for loading in loadings(project, program):
        if not program.may_run(loading.path, loading.call):
            continue
        loaders += 1
        if measures(program.files[loading.path], loading.call):
            continue
        given = [loading.argument(name) for name in loading.loader.picks]
        if not loading.is_plain or any(text not in _NO for text in given):
            return True
    if not loaders:
        return True
    bound = project.vocabulary.order_bound
    for path, facts in program.files.items():
        if any(call.name in bound and program.may_run(path, call) for call in facts.calls):
            return True
    return False


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
            if seeds and not call.gets_nothing and not _draws_its_seed(project, facts, call):
                return True
    return False


def _draws_its_seed(project: Project, facts: FileFacts, call: WrittenCall) -> bool:
    """Whether a call takes a seed that its function draws: ``seed = randint(1, 100)``."""
    vocabulary = project.vocabulary
    if any(name in vocabulary.chance or name in vocabulary.draws for name in call.made_from):
        return True
    given = call.positional[:1]
    for draw in facts.calls:
        drawn = draw.scope == call.scope and draw.target and draw.name in vocabulary.draws
        if drawn and (draw.target,) == given:
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
    """Whether a file, or a program that runs the consumer, seeds the generator that the consumer
    draws from; where it draws from none, whether the file seeds something.
    """
    drawn = _drawn_from(project, order)
    wanted = project.vocabulary.seeds if drawn is None else drawn.marks.seeds
    holding = [program for program in project.programs if path in program.files]
    running = [program for program in holding if _may_run(program, path, order)]
    for call in project.python[path].calls:
        if call.name not in wanted or call.gets_nothing:
            continue
        here = call.scope in (0, order.scope)
        if here or any(program.runs(path, call.scope) for program in running):
            return True
    if drawn is None:
        return False
    is_notebook = project.python[path].kind == "notebook"
    if drawn.title in project.configured_generators and not is_notebook:
        return True
    return any(drawn.title in seeded(project, program, running=True) for program in running)


def _is_reseeded_by_chance(project: Project, path: str, order: Order) -> bool:
    """Whether a function around an order seeds what the consumer draws from by chance: then no
    order of a list makes its draws repeat.
    """
    drawn = _drawn_from(project, order)
    if drawn is None:
        return False
    around = scopes_around(project.python[path].scopes, order.scope)
    for call in project.python[path].calls:
        if call.scope not in around or call.name not in drawn.marks.seeds or call.fallback:
            continue
        if any(name in project.vocabulary.chance for name in call.made_from):
            return True
    return False


def _seeds_itself(project: Project, path: str, order: Order) -> bool:
    """Whether the function around an order seeds what the consumer draws from."""
    drawn = _drawn_from(project, order)
    if drawn is None:
        return False
    for call in project.python[path].calls:
        if call.scope == order.scope and call.name in drawn.marks.seeds and not call.gets_nothing:
            return True
    return False


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
    return not project.seeds_anything or bool(unseeded(project, order))


def unseeded(project: Project, order: Order) -> str:
    """The generator that the consumer draws from, if nothing in the project seeds it: then the
    order alone is not enough. Empty otherwise.
    """
    drawn = _drawn_from(project, order)
    return "" if drawn is None or drawn.title in project.used_generators else drawn.title
