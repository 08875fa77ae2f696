"""One walk through a Python file: from its tree to its facts."""
