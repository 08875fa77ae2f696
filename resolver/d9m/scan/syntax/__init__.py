"""What one file says in its syntax: names and what they stand for, expressions, tests, words."""
