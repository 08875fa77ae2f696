"""`d9m`: one module a command, each thin: parse, call, render, exit code."""
