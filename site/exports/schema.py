"""JSON Schema of every file of the API, and its OpenAPI description: both from the types. Beside
them a copy of the schema of what commands print.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from d9m.about import SCHEMA_VERSION, __version__
from d9m.kb.store import KnowledgeBase
from exports import shapes
from exports.addresses import API, SITE

OF_COMMANDS = f"schema/{SCHEMA_VERSION}.json"
"""In the checkout and on the site."""

TYPES: tuple[Any, ...] = (
    shapes.Index,
    shapes.Listing,
    *shapes.RECORD_FILES.values(),
    shapes.OpFile,
    shapes.PackageFile,
    shapes.ReleaseFile,
    shapes.Everything,
    shapes.Badge,
)


def files(kb: KnowledgeBase) -> Iterator[tuple[str, bytes]]:
    yield f"{API}schema.json", _pretty(_schema())
    yield f"{API}openapi.json", _pretty(_openapi(kb))
    yield OF_COMMANDS, (Path(__file__).parents[2] / OF_COMMANDS).read_bytes()


def _pretty(content: Any) -> bytes:
    return msgspec.json.format(msgspec.json.encode(content), indent=2) + b"\n"


def _schema() -> dict[str, Any]:
    _refs, components = msgspec.json.schema_components(TYPES, ref_template="#/$defs/{name}")
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"{SITE}{API}schema.json",
        "title": "Files of the d9m API, version 1",
        "$defs": components,
    }


def _openapi(kb: KnowledgeBase) -> dict[str, Any]:
    paths = {
        "/index.json": ("Where everything is", "Index"),
        "/all.json": ("Everything in one file", "Everything"),
        **{
            f"/{kind.name}/index.json": (f"All records of {kind.name}", "Listing")
            for kind in shapes.RECORD_FILES
        },
        "/ops/{package}/index.json": ("All names of a framework's ops", "Listing"),
        "/ops/{package}/{name}.json": ("One name", "OpFile"),
        "/packages/index.json": ("All packages", "Listing"),
        "/packages/{package}.json": ("A package and its releases", "PackageFile"),
        "/packages/{package}/{version}.json": (
            "What every op does in a release: `2.9.1`; `2.9` and `latest` are the newest",
            "ReleaseFile",
        ),
        "/badges/sources/{id}.json": ("A badge for shields.io/endpoint", "Badge"),
        "/badges/packages/{package}.json": ("A badge for shields.io/endpoint", "Badge"),
        **{
            f"/{kind.name}/{{id}}.json": (f"One record of {kind.name}", type_.__name__)
            for kind, type_ in shapes.RECORD_FILES.items()
        },
    }
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "d9m",
            "version": f"{shapes.VERSION}",
            "summary": "Determinism in deep learning, as static JSON",
            "description": (
                f"Files, written by d9m {__version__} from the knowledge base of {kb.meta.date}."
            ),
            "license": {"name": "Apache License 2.0", "identifier": "Apache-2.0"},
        },
        "servers": [{"url": f"{SITE}{API}".rstrip("/")}],
        "paths": {path: {"get": _operation(path, *about)} for path, about in paths.items()},
    }


def _operation(path: str, summary: str, type_: str) -> dict[str, Any]:
    names = [part.partition("}")[0] for part in path.split("{")[1:]]
    given = {"in": "path", "required": True, "schema": {"type": "string"}}
    parameters = [{"name": name, **given} for name in names]
    content = {"application/json": {"schema": {"$ref": f"schema.json#/$defs/{type_}"}}}
    return {
        "operationId": path.replace(".json", "")
        .strip("/")
        .replace("/", "-")
        .replace("{", "")
        .replace("}", ""),
        "summary": summary,
        "parameters": parameters,
        "responses": {
            "200": {"description": summary, "content": content},
            "404": {"description": "No such file"},
        },
    }
