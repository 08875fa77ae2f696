"""The plan of a check: probes, and the arms that they run in."""
