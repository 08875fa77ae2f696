"""The kinds of records: the one list of them that everything reads."""

from __future__ import annotations

from typing import Any, Generic, TypeVar

import msgspec

from d9m.model import records
from d9m.model.code_marks import CodeMarks
from d9m.model.runs import Run

RecordType = TypeVar("RecordType", covariant=True)


class RecordKind(msgspec.Struct, Generic[RecordType], frozen=True):
    """A kind of record: one type, and a file each."""

    name: str
    """Folder under ``kb/`` that holds them."""
    type: type[RecordType]
    noun: str
    """Name of one of them for a reader."""
    table: str
    """Attribute of `KnowledgeBase` that holds them; empty if other tables are made from them."""
    brief: bool = False
    """Whether all of them are read at once, on one page; other records have one each."""


SOURCES = RecordKind("sources", records.Source, "source", "sources")
SOLUTIONS = RecordKind("solutions", records.Solution, "solution", "solutions")
SETTINGS = RecordKind("settings", records.Setting, "setting", "settings")
OPS = RecordKind("ops", records.OpRecords, "catalogue of ops", "")
PACKAGES = RecordKind("versions", records.Package, "package", "packages")
INGREDIENTS = RecordKind("ingredients", records.Ingredient, "ingredient", "ingredients")
HELPERS = RecordKind("helpers", records.Helper, "helper", "helpers")
ERRORS = RecordKind("errors", records.ErrorRecord, "error", "errors")
SYMPTOMS = RecordKind("symptoms", records.Symptom, "symptom", "symptoms")
PULL_REQUESTS = RecordKind("pull_requests", records.PullRequest, "pull request", "pull_requests")
ISSUES = RecordKind("issues", records.Issue, "issue", "issues")
MYTHS = RecordKind("myths", records.Myth, "myth", "myths", brief=True)
CORRECTIONS = RecordKind("corrections", records.Correction, "correction", "corrections", brief=True)
DOCUMENTS = RecordKind("documents", records.Document, "document", "documents", brief=True)
CODE = RecordKind("code", CodeMarks, "mark in code", "code", brief=True)

KINDS: tuple[RecordKind[Any], ...] = (
    SOURCES,
    SOLUTIONS,
    SETTINGS,
    OPS,
    PACKAGES,
    INGREDIENTS,
    HELPERS,
    ERRORS,
    SYMPTOMS,
    PULL_REQUESTS,
    ISSUES,
    MYTHS,
    CORRECTIONS,
    DOCUMENTS,
    CODE,
)
"""Kinds written in YAML. ``kb/facts.yaml`` holds all facts in one file, ``kb/gpus.yaml`` all
GPU models, ``kb/words.yaml`` what words mean to `d9m explain`.
"""

RUNS = RecordKind("runs", Run, "run", "runs")
"""The kind that `d9m check --evidence` writes, in JSON, under ``kb/evidence/runs/``."""

EVERY_KIND: tuple[RecordKind[Any], ...] = (*KINDS, RUNS)

BY_NAME: dict[str, RecordKind[Any]] = {kind.name: kind for kind in KINDS}
