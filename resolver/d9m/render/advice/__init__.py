"""Formats of an advice."""
