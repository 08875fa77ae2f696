"""Seeds: is every generator seeded in time, and from something fixed?"""

from __future__ import annotations

from collections.abc import Iterator

from d9m.scan.facts import FileFacts, WrittenCall
from d9m.scan.finding import RelatedSpot
from d9m.scan.project.effects import Effect
from d9m.scan.project.knowledge import Generator
from d9m.scan.project.programs import Program
from d9m.scan.project.project import Project
from d9m.scan.reading.expressions import ANYTHING
from d9m.scan.rules.rule import Objection, ScanRule

# --- what a program seeds and draws from -----------------------------------------------


def seedings(
    project: Project, program: Program
) -> Iterator[tuple[Generator, str, WrittenCall | Effect]]:
    """Yield the calls and helpers of a program that seed a global generator, each with its file.
    One without a seed takes a new one in every run, and seeds nothing.
    """
    for generator in project.knowledge.generators:
        seeds = generator.marks.seeds
        for path, call in program.calls(seeds):
            if not call.gets_nothing:
                yield generator, path, call
        for effect in program.effects:
            by_helper = effect.setting in generator.settings and effect.helper is not None
            if by_helper and (effect.call is None or effect.call.name not in seeds):
                yield generator, effect.path, effect


def draws(project: Project, program: Program) -> Iterator[tuple[Generator, str, WrittenCall]]:
    """Yield the calls of a program that draw from a global generator, each with its file."""
    for generator in project.knowledge.generators:
        names, others = project.vocabulary.draws_of(generator.marks)
        for path, facts in program.files.items():
            for call in facts.calls:
                drawn = call.name in names and call.name not in others
                if drawn and "generator" not in call.keywords:
                    yield generator, path, call


def seed_call(project: Project, program: Program, generator: Generator) -> str:
    """Return the first call that seeds a generator in the release that a program is for."""
    world = project.world_of(program)
    for name in generator.marks.seeds:
        setting = project.kb.settings.get(project.vocabulary.statements.get(name, ""))
        if setting is None or project.questions.holds(world, setting.condition):
            return name
    return generator.marks.seeds[0]


# --- seed-from-chance ------------------------------------------------------------------


def _by_chance(project: Project) -> Iterator[tuple[str, WrittenCall, str, bool]]:
    """Yield seeds that differ in every run, each with a description, and whether it is certain: the
    seed is no fallback, and is neither shown nor kept.
    """
    vocabulary = project.vocabulary
    chance = vocabulary.marks("chance")
    for path, facts in project.python.items():
        seen: set[tuple[int, str]] = set()
        for call in facts.calls:
            is_global = call.name in vocabulary.marks("seeds")
            own = call.name in vocabulary.marks("makers") or call.name in vocabulary.marks(
                "reseeds"
            )
            if not (is_global or own):
                continue
            sources = [name for name in call.made_from if name in chance]
            if sources:
                what = f"The seed is made from {sources[0]}(), which differs in every run."
            elif call.target or any(call.name in other.made_from for other in facts.calls):
                continue  # its result is another call's seed, or kept
            elif is_global and call.gets_nothing and not _was_seeded(facts, call):
                what = f"{call.name}() without a seed takes a new one in every run."
            else:
                continue
            named = call.positional[0] if call.positional else ""
            is_named = named.isidentifier() and named != ANYTHING
            key = (call.scope, named) if is_named else (-1, str(call.place))
            if key not in seen:
                seen.add(key)
                surely = is_global and not (call.fallback or call.written_down or call.in_loop)
                yield path, call, what, surely


def _was_seeded(facts: FileFacts, call: WrittenCall) -> bool:
    """Whether a call ends what a fixed seed of the same function was for: ``seed(1)``, a shuffle,
    ``seed(None)``.
    """
    return any(
        (other.name, other.scope) == (call.name, call.scope)
        and other.place < call.place
        and not other.gets_nothing
        for other in facts.calls
    )


def _check_chance(project: Project) -> Iterator[Objection]:
    yield from _objections(project, True)


def _check_own_chance(project: Project) -> Iterator[Objection]:
    yield from _objections(project, False)


def _objections(project: Project, surely: bool) -> Iterator[Objection]:
    for path, call, what, is_sure in _by_chance(project):
        if is_sure is surely:
            workaround = "use a fixed number, or log the seed and accept it as an option"
            yield Objection(path=path, place=call.place, message=what, workaround=workaround)


SEED_FROM_CHANCE = ScanRule(
    code="seed-from-chance",
    family="seeds",
    severity="error",
    title="A seed that changes with every run",
    why="""A seed from the clock, the process number or the operating system makes every run
    different, and the good one cannot be repeated. Take a fixed number, or draw one once, print
    it, and let an option set it.""",
    silent="""The seed comes from a variable whose value the function does not show. A fallback for
    a seed that is missing, a seed that the function also shows or stores, and the seed of an
    object are places (chance-fallback).""",
    bad="import random\nimport time\n\nrandom.seed(int(time.time()))\n",
    good="import random\n\nrandom.seed(1)\n",
    check=_check_chance,
)

CHANCE_FALLBACK = ScanRule(
    code="chance-fallback",
    family="seeds",
    severity="place",
    title="A clock, a process number or the operating system can decide a seed",
    why="""Where no seed is given, this one is made by chance. That is meant in many programs; for
    two equal runs, give the seed.""",
    bad="import random\nimport time\n\nif seed is None:\n    random.seed(int(time.time()))\n",
    good="import random\n\nrandom.seed(1)\n",
    check=_check_own_chance,
)


# --- unseeded-generator, unseeded-environment ------------------------------------------


def _check_unseeded_generator(project: Project) -> Iterator[Objection]:
    makers = project.vocabulary.marks("makers")
    for path, facts in project.python.items():
        for call in facts.calls:
            lacks = call.name in makers and _lacks_seed(project, call)
            if lacks and not _is_seeded_later(project, facts, call):
                yield Objection(
                    path=path,
                    place=call.place,
                    message=f"{call.name}() without a seed starts differently in every run.",
                    workaround=f"{call.name.rpartition('.')[2]}(seed)",
                )


def _lacks_seed(project: Project, call: WrittenCall) -> bool:
    parameter = project.vocabulary.maker_parameters[call.name]
    given = call.positional[0] if call.positional else call.keywords.get(parameter, "None")
    return given == "None" and len(call.positional) <= 1


def _is_seeded_later(project: Project, facts: FileFacts, call: WrittenCall) -> bool:
    """Whether the file seeds a generator later, or gives its name another one."""
    reseeds, makers = (project.vocabulary.marks(name) for name in ("reseeds", "makers"))
    return call.target != "" and any(
        (other.name in reseeds and other.receiver == call.target)
        or (
            other.name in makers and other.target == call.target and not _lacks_seed(project, other)
        )
        for other in facts.calls
    )


UNSEEDED_GENERATOR = ScanRule(
    code="unseeded-generator",
    family="seeds",
    severity="place",
    title="A generator without a seed",
    why="""numpy.random.default_rng() and random.Random() without a seed start from the
    randomness of the operating system. The global seeds do not reach them.""",
    silent="The file seeds the generator later, or gives its name another one.",
    bad="import numpy as np\n\nrng = np.random.default_rng()\n",
    good="import numpy as np\n\nrng = np.random.default_rng(1)\n",
    check=_check_unseeded_generator,
)


def _check_environments(project: Project) -> Iterator[Objection]:
    makes, seeds = (project.vocabulary.marks(name) for name in ("environments", "reseeds"))
    settings = {
        name: project.kb.settings[seeded_by[0]]
        for marks in project.kb.code.values()
        for name, seeded_by in marks.environments.items()
    }
    for path, facts in project.python.items():
        if any(call.name in seeds or "seed" in call.keywords for call in facts.calls):
            continue
        for call in (call for call in facts.calls if call.name in makes):
            statement = settings[call.name].statement or ""
            what = f"{call.name}() makes an environment with a generator of its own, and this file"
            yield Objection(
                path=path,
                place=call.place,
                message=f"{what} seeds none.",
                workaround=statement.replace("{value}", "seed") or "give it a seed",
            )


UNSEEDED_ENVIRONMENT = ScanRule(
    code="unseeded-environment",
    family="seeds",
    severity="place",
    title="An environment that its file does not seed",
    why="""An environment of Gym draws its first states and random events from a generator of its
    own. Seeds of Python, NumPy and the framework do not reach it. Seed each environment at its
    first reset.""",
    silent="A call of the same file gets a seed=, or is a method seed().",
    bad='import gymnasium as gym\n\nenv = gym.make("CartPole-v1")\nstate, _ = env.reset()\n',
    good='import gymnasium as gym\n\nenv = gym.make("CartPole-v1")\nstate, _ = env.reset(seed=1)\n',
    check=_check_environments,
)


# --- seed-after-use --------------------------------------------------------------------


def _check_late_seed(project: Project) -> Iterator[Objection]:
    seen: set[tuple[str, int]] = set()
    for program in project.programs:
        found = list(seedings(project, program))
        for generator, path, seed in found:
            others = [one for one in found if one[0] is generator and one[2] is not seed]
            in_loop = isinstance(seed, WrittenCall) and seed.in_loop
            if others or seed.arms or in_loop or (path, seed.place.line) in seen:
                continue
            early = _first_draw(project, program, generator, path, seed)
            if early is not None:
                seen.add((path, seed.place.line))
                line = project.line(path, early.place.line)
                yield Objection(
                    path=path,
                    place=seed.place,
                    message=(
                        f"{early.receiver or early.name}() in {line} draws from "
                        f"{generator.title} before this seed is set."
                    ),
                    workaround=f"move it above {line}",
                    related=(RelatedSpot(path, early.place.line, "draws here"),),
                )


def _first_draw(
    project: Project,
    program: Program,
    generator: Generator,
    path: str,
    seed: WrittenCall | Effect,
) -> WrittenCall | None:
    """The first draw of the same straight code above a seed, but for one that makes the seed."""
    given = seed if isinstance(seed, WrittenCall) else seed.call
    made_from = (*given.made_from, *given.positional) if given is not None else ()
    for other, where_drawn, call in draws(project, program):
        own = other is generator and where_drawn == path and not call.guarded
        if own and _is_above(call, seed) and not {call.name, call.target} & {*made_from}:
            return call
    facts = program.files[path]
    for call in facts.calls:
        if call.name in generator.marks.models and _is_above(call, seed):
            again = [one for one in facts.calls if one.receiver == call.receiver]
            if again == [call] and _draws_when_made(project, facts, call.receiver):
                return call
    return None


def _is_above(call: WrittenCall, seed: WrittenCall | Effect) -> bool:
    return call.scope == seed.scope and call.place.line < seed.place.line and not call.arms


def _draws_when_made(project: Project, facts: FileFacts, name: str) -> bool:
    """Whether the ``__init__`` of a class makes layers itself."""
    layers = project.vocabulary.marks("layers")
    inits = (facts.scopes[call.scope].name for call in facts.calls if call.name in layers)
    return f"{name}.__init__" in inits


SEED_AFTER_USE = ScanRule(
    code="seed-after-use",
    family="seeds",
    severity="error",
    title="A seed is set after the first draw",
    why="""A seed fixes what is drawn after it. Weights and random tensors that are made above it
    differ in every run. Set every seed first.""",
    silent="""Another line of the program seeds the same generator, the draw is under a condition,
    or the seed is in a loop.""",
    bad="""import torch

model = torch.nn.Linear(4, 4)
torch.manual_seed(1)
model(x).sum().backward()
""",
    good="""import torch

torch.manual_seed(1)
model = torch.nn.Linear(4, 4)
model(x).sum().backward()
""",
    check=_check_late_seed,
)

RULES = (
    SEED_FROM_CHANCE,
    SEED_AFTER_USE,
    CHANCE_FALLBACK,
    UNSEEDED_GENERATOR,
    UNSEEDED_ENVIRONMENT,
)
