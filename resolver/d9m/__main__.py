"""`python -m d9m`."""

from __future__ import annotations

from d9m.cli.main import main

main()
