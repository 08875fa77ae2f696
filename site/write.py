"""Write the generated pages as plain Markdown, for any other generator: ``python site/write.py
OUT``.
"""

from __future__ import annotations

import sys
from pathlib import Path

import records
from d9m.kb import locate
from pages import pages


def main(arguments: list[str]) -> int:
    if len(arguments) != 1:
        sys.stderr.write("usage: python site/write.py OUT\n")
        return 2
    out = Path(arguments[0])
    for path, text in pages(locate.from_yaml(records.folder())).items():
        place = out / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
