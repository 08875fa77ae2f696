"""`d9m run` and `d9m.enable()`: set what the records name, watch it, report what became of it."""
