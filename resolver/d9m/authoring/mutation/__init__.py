"""Break each boundary of a record, and ask whether a golden case notices."""
