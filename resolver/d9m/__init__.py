"""d9m: what to set, in this version, on this machine, so that the same run gives the same bits."""

__version__ = "0.1.0"

REPOSITORY = "https://github.com/d9m/d9m"
"""Where records are edited; the same as in pyproject.toml."""
