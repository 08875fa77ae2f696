"""The processes that run probes, and what they report."""
