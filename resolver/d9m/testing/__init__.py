"""The pytest plugin: whether a test computes the same in another process."""
