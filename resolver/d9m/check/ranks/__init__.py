"""Several processes of one job: what they do together, and which one differs."""
