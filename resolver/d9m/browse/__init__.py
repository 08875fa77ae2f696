"""The records, read: one of them, lists of them, their history, and texts that point to them."""
