"""`d9m lock` and `d9m verify`: keep what a program computed, and compare it later."""
