# pyright: basic
"""What every framework needs: the session, its stream, digests, lines."""
