# pyright: basic
"""The parts that every framework needs: the session, its stream, digests, lines."""
