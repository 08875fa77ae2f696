"""Pages of what can be read in the records."""
