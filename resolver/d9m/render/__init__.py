"""Formats: a module each, from an answer to a text. They hold layout and no knowledge."""
