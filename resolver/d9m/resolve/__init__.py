"""From a question to an answer, without I/O, clock or globals."""
