"""The report card of a program: what it needs to be deterministic, and what of that it has."""
