"""Loaders: do their workers draw what they should, and who draws the order?"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from d9m.model.when import parse
from d9m.scan.facts import CodeScope, FileFacts, WrittenCall
from d9m.scan.finding import RelatedSpot, Spot
from d9m.scan.measuring import measures
from d9m.scan.project.knowledge import Generator
from d9m.scan.project.programs import Program
from d9m.scan.project.project import Project
from d9m.scan.rules.loaders import READERS, LoaderCall, loadings, surely_has_workers
from d9m.scan.rules.program_seeds import seeded
from d9m.scan.rules.rule import Objection, ScanRule
from d9m.scan.rules.seeds import draws_of


def _with_workers(project: Project, program: Program) -> list[LoaderCall]:
    """The loaders with workers that nothing prepares; none where any loader prepares its own."""
    found: list[LoaderCall] = []
    for loading in loadings(project, program):
        prepared = loading.argument(loading.loader.starts_worker)
        if not loading.is_plain or prepared not in ("", "None"):
            return []
        if loading.argument(loading.loader.workers) not in ("", "0", "1", "None"):
            found.append(loading)
    return found


def _datasets(
    project: Project, program: Program
) -> Iterator[tuple[str, FileFacts, int, CodeScope]]:
    """Classes that loaders read from, with their file and number; those of others count, too."""
    known = project.vocabulary.marks("datasets")
    names: set[str] = set()
    found: dict[tuple[str, int], CodeScope] = {}
    grows = True
    while grows:
        before = len(found)
        for path, facts in program.files.items():
            for number, scope in enumerate(facts.scopes):
                own = any(_last(base) in names for base in scope.bases)
                if scope.kind == "class" and (own or any(base in known for base in scope.bases)):
                    names.add(_last(scope.name))
                    found[path, number] = scope
        grows = len(found) > before
    for (path, number), scope in sorted(found.items()):
        yield path, program.files[path], number, scope


def _last(name: str) -> str:
    return name.rpartition(".")[2].lstrip(":")


def _check_workers(project: Project) -> Iterator[Objection]:
    asks = project.vocabulary.marks("asks_for_worker")
    seen: set[tuple[str, int]] = set()
    training = {program.path for program in project.training}
    for program in sorted(project.programs, key=lambda one: one.path not in training):
        prepared = _with_workers(project, program)
        if not prepared:
            continue
        aside = bool(training) and program.path not in training
        for path, facts, number, scope in _datasets(project, program):
            if any(call.name in asks for call in facts.calls):
                continue
            named = _last(scope.name) in project.reach.named_in_jobs
            own = [one for one in prepared if named or _may_load(program, one, path, scope)]
            loading = min(own or prepared, key=lambda one: _rank(program, one))
            for objection in (
                *_copied_generators(project, program, facts, number, loading),
                *_copied_libraries(project, program, facts, number, loading),
            ):
                if (path, objection.place.line) in seen:
                    continue
                seen.add((path, objection.place.line))
                if aside or not own or project.copy_around(program.path):
                    objection = msgspec.structs.replace(objection, severity="hint")
                yield objection


def _may_load(program: Program, loading: LoaderCall, path: str, dataset: CodeScope) -> bool:
    """Whether a loader stands in the file of a class, or in one that makes its objects."""
    name = _last(dataset.name)
    return loading.path == path or any(
        call.name == name for call in program.files[loading.path].called
    )


def _rank(program: Program, loading: LoaderCall) -> tuple[bool, bool]:
    """First the loaders to train with, and of those the ones that surely have workers."""
    aside = measures(program.files[loading.path], loading.call)
    return aside, not surely_has_workers(program, loading)


def _reads(facts: FileFacts, number: int, scope: int) -> str:
    """The method of a class that a loader calls and that a scope is; empty for another scope."""
    inner = facts.scopes[scope]
    name = _last(inner.name)
    return name if inner.parent == number and name in READERS else ""


def _copied_generators(
    project: Project, program: Program, facts: FileFacts, number: int, loading: LoaderCall
) -> Iterator[Objection]:
    """Generators that the class makes once, and that its workers draw from."""
    makers = [call for call in facts.calls if call.name in project.vocabulary.makers]
    for made in makers:
        outer = facts.scopes[made.scope]
        if outer.parent != number or _last(outer.name) != "__init__":
            continue
        if not made.target.startswith("self.") or _is_renewed(project, facts, made):
            continue
        for draw in facts.own_draws:
            if draw.generator == made.target and _reads(facts, number, draw.scope):
                yield _objection(program, facts.path, draw.place, made.target, loading, "", made)
                break


def _is_renewed(project: Project, facts: FileFacts, made: WrittenCall) -> bool:
    """Whether the generator is made or seeded in another place, too."""
    for other in facts.calls:
        if other is made:
            continue
        if other.target == made.target:
            return True
        if other.name in project.vocabulary.reseeds and other.receiver == made.target:
            return True
    return False


def _copied_libraries(
    project: Project, program: Program, facts: FileFacts, number: int, loading: LoaderCall
) -> Iterator[Objection]:
    """Draws from the generator of a library whose state every worker inherits in this release."""
    for generator in project.knowledge.generators():
        copied = generator.marks.copied_to_workers
        if copied is None:
            continue
        package = project.vocabulary.package(loading.call.name)
        stack = project.world(facts.path, frozenset((package,) if package else ()))
        if not project.questions.surely_holds(stack, parse(copied)):
            continue
        for path, call in draws_of(project, program, generator):
            if path == facts.path and _reads(facts, number, call.scope):
                if _seeds_itself(facts, generator, call):
                    break
                version = dict(stack.packages).get(package or "")
                yield _objection(
                    program,
                    path,
                    call.place,
                    generator.title,
                    loading,
                    f" ({package} {version})",
                    call,
                )
                break


def _seeds_itself(facts: FileFacts, generator: Generator, draw: WrittenCall) -> bool:
    """Whether a method seeds the generator whenever it is called, or wherever it draws."""
    for call in facts.calls:
        if call.scope == draw.scope and call.name in generator.marks.seeds:
            covers = call.place < draw.place and draw.arms[: len(call.arms)] == call.arms
            if covers or not call.fallback:
                return True
    return False


def _objection(
    program: Program,
    path: str,
    place: Spot,
    generator: str,
    loading: LoaderCall,
    where: str,
    made: WrittenCall,
) -> Objection:
    is_sure = surely_has_workers(program, loading)
    related = [RelatedSpot(loading.path, loading.call.place.line, "workers start here")]
    if made.place.line != place.line:
        related.append(RelatedSpot(path, made.place.line, "made once, here"))
    return Objection(
        path=path,
        place=place,
        severity=None if is_sure else "hint",
        confidence="sure" if is_sure else "likely",
        message=(
            f"Every worker of the loader in {loading.path}:{loading.call.place.line} starts with "
            f"the same state of {generator}{where}, so all of them draw the same numbers."
        ),
        way_out=f"seed it for each worker in {loading.loader.starts_worker}",
        related=tuple(related),
    )


WORKER_SEEDS = ScanRule(
    code="worker-seeds",
    family="seeds",
    severity="missing",
    title="Workers of a loader draw the same random numbers",
    why="""A worker process starts with a copy of the dataset and of what it holds. A generator
    made in __init__ is then the same in every worker: all of them draw the same numbers, and
    another num_workers gives other samples. Before PyTorch 1.9 that holds for numpy.random as
    well. Seed the generator in worker_init_fn, from torch.initial_seed().""",
    silent="""A loader of the program has a worker_init_fn, the file asks for the number of the
    worker, the method seeds what it draws from, or the generator is made or seeded again in another
    place. Where the text does not say that there are workers, no program that trains starts
    them, or the file of the loader makes no object of the class, this is a hint.""",
    bad="""import numpy as np
from torch.utils.data import DataLoader, Dataset


class Crops(Dataset):
    def __init__(self, images):
        self.images = images
        self.rng = np.random.default_rng(1)

    def __getitem__(self, index):
        return self.images[index][self.rng.integers(8) :]


if __name__ == "__main__":
    loader = DataLoader(Crops(images), num_workers=4)
""",
    good="""import numpy as np
from torch.utils.data import DataLoader, Dataset


class Crops(Dataset):
    def __init__(self, images):
        self.images = images

    def __getitem__(self, index):
        rng = np.random.default_rng(index)
        return self.images[index][rng.integers(8) :]


if __name__ == "__main__":
    loader = DataLoader(Crops(images), num_workers=4)
""",
    check=_check_workers,
)


def _check_shuffle(project: Project) -> Iterator[Objection]:
    seen: set[tuple[str, int]] = set()
    for program in project.programs:
        if not project.trains(program) or not seeded(project, program):
            continue
        for loading in loadings(project, program):
            place = (loading.path, loading.call.place.line)
            given = loading.argument(loading.loader.generator)
            shuffles = loading.argument(loading.loader.shuffle) == "True"
            if place in seen or not shuffles or not loading.is_plain or given:
                continue
            package = project.vocabulary.package(loading.call.name)
            stack = project.world(loading.path, frozenset((package,) if package else ()))
            if not project.questions.surely_holds(stack, loading.loader.condition):
                continue
            seen.add(place)
            yield Objection(
                path=loading.path,
                place=loading.call.place,
                message=(
                    "The global generator decides the order of this loader, so any draw before it, "
                    "such as the weights of one more layer, changes the order."
                ),
                way_out=loading.loader.own_generator,
                confidence="likely",
            )


SHUFFLE_WITHOUT_GENERATOR = ScanRule(
    code="shuffle-without-generator",
    family="seeds",
    severity="missing",
    title="A loader shuffles with the global generator",
    why="""DataLoader(shuffle=True) draws the order from PyTorch's global generator. Two runs of the
    same program agree. Another layer in the model, or another draw before the first epoch,
    changes the order of the samples, and no two versions of the program compare. A generator of
    its own keeps the order.""",
    silent="""The loader gets a generator, the program seeds nothing, or the release has no such
    argument.""",
    bad="""import torch
from torch.utils.data import DataLoader

torch.manual_seed(1)
loader = DataLoader(dataset, shuffle=True)
for batch in loader:
    model(batch).backward()
""",
    good="""import torch
from torch.utils.data import DataLoader

torch.manual_seed(1)
order = torch.Generator().manual_seed(1)
loader = DataLoader(dataset, shuffle=True, generator=order)
for batch in loader:
    model(batch).backward()
""",
    check=_check_shuffle,
)

RULES = (WORKER_SEEDS, SHUFFLE_WITHOUT_GENERATOR)
