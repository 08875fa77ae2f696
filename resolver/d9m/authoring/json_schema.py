"""JSON Schema of everything that d9m prints as JSON, made from the types (`schema/3.json`)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from d9m.about import SCHEMA_VERSION
from d9m.authoring.audit import Audit
from d9m.authoring.fresh import Freshness
from d9m.authoring.lint.report import LintReport
from d9m.authoring.mutation.mutate import MutationReport
from d9m.authoring.stats import Stats
from d9m.authoring.struct_types import docstrings, fields_of, held
from d9m.browse.changes import ReleaseChanges
from d9m.browse.explain import Explained
from d9m.browse.listing import AllLists, RecordList
from d9m.browse.show import Showing, Shown, UnrecordedOp
from d9m.check.plan.catalogue import ProbeList
from d9m.check.result import Report
from d9m.check.selftest import Selftest
from d9m.kb.kinds import KINDS
from d9m.kb.store import OpEntry
from d9m.lock.verdict import LockVerdict
from d9m.model.advice import Advice
from d9m.model.runs import DigestFile, Run
from d9m.run.report import RunReport
from d9m.scan.result import ScanReport
from d9m.trace.findings import Findings

ID = f"https://d9m.github.io/d9m/schema/{SCHEMA_VERSION}.json"


class JsonOutput(msgspec.Struct, frozen=True):
    """One JSON output of a command."""

    name: str
    """Key in `$defs`."""
    command: str
    type: type[msgspec.Struct]


OUTPUTS = (
    JsonOutput("advise", "d9m advise", Advice),
    JsonOutput("advise-diff", "d9m advise --diff A..B", ReleaseChanges),
    JsonOutput("check", "d9m check", Report),
    JsonOutput("check-list", "d9m check --list", ProbeList),
    JsonOutput("check-selftest", "d9m check --selftest", Selftest),
    JsonOutput("check-evidence", "d9m check --evidence FILE", Run),
    JsonOutput("check-digests", "d9m check --digests FILE", DigestFile),
    JsonOutput("diff", "d9m diff", Findings),
    JsonOutput("hunt", "d9m hunt", Findings),
    JsonOutput("run", "d9m run", RunReport),
    JsonOutput("verify", "d9m verify", LockVerdict),
    JsonOutput("explain", "d9m explain", Explained),
    JsonOutput("show", "d9m show", Showing),
    JsonOutput("list", "d9m list KIND", RecordList),
    JsonOutput("lists", "d9m list", AllLists),
    JsonOutput("scan", "d9m scan", ScanReport),
    JsonOutput("kb-lint", "d9m kb lint", LintReport),
    JsonOutput("kb-audit", "d9m kb audit", Audit),
    JsonOutput("kb-fresh", "d9m kb fresh", Freshness),
    JsonOutput("kb-stats", "d9m kb stats", Stats),
    JsonOutput("kb-mutate", "d9m kb mutate", MutationReport),
)
"""Every JSON output. A new one needs a line here, then `d9m kb schema -o schema/3.json`."""

RECORDS = (*(kind.type for kind in KINDS if kind.table), OpEntry, UnrecordedOp)
"""Types that `record` of `d9m show` may have."""


def schema() -> dict[str, Any]:
    """Return the schema: a definition for each output and for each type that occurs in one."""
    roots = tuple(dict.fromkeys(each.type for each in OUTPUTS))
    every = (*roots, *RECORDS)
    _refs, made = msgspec.json.schema_components(every, ref_template="#/$defs/{name}")
    types = {type_.__name__: type_ for type_ in held(every)}
    outputs = {each.name: _output(each) for each in OUTPUTS}
    parts = {name: _described(made[name], types[name]) for name in sorted(made)}
    parts[Shown.__name__]["properties"]["record"] = {
        "description": "The record, or the op, as its own type.",
        "anyOf": [_reference(type_) for type_ in RECORDS],
    }
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": ID,
        "title": f"JSON of d9m, version {SCHEMA_VERSION}",
        "description": (
            "What the commands of d9m print with --format json, and what they write to files. "
            "Definitions in lower case are the outputs, by command. Keys may be added; renaming "
            "or dropping one needs another schema_version."
        ),
        "anyOf": [_reference(root) for root in roots],
        "$defs": {**outputs, **parts},
    }


def encoded() -> bytes:
    """Return the schema as the file holds it."""
    return msgspec.json.format(msgspec.json.encode(schema()), indent=2) + b"\n"


def _output(output: JsonOutput) -> dict[str, Any]:
    return {"description": output.command, **_reference(output.type)}


def _reference(type_: type) -> dict[str, str]:
    return {"$ref": f"#/$defs/{type_.__name__}"}


def _described(made: Mapping[str, Any], type_: type) -> dict[str, Any]:
    """Return the definition of a struct with the texts of its source, open to further keys."""
    found = {key: value for key, value in made.items() if key != "additionalProperties"}
    if "description" in found:
        found["description"] = _prose(found["description"])
    texts = docstrings(type_)
    properties: dict[str, Any] = {}
    for field in fields_of(type_):
        text = texts.get(field.name)
        value = made["properties"][field.encode_name]
        if field.name == "schema_version":
            value = {"const": SCHEMA_VERSION}
        properties[field.encode_name] = {"description": _prose(text), **value} if text else value
    return {**found, "properties": properties}


def _prose(text: str) -> str:
    return " ".join(text.replace("``", "`").split())
