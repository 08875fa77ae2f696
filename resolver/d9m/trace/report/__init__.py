"""Formats of what `d9m diff` and `d9m hunt` found."""
