"""Rules that reading a file checks (`d9m.kb.yaml_files`): a file that breaks one is not a record
yet.
"""

from __future__ import annotations

from collections.abc import Iterator

from d9m.authoring.lint.index import RecordIndex
from d9m.authoring.lint.rule import Finding, rule


def _on_load(index: RecordIndex) -> Iterator[Finding]:
    """Nothing left to find: the loader reports it."""
    return iter(())


yaml_syntax = rule(
    "yaml-syntax",
    "Not readable as YAML",
    """The file is not UTF-8, or not one YAML document, or nests far deeper than any record. Until
    that is mended nothing else in the file can be looked at, so mend this first. The usual causes
    are a colon or a number sign in a text without quotes, and a tab at the start of a line.""",
)(_on_load)

duplicate_key = rule(
    "duplicate-key",
    "Key given twice",
    """YAML readers silently keep one of two equal keys, mostly the last one, so half of what the
    file says would be lost without a word. Keep one of the two, or join their values.""",
)(_on_load)

yaml_feature = rule(
    "yaml-feature",
    "Anchor, alias, merge or tag",
    """A record says all of itself: what applies to a release must be visible at that release, in a
    diff of a few lines. Anchors, aliases and merge keys move the meaning elsewhere, and tags change
    how a value is read. Write the value out, even if that repeats it.""",
)(_on_load)

file_place = rule(
    "file-place",
    "File outside the folders of records",
    """A record's kind is its folder and its id is the rest of its path, so a file anywhere else, or
    with another ending than .yaml, would never be read. It is refused rather than skipped: a record
    in a folder with a typing mistake must not disappear in silence.""",
)(_on_load)

schema = rule(
    "schema",
    "Value of the wrong shape",
    """A key is missing, a list stands where a text belongs, or a word is not one of those that the
    key allows. All values are read as text, so 2.10 stays 2.10, and only keys that hold a number or
    a truth value convert it. The types of all records are listed in the reference of record
    types.""",
)(_on_load)

unknown_key = rule(
    "unknown-key",
    "Key that no record of this kind has",
    """A misspelt optional key (evidense, form) would otherwise be dropped silently and the record
    would say less than its author wrote. The message names the likeliest key that was meant.""",
)(_on_load)

RULES = (yaml_syntax, duplicate_key, yaml_feature, file_place, schema, unknown_key)
