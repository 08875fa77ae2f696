"""What a check runs: probes, and the arms that they run in."""
