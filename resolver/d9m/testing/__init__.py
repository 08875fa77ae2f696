"""The pytest plugin: whether a test computes the same in another process."""

INNER = "D9M_PYTEST"
"""Set in the processes that run a marked test again."""
