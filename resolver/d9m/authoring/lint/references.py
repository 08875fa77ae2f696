"""Names in one record that stand for another record."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

import msgspec

from d9m.authoring.lint.conditions import did_you_mean
from d9m.authoring.lint.index import RecordIndex
from d9m.authoring.lint.rule import Finding, rule
from d9m.errors import UsageError
from d9m.kb.validate import Path
from d9m.kb.yaml_files import Loaded
from d9m.model import op_syntax, records
from d9m.model.runs import Observation


class Link(msgspec.Struct, frozen=True):
    """One name that has to lead somewhere."""

    at: Loaded
    path: Path
    what: str
    kind: str
    """Folder of the record that it stands for."""
    name: str
    known: Collection[str]


@rule(
    "dangling-reference",
    "Name that leads nowhere",
    """Records name each other by label (solutions), by name (settings, ops, packages) or by id (the
    rest). A name that no record has is a typing mistake, a record that was never written, or one
    that was renamed. The names are case sensitive.""",
)
def dangling_reference(index: RecordIndex) -> Iterator[Finding]:
    for link in _links(index):
        if link.name not in link.known and all(map(index.complete, _folders(link.kind))):
            # Numbers are not alike.
            near = "" if link.kind in CITED else did_you_mean(link.name, list(link.known))
            folders = " or ".join(f"{folder}/" for folder in _folders(link.kind))
            tip = near or f"add the record under {folders}"
            yield Finding(link.at, link.path, f"no such {link.what}", link.name, tip=tip)


def _folders(kind: str) -> tuple[str, ...]:
    """Folders in which a record of this kind may be: pull requests and issues share their
    numbers.
    """
    return CITED if kind in CITED else (kind,)


def _links(index: RecordIndex) -> Iterator[Link]:
    yield from _solution_links(index)
    yield from _setting_links(index)
    yield from _package_links(index)
    yield from _op_links(index)
    yield from _record_links(index)


def _solution_links(index: RecordIndex) -> Iterator[Link]:
    for type_ in (records.TimelineStep, records.Unless):
        for at, path, part in index.parts(type_):
            for place, combined in enumerate(part.by):
                for label in records.together(combined):
                    yield Link(
                        at, (*path, "by", place), "solution", "solutions", label, index.labels
                    )


def _setting_links(index: RecordIndex) -> Iterator[Link]:
    for at, path, turn in index.parts(records.SettingChange):
        for word, name in (("set", turn.set), ("unset", turn.unset)):
            if name is not None:
                yield Link(at, (*path, word), "setting", "settings", name, index.settings)
    for at, path, setting in index.parts(records.Setting):
        if setting.instead is not None:
            yield Link(
                at, (*path, "instead"), "setting", "settings", setting.instead, index.settings
            )
        for name in setting.needs:
            yield Link(at, (*path, "needs", name), "setting", "settings", name, index.settings)


def _package_links(index: RecordIndex) -> Iterator[Link]:
    def link(at: Loaded, path: Path, name: str) -> Link:
        return Link(at, path, "package", "versions", name, index.packages)

    for at, path, file in index.parts(records.OpRecords):
        yield link(at, (*path, "package"), file.package)
        for prefix, name in file.add_ons.items():
            yield link(at, (*path, "add_ons", prefix), name)
    for at, path, package in index.parts(records.Package):
        if package.stock is not None:
            yield link(at, (*path, "stock"), package.stock)
        if package.framework is not None:
            yield link(at, (*path, "framework"), package.framework)
        for framework in package.runs_on:
            yield link(at, (*path, "runs_on"), framework)
        for device, parts in package.builds.items():
            for part in parts:
                yield link(at, (*path, "builds", device), part)
    for at, path, release in index.parts(records.Release):
        for name in release.with_:
            yield link(at, (*path, "with", name), name)
    for at, path, source in index.parts(records.Source):
        for name in source.timeline:
            yield link(at, (*path, "timeline", name), name)


def _op_links(index: RecordIndex) -> Iterator[Link]:
    for at, path, source in index.parts(records.Source):
        home = index.home(at)
        ops = index.catalogues[home].ops if home in index.catalogues else {}
        for place, name in _op_names(source.ops if home else []):
            yield Link(
                at, (*path, "ops", place), "catalogued op of the home package", "ops", name, ops
            )
    for at, path, file in index.parts(records.OpRecords):
        catalogue = index.catalogues[file.package]
        known = {**catalogue.ops, **catalogue.reach}
        for name, targets in file.reach.items():
            items = [each if isinstance(each, str) else each.op for each in targets]
            for place, target in _op_names(items):
                yield Link(
                    at,
                    (*path, "reach", name, place),
                    "op or name of this package",
                    "ops",
                    target,
                    known,
                )
        for place, name in _op_names(file.stands_for):
            here = (*path, "stands_for", place)
            yield Link(at, here, "op or name of this package", "ops", name, known)
        for field, named in (("defaults", file.defaults), ("facts", file.facts)):
            for name, facts in named.items():
                here = (*path, field, name)
                yield Link(at, here, "op or name of this package", "ops", name, known)
                for fact in facts:
                    yield Link(at, (*here, fact), "fact", "facts", fact, index.facts)
        for name in file.judged:
            here = (*path, "judged", name)
            yield Link(at, here, "op of this package", "ops", name, catalogue.ops)
        for name, id_ in file.see.items():
            here = (*path, "see", name)
            yield Link(at, here, "op of this package", "ops", name, catalogue.ops)
            yield Link(at, here, "ingredient", "ingredients", id_, index.kinds["ingredients"])
        for name, packages in file.parts.items():
            here = (*path, "parts", name)
            yield Link(at, here, "op of this package", "ops", name, catalogue.ops)
            for place, package in enumerate(packages):
                yield Link(at, (*here, place), "package", "versions", package, index.packages)
    everywhere: set[str] = set()
    for catalogue in index.catalogues.values():
        everywhere.update(catalogue.ops, catalogue.reach)
    for type_ in (records.ErrorRecord, records.Symptom):
        for at, path, part in index.parts(type_):
            for place, name in _op_names(part.ops):
                yield Link(at, (*path, "ops", place), "op or name", "ops", name, everywhere)
    for at, path, symptom in index.parts(records.Symptom):
        for place, package in enumerate(symptom.packages):
            here = (*path, "packages", place)
            yield Link(at, here, "package", "versions", package, index.packages)


def _op_names(items: Iterable[str]) -> Iterator[tuple[int, str]]:
    """Names of those items that can be read; `op-item` tells of the others."""
    for place, item in enumerate(items):
        try:
            yield place, op_syntax.parse(item).name
        except UsageError:
            continue


def _record_links(index: RecordIndex) -> Iterator[Link]:
    def link(at: Loaded, path: Path, what: str, kind: str, id_: str) -> Link:
        return Link(at, path, what, kind, id_, index.kinds.get(kind, {}))

    for type_ in (records.TimelineStep, records.Unless):
        for at, path, part in index.parts(type_):
            if part.error is not None:
                yield link(at, (*path, "error"), "error record", "errors", part.error)
    for type_ in (records.ErrorRecord, records.Symptom):
        for at, path, part in index.parts(type_):
            for place, id_ in enumerate(part.sources):
                yield link(at, (*path, "sources", place), "source", "sources", id_)
    known = index.kinds["sources"]
    for at, path, observation in index.parts(Observation):
        if observation.source is not None:
            yield Link(at, (*path, "source"), "source", "sources", observation.source, known)
    for at, path, evidence in index.parts(records.Evidence):
        if evidence.document is not None:
            yield link(at, (*path, "document"), "document", "documents", evidence.document)
        if evidence.run is not None:
            yield link(at, (*path, "run"), "measured run", "runs", evidence.run)
    yield from _citations(index)


CITED = ("pull_requests", "issues")
CITING: dict[str, type[records.Source | records.Solution | records.Ingredient]] = {
    "sources": records.Source,
    "solutions": records.Solution,
    "ingredients": records.Ingredient,
}


def _citations(index: RecordIndex) -> Iterator[Link]:
    numbers: set[str] = set()
    for kind in CITED:
        numbers.update(map(cited_as, index.kinds[kind].values()))
    for type_ in CITING.values():
        for at, path, part in index.parts(type_):
            for place, reference in enumerate(part.references):
                here = (*path, "references", place)
                yield Link(at, here, "pull request or issue", "pull_requests", reference, numbers)
    names = {f"{kind}/{id_}" for kind in CITING for id_ in index.kinds[kind]}
    for at, path, correction in index.parts(records.Correction):
        for place, name in enumerate(correction.records):
            folder = name.partition("/")[0]
            here = (*path, "records", place)
            yield Link(at, here, "source, solution or ingredient", folder, name, names)


def cited_as(at: Loaded) -> str:
    """How records cite a pull request or an issue: ``tensorflow#31465``."""
    return at.id.replace("/", "#")


RULES = (dangling_reference,)
