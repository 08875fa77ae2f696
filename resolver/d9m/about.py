"""The version of this copy of d9m."""

__version__ = "0.1.0"

SCHEMA_VERSION = 3
"""Of everything that d9m prints as JSON (schema/3.json). A key that is added needs no other one."""

REPOSITORY = "https://github.com/d9m/d9m"
"""Where records are edited; the same as in pyproject.toml."""

SUMMARY = "d9m: the settings that make training deterministic, for your versions and your machine."
"""Its first sentence, in help and documentation."""
