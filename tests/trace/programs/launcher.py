"""Run as a module: imports no framework, and starts the training in a Python of its own."""

import subprocess
import sys

import marker

print("own sitecustomize:", marker.seen, sys.modules["sitecustomize"].__name__)
print("paths of d9m:", [place for place in sys.path if "d9m" in place])
subprocess.run([sys.executable, "-c", "import small"], check=True)
