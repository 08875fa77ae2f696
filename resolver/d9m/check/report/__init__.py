"""Formats of a report of the self-check."""
