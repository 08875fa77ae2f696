"""Which versions a project's files state."""
