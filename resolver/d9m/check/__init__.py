"""What this machine really does: host, settings, and (in a later release) probes."""
