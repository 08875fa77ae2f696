"""Seeds: is every generator seeded, and from something fixed?"""

from __future__ import annotations

import re
from collections.abc import Iterator

import msgspec

from d9m.scan.facts import FileFacts, LocalCall, WrittenCall
from d9m.scan.finding import RelatedSpot
from d9m.scan.measuring import is_aside, measures
from d9m.scan.project.call_graph import last_part
from d9m.scan.project.knowledge import Generator
from d9m.scan.project.programs import Program
from d9m.scan.project.project import Project
from d9m.scan.rules.loaders import (
    batch_makers,
    loadings,
    runs_in_workers,
    seeded_by_workers,
    starts_worker,
)
from d9m.scan.rules.program_seeds import (
    listed,
    seed_call,
    seeded,
    seeded_programs,
)
from d9m.scan.rules.rule import Objection, ScanRule

_NOTHING = ("None", "")
_NO_MATTER = re.compile(
    r"(?i)(^|[._])(port|master_port|run_?id|run_?name|suffix)$|\['master_port'\]$"
)
"""Names of what is drawn to be unlike others, and reaches no result: a free port, a run's name."""

_SEED = re.compile(r"(?i)(^|[._])seed$")
"""A draw that becomes a seed: ``args.seed = randint(0, 1000)``, where somebody asks for chance."""


def _seeding(project: Project, call: WrittenCall) -> bool:
    """Whether a call takes a seed."""
    vocabulary = project.vocabulary
    return (
        call.name in vocabulary.seeds
        or call.name in vocabulary.makers
        or call.name in vocabulary.reseeds
    )


def _check_chance(project: Project) -> Iterator[Objection]:
    chance = project.vocabulary.chance
    for path, facts in project.python.items():
        spoken: set[int | tuple[int, str]] = set()
        """Lines, and seeds with their scope: one that several generators get is named once."""
        for call in facts.calls:
            named = call.positional[0] if call.positional else ""
            seed = (call.scope, named) if named.isidentifier() and named != "x" else 0
            if not _seeding(project, call) or call.place.line in spoken or seed in spoken:
                continue
            maker = call.name not in project.vocabulary.seeds
            sources = [name for name in call.made_from if name in chance]
            if sources:
                what = f"The seed is made from {sources[0]}(), which differs in every run."
            elif call.name in project.vocabulary.seeds and call.gets_nothing:
                what = f"{call.name}() without a seed takes a new one in every run."
            else:
                continue
            spared = call.fallback or call.written_down or _only_names(facts, call)
            spared = spared or (not sources and _ends_fixed_seed(facts, call))
            spared = spared or bool(_NO_MATTER.search(facts.scopes[call.scope].name))
            spared = spared or _is_spare(project, path, call.scope)
            spared = spared or not _may_be_trained(project, path, call)
            spared = spared or _draws_from_others(project, call)
            spared = spared or bool(call.receiver and not project.seeds_anything)
            spared = spared or call.in_loop or not (sources or project.seeded_generators)
            spoken.update((call.place.line, seed) if seed else (call.place.line,))
            yield Objection(
                path=path,
                place=call.place,
                severity="hint" if spared else "warning" if maker else None,
                message=what,
                way_out=_fixed_seed(project, path, call),
            )


def _is_spare(project: Project, path: str, scope: int) -> bool:
    """Whether a function is only called where something else decides, for a seed that is missing:
    ``if seed is None: seed = random_seed()``.
    """
    function = project.python[path].scopes[scope]
    name = last_part(function.name)
    if function.kind != "function" or not _MAKES_SEED.search(name):
        return False
    calls: list[LocalCall] = []
    for facts in project.python.values():
        calls += [call for call in facts.called if call.name == name and call.is_call]
    return bool(calls) and all(call.is_optional for call in calls)


_MAKES_SEED = re.compile(r"(?i)seed$")


def _may_be_trained(project: Project, path: str, call: WrittenCall) -> bool:
    """Whether a program that trains may run a call; in a project without one, anything may."""
    if measures(project.python[path], call) or _is_drawn_aside(project, path, call):
        return False
    return not project.training_paths or project.reach.by(path, call.place.line) == "training"


def _is_drawn_aside(project: Project, path: str, call: WrittenCall) -> bool:
    """Whether programs draw from what a call seeds, but only where something is measured."""
    draws = 0
    for generator in project.knowledge.generators():
        if call.name not in generator.marks.seeds:
            continue
        for program in project.programs:
            if path not in program.files:
                continue
            for other, draw in draws_of(project, program, generator):
                if not measures(program.files[other], draw):
                    return False
                draws += 1
    return draws > 0


def _draws_from_others(project: Project, call: WrittenCall) -> bool:
    """Whether code in sight draws, and never from what a call seeds. The operations and loaders of
    a framework draw from its generator as well, and an object may.
    """
    others: list[Generator] = []
    for generator in project.knowledge.generators():
        if call.name not in generator.marks.seeds:
            others.append(generator)
        elif _is_of_framework(project, generator) or _is_drawn_from(project, generator):
            return False
    is_global = len(others) < len(project.knowledge.generators())
    return is_global and any(_is_drawn_from(project, other) for other in others)


def _is_of_framework(project: Project, generator: Generator) -> bool:
    package = generator.marks.package
    return package is not None and project.kb.packages[package].kind == "framework"


def _is_drawn_from(project: Project, generator: Generator) -> bool:
    draws, others = project.vocabulary.draws_of(generator.marks)
    for facts in project.python.values():
        if any(call.name in draws and call.name not in others for call in facts.calls):
            return True
    return False


def _fixed_seed(project: Project, path: str, call: WrittenCall) -> str:
    """What to seed with instead; a worker needs a seed of its own."""
    for program in project.programs:
        if path not in program.files or not starts_worker(project, program, path, call):
            continue
        for loading in loadings(project, program):
            return f"{call.name}({loading.loader.worker_seed})"
    return "use a fixed number, or log the seed and accept it as an option"


def _only_names(facts: FileFacts, call: WrittenCall) -> bool:
    """Whether a generator of a function draws characters, as for the name of a run, or a port."""
    for draw in facts.own_draws:
        if draw.generator != call.target or draw.scope != call.scope:
            continue
        if draw.from_alphabet or _NO_MATTER.search(draw.target):
            return True
    return False


def _ends_fixed_seed(facts: FileFacts, call: WrittenCall) -> bool:
    """Whether a call without a seed ends what a fixed seed of the same function was for:
    ``seed(1)``, a shuffle, ``seed(None)``.
    """
    return any(
        other.name == call.name
        and other.scope == call.scope
        and other.place < call.place
        and not other.gets_nothing
        for other in facts.calls
    )


SEED_FROM_CHANCE = ScanRule(
    code="seed-from-chance",
    family="seeds",
    severity="error",
    title="A seed that changes with every run",
    why="""A seed from the clock, the process number or the operating system makes every run
    different, and nobody can repeat the good one. Take a fixed number, or draw one
    once, print it, and let an option set it.""",
    silent="""The seed comes from a variable whose value the function does not show. A seed that the
    function also prints, logs or stores is a hint: the run can be repeated with it. So is one for
    characters of a random name, or for a free port, one in a loop, which tries again with another,
    seed() that ends what a fixed seed of the same function was for, and a seed from which only
    pictures and measurements draw. A seed of NumPy or random is a hint where nothing in sight
    draws from it, and something draws from another. So are seed() and the seed of another object
    where nothing in the project has a fixed seed, a seed that no program runs that trains, and one
    of a function such as random_seed() that is only called where a seed is missing.""",
    bad="import random\nimport time\n\nrandom.seed(int(time.time()))\n",
    good="import random\n\nrandom.seed(1)\n",
    check=_check_chance,
)


def _check_unseeded_generator(project: Project) -> Iterator[Objection]:
    for path, facts in project.python.items():
        for call in facts.calls:
            if call.name not in project.vocabulary.makers or call.guarded:
                continue
            parameter = project.vocabulary.maker_parameters[call.name]
            if not _lacks_seed(call, parameter) or _is_replaced(project, facts, call):
                continue
            if call.unread or _only_names(facts, call) or _gets_state(facts, call):
                continue
            yield Objection(
                path=path,
                place=call.place,
                severity=None if _is_to_repeat(project, path, call) else "hint",
                message=f"{call.name}() without a seed starts differently in every run.",
                way_out=f"{call.name.rpartition('.')[2]}(seed)",
            )


def _is_to_repeat(project: Project, path: str, call: WrittenCall) -> bool:
    """Whether a generator draws for a program that trains and seeds something else; in a project
    without one, for what seeds something.
    """
    if call.fallback or measures(project.python[path], call):
        return False
    if _WORKER.search(project.python[path].scopes[call.scope].name):
        return False
    if not project.training_paths:
        return project.seeds_anything and not is_aside(path)
    for program in project.programs:
        trains = program.path in project.training_paths
        if trains and path in program.near and program.may_run(path, call):
            return bool(seeded(project, program))
    return False


_WORKER = re.compile(r"(?i)worker")
"""Functions of several processes, each of which needs another seed."""


def _lacks_seed(call: WrittenCall, parameter: str) -> bool:
    if any(text.startswith("*") for text in call.positional):
        return False
    first = call.positional[0] if call.positional else call.keywords.get(parameter, "None")
    return first in _NOTHING and len(call.positional) <= 1


def _is_replaced(project: Project, facts: FileFacts, call: WrittenCall) -> bool:
    """Whether the generator is seeded later, or another one takes its place."""
    if not call.target:
        return False
    name = call.target.removeprefix("self.")
    given = [each for each in facts.attributes if each.scope and each.name == name]
    if name != call.target and len(given) > 1:
        return True
    for other in facts.calls:
        if other is call:
            continue
        if other.name in project.vocabulary.reseeds and other.receiver == call.target:
            return True
        if other.target == call.target and other.name in project.vocabulary.makers:
            parameter = project.vocabulary.maker_parameters[other.name]
            if not _lacks_seed(other, parameter):
                return True
    return False


def _gets_state(facts: FileFacts, call: WrittenCall) -> bool:
    """Whether a function gives its generator a state before the generator draws."""
    for write in facts.states:
        if write.generator != call.target or write.scope != call.scope:
            continue
        between = range(call.place.line, write.line)
        drawn = [draw for draw in facts.own_draws if draw.generator == call.target]
        if write.line > call.place.line and not any(
            draw.scope == call.scope and draw.place.line in between for draw in drawn
        ):
            return True
    return False


UNSEEDED_GENERATOR = ScanRule(
    code="unseeded-generator",
    family="seeds",
    severity="place",
    title="A generator without a seed",
    why="""numpy.random.default_rng() and random.Random() without a seed start from the
    randomness of the operating system. The global seeds do not reach them.""",
    silent="""The generator is seeded or replaced later in the file, its function never uses it, or
    gives it a state before it draws. As the fallback for an argument that is None, in a function of
    workers, which need different seeds, in a project that seeds nothing, or in code that no program
    that trains runs from its own folder or a file that it imports directly, it is a hint.""",
    bad="import numpy as np\n\nrng = np.random.default_rng()\n",
    good="import numpy as np\n\nrng = np.random.default_rng(1)\n",
    check=_check_unseeded_generator,
)


def draws_of(
    project: Project, program: Program, generator: Generator
) -> Iterator[tuple[str, WrittenCall]]:
    """Calls near a program's entry that draw from a global generator, but for a seed."""
    seeds = project.vocabulary.seeds
    draws, others = project.vocabulary.draws_of(generator.marks)
    for path in sorted(program.near):
        calls = program.files[path].calls
        given = {call.positional[0] for call in calls if call.name in seeds and call.positional}
        for call in calls:
            if call.name not in draws or call.name in others or "generator" in call.keywords:
                continue
            if call.refilled or call.from_alphabet or (call.target and call.target in given):
                continue
            if call.to_show or _NO_MATTER.search(call.target) or _SEED.search(call.target):
                continue
            asked = program.asks(path, call.scope, call.offered)
            if asked and program.may_run(path, call):
                yield path, call


def _check_unseeded_library(project: Project) -> Iterator[Objection]:
    spoken: set[tuple[str, int, str]] = set()
    for found in seeded_programs(project):
        program = found.program
        elsewhere = seeded(project, program)
        own = found.is_meant and _trains_by_known_calls(project, program)
        own = own and not project.may_seed_elsewhere(program)
        own = own and not project.copy_around(program.path)
        for generator in project.knowledge.generators():
            if generator.title in elsewhere:
                continue
            drawn = _first_draw(project, program, generator)
            if drawn is None or (drawn.path, drawn.call.place.line, generator.title) in spoken:
                continue
            spoken.add((drawn.path, drawn.call.place.line, generator.title))
            workers = " Workers of its loader seed it; without workers it differs in every run."
            yield Objection(
                path=drawn.path,
                place=drawn.call.place,
                severity=None if own and not drawn.is_aside else "hint",
                message=(
                    f"{program.path} seeds {listed(found.seeds)} but not {generator.title}, from "
                    f"which {drawn.call.name}() draws here.{workers if drawn.in_workers else ''}"
                ),
                way_out=f"{seed_call(project, program, generator)}(seed)",
                related=(RelatedSpot(program.path, 1, "the program"),),
            )


class Draw(msgspec.Struct, frozen=True):
    """A call that draws from a global generator."""

    path: str
    call: WrittenCall
    in_workers: bool
    """Only in workers, which seed the generator by themselves."""
    is_aside: bool
    """In workers, or where something is only measured."""


def _first_draw(project: Project, program: Program, generator: Generator) -> Draw | None:
    """The first draw from a generator that nothing seeds, else the first of all."""
    seeded_there = seeded_by_workers(project, program, generator)
    batches = batch_makers(project, program) if seeded_there else frozenset[str]()
    first: Draw | None = None
    for path, call in draws_of(project, program, generator):
        facts = program.files[path]
        in_workers = seeded_there and runs_in_workers(program, facts, call.scope, batches)
        if not in_workers and not measures(facts, call):
            return Draw(path, call, False, False)
        first = first or Draw(path, call, in_workers, True)
    return first


def _trains_by_known_calls(project: Project, program: Program) -> bool:
    """Whether a package of the records trains, in code that the program calls: the loop of any
    other may seed what it likes.
    """
    near = [program.files[path] for path in sorted(program.near)]
    imported = frozenset[str]().union(*map(project.packages, near))
    own: set[str] = set()
    for marks in project.kb.code.values():
        if marks.package in imported:
            own.update(marks.trains)
    for facts in near:
        for call in facts.calls:
            if call.name in own and _is_called(program, facts, call):
                return True
    return False


def _is_called(program: Program, facts: FileFacts, call: WrittenCall) -> bool:
    """Whether something in sight calls the function around a call; of a method, whether something
    may.
    """
    scopes = facts.scopes
    if scopes[max(scopes[call.scope].parent, 0)].kind == "class":
        return program.may_run(facts.path, call)
    return program.runs(facts.path, call.scope)


UNSEEDED_LIBRARY = ScanRule(
    code="unseeded-library",
    family="seeds",
    severity="missing",
    title="A program seeds some generators and draws from another",
    why="""Python, NumPy, PyTorch and TensorFlow each have a generator of their own. A program that
    seeds PyTorch and shuffles with Python's random still shuffles differently in every run.""",
    silent="""The program trains nothing, or seeds nothing at all (no-seed), or the draw is in a
    file that the entry neither imports directly nor has in its folder, or becomes a seed itself, or
    only decides whether something is printed. Where a library that the records do not know runs the
    loop, or the program calls something out of sight whose name or argument says that it seeds,
    this is a hint: it may seed. So it is where nothing in sight calls the function that trains. It
    says nothing where no program calls what draws, where the function overwrites all that a layer
    drew, where every call leaves the seed out, or where only somebody who debugs or tests seeds. A
    draw in a method of a dataset or transform, or in a step that is handed to one, is a hint where
    the workers of the loader seed the library, and so is every draw where the only seed is one of
    a split or a sampler, in another file than the program.""",
    bad="""import random

import torch

torch.manual_seed(1)
files = ["a", "b"]
random.shuffle(files)
loss.backward()
""",
    good="""import random

import torch

torch.manual_seed(1)
random.seed(1)
files = ["a", "b"]
random.shuffle(files)
loss.backward()
""",
    check=_check_unseeded_library,
)

RULES = (SEED_FROM_CHANCE, UNSEEDED_GENERATOR, UNSEEDED_LIBRARY)
