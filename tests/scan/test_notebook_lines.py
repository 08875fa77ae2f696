"""What a finding in a notebook says of its lines."""

from __future__ import annotations

import json
from pathlib import Path

from d9m.scan.configuration import Configuration
from d9m.scan.scanning import ScanRequest, scan
from scan.projects import knowledge


def test_lines_count_in_their_cells(tmp_path: Path) -> None:
    cells = [
        "import os\nimport random\nfiles = os.listdir('data')",
        "import torch\nrandom.seed(1)\nloss.backward()",
        "print(3)\nrandom.shuffle(files)",
    ]
    written = [{"cell_type": "code", "source": cell} for cell in cells]
    (tmp_path / "a.ipynb").write_text(json.dumps({"cells": written}))
    request = ScanRequest(paths=(str(tmp_path),), cache=False, select=("order",))
    (finding,) = scan(knowledge(), request, Configuration(folder=str(tmp_path))).report.findings
    assert (finding.cell, finding.line) == (1, 3)
    assert "random.shuffle(files) in line 2 of cell 3 uses it" in finding.message
