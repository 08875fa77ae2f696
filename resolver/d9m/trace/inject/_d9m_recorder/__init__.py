# pyright: basic
"""The recorder: what `d9m trace` puts into the processes of a program.

It runs in the user's interpreter, Python 3.8 or newer, with the standard library alone, and d9m
need not be installed there. d9m/trace/folder.py says what it writes.
"""
