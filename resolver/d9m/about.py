"""What this copy of d9m is."""

__version__ = "0.1.0"

REPOSITORY = "https://github.com/d9m/d9m"
"""Where records are edited; the same as in pyproject.toml."""
