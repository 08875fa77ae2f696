"""Runs of a program: recorded as a stream of digests, to be compared with one another."""
