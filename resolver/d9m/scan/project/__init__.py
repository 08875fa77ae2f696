"""The files of a project together: who imports and calls whom, and what its programs do."""
