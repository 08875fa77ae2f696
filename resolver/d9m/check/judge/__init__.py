"""From what was observed to a verdict, held against the records."""
