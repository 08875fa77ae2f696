"""`d9m kb`: for people who write records."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from d9m.cli import output
from d9m.errors import DataError, UsageError, quote
from d9m.exit_codes import CommandResult, exit_code
from d9m.kb import locate

Format = Annotated[str, output.formats("text", "json")]


def register(app: typer.Typer) -> None:
    group = typer.Typer(
        help="For people who write records.", no_args_is_help=True, rich_markup_mode=None
    )
    for command, does in (
        (new, "Write the template of a record."),
        (
            lint,
            "Find every fault of the records.",
        ),
        (audit, "Compare the records with facts extracted from wheels, both ways."),
        (collect, "Read facts from a wheel, or releases from an index."),
        (fresh, "List releases on the package index that the records do not have."),
        (
            build,
            "Compile the records into one file, for D9M_KB=FILE.",
        ),
        (stats, "How much is known, and what is not."),
        (mutate, "Break records one by one: does a case notice?"),
        (schema, "Print the JSON Schema of everything that d9m prints as JSON."),
    ):
        group.command(command.__name__, help=does)(command)
    app.add_typer(group, name="kb")


def new(
    kind: Annotated[str, typer.Argument(help="source, solution, setting, package, …")],
    id_: Annotated[
        str, typer.Argument(metavar="ID", help="Its path below the folder of its kind.")
    ],
) -> None:
    from d9m.authoring import template

    path = template.new(locate.folder(), kind, id_)
    typer.echo(f"{path}\nFill it in; d9m kb lint names what is missing.")


def lint(
    folder: Annotated[
        str | None, typer.Argument(help="A kb/ folder; default: the checkout's.")
    ] = None,
    explain: Annotated[
        str | None, typer.Option("--explain", metavar="RULE", help="Why a rule exists.")
    ] = None,
    format_: Format = "text",
    out: output.Out = None,
) -> None:
    from d9m.authoring import lint as linting

    output.one_of("--format", format_, ("text", "json"))
    if explain is not None:
        rule = linting.find(explain)
        output.write(f"{rule.code}: {rule.title}\n\n{rule.why}\n", out)
        return
    faults = linting.lint(_folder(folder))
    output.write(
        (linting.as_json(faults) if format_ == "json" else linting.as_text(faults)) + "\n", out
    )
    raise typer.Exit(exit_code(CommandResult(has_findings=bool(faults))))


def audit(
    folder: Annotated[str | None, typer.Argument(help="A kb/ folder.")] = None,
    format_: Format = "text",
) -> None:
    from d9m.authoring.audit import audit
    from d9m.render import as_json

    output.one_of("--format", format_, ("text", "json"))
    found = audit(_folder(folder))
    output.write(as_json.render(found) if format_ == "json" else found.text(), None)
    raise typer.Exit(found.exit_code())


def collect(
    wheel: Annotated[
        str,
        typer.Argument(metavar="WHEEL", help="A .whl file; torch, tensorflow, …; or releases."),
    ],
    version: Annotated[
        str | None,
        typer.Argument(help="Release whose wheel pip fetches; after releases: a package."),
    ] = None,
    platform: Annotated[
        str, typer.Option(help="linux or macos: which wheel of the release.")
    ] = "linux",
    catalogue: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Catalogue of public names to add the release to."),
    ] = None,
    tensorflow: Annotated[
        str | None,
        typer.Option(metavar="RELEASE", help="For a wheel of keras: its TensorFlow release."),
    ] = None,
    signatures: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="Read signatures instead, and add the release to this file (also: jax).",
        ),
    ] = None,
    compiled: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="Read what torch.compile makes of each op instead, and add the release to this "
            "file.",
        ),
    ] = None,
    dispatch: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="WHEEL is what a script in tests/dispatch/ wrote: add the release to this file.",
        ),
    ] = None,
    kernels: Annotated[
        str | None,
        typer.Option(
            metavar="PACKAGE",
            help="Read the CUDA sources in an archive of VERSION instead, and list what adds with "
            "atomics.",
        ),
    ] = None,
    tags: Annotated[
        str | None,
        typer.Option(
            metavar="CLONE", help="Of releases: read the tags of a clone, not the package index."
        ),
    ] = None,
    out: output.Out = None,
) -> None:
    import tempfile

    from d9m.authoring import collect as collecting
    from d9m.authoring.collect import download
    from d9m.authoring.collect.dispatch import add_trace
    from d9m.authoring.collect.inductor import add_lowerings
    from d9m.authoring.collect.kernels import kernel_table
    from d9m.authoring.collect.signatures import READERS, add_signatures

    if kernels is not None:
        if version is None:
            raise UsageError("--kernels needs an archive and its version")
        output.write(kernel_table(Path(wheel), kernels, version).encoded().decode(), out)
        return
    if dispatch is not None:
        output.write(add_trace(Path(dispatch), Path(wheel)).encoded().decode(), dispatch)
        return
    output.one_of("--platform", platform, tuple(download.PLATFORMS))
    if wheel == "releases":
        _collect_releases(version, tags)
        return
    with tempfile.TemporaryDirectory() as folder:
        path = Path(wheel)
        if version is not None:
            known = (
                READERS if signatures is not None else {**collecting.FRAMEWORKS, **collecting.PARTS}
            )
            output.one_of("WHEEL", wheel, tuple(known))
            path = download.download(wheel, version, platform, Path(folder))
        if signatures is not None:
            added = add_signatures(Path(signatures), path, tensorflow)
            output.write(added.encoded().decode(), signatures)
            return
        if compiled is not None:
            lowered = add_lowerings(Path(compiled), path)
            output.write(lowered.encoded().decode(), compiled)
            return
        found = collecting.collect(path)
    if found.part != (tensorflow is not None) or (found.part and catalogue is None):
        raise UsageError(
            "a wheel of keras needs --tensorflow RELEASE and --catalogue FILE; "
            "--tensorflow is for keras alone"
        )
    if catalogue is not None and found.names:
        output.write(
            collecting.catalogued(Path(catalogue), found, tensorflow).encoded().decode(), catalogue
        )
    if not found.part:
        output.write(found.facts.encoded().decode(), out)


def _collect_releases(name: str | None, clone: str | None) -> None:
    from d9m.authoring.collect import releases

    if name is None:
        raise UsageError("releases of which package?", tip="see: d9m list packages")
    kb = locate.from_yaml(locate.folder())
    package = kb.package_named(name)
    path = locate.folder() / "evidence" / "releases" / f"{package}.json"
    if clone is None:
        added = releases.from_index(path, kb.packages[package].distributions[:1])
    else:
        added = releases.from_tags(path, Path(clone))
    output.write(added.encoded().decode(), str(path))


def fresh(
    packages: Annotated[
        list[str] | None, typer.Argument(metavar="[PACKAGE]...", help="Default: every package.")
    ] = None,
    format_: Format = "text",
    out: output.Out = None,
) -> None:
    from d9m.authoring.fresh import fresh
    from d9m.render import as_json

    output.one_of("--format", format_, ("text", "json"))
    kb = locate.open_knowledge_base()
    found = fresh(kb, [kb.package_named(name) for name in packages or kb.packages])
    output.write(as_json.render(found) if format_ == "json" else found.text(), out)
    raise typer.Exit(found.exit_code())


def build(
    out: Annotated[
        str, typer.Option("--output", "-o", metavar="FILE", help="Compiled file to write.")
    ],
) -> None:
    from d9m.kb import compiled

    output.writable(out)
    kb = locate.from_yaml(locate.folder())
    try:
        size = compiled.write(kb, Path(out))
    except OSError as error:
        raise UsageError(f"cannot write {quote(out)}: {error.strerror}") from None
    typer.echo(
        f"{out}: {size} bytes, {sum(kb.meta.counts.values())} records, edition {kb.meta.date}"
    )


def stats(
    format_: Format = "text",
) -> None:
    from d9m.authoring.public_share import public_shares
    from d9m.authoring.stats import stats
    from d9m.check.plan import catalogue
    from d9m.render import as_json

    output.one_of("--format", format_, ("text", "json"))
    kb = locate.open_knowledge_base()
    root = locate.folder_or_none()
    shares = public_shares(kb, root) if root else []
    found = stats(kb, catalogue.exercised(), shares)
    output.write(as_json.render(found) if format_ == "json" else found.text(), None)


def mutate(
    records: Annotated[
        list[str] | None, typer.Argument(help="Records whose path starts so: sources/nccl.")
    ] = None,
    cases: Annotated[str, typer.Option(help="Folder of golden cases.")] = "tests/cases",
    sample: Annotated[
        int | None, typer.Option(min=1, help="Only so many mutants, chosen by --seed.")
    ] = None,
    seed: Annotated[int, typer.Option()] = 0,
    format_: Format = "text",
) -> None:
    from d9m.authoring.mutation.mutate import run
    from d9m.render import as_json

    output.one_of("--format", format_, ("text", "json"))
    if not Path(cases).is_dir():
        raise DataError(f"{quote(cases)} is not a folder of golden cases")
    report = run(locate.folder(), Path(cases), sample, seed, records or ())
    output.write(as_json.render(report) if format_ == "json" else report.text(), None)
    raise typer.Exit(report.exit_code())


def schema(out: output.Out = None) -> None:
    from d9m.authoring import json_schema

    output.write(json_schema.encoded().decode(), out)


def _folder(given: str | None) -> Path:
    if given is None:
        return locate.folder()
    if not Path(given).is_dir():
        raise DataError(f"{quote(given)} is not a folder")
    return Path(given)
