"""Formats of a report of the scan. They hold layout and no knowledge."""
