"""The records that the site is made of: those of the checkout around it, however d9m is
installed.
"""

from __future__ import annotations

import os
from pathlib import Path

from d9m.kb import locate


def folder() -> Path:
    """The checkout's ``kb/``, unless D9M_KB names another. Raises DataError where that is no
    folder.
    """
    return locate.folder() if os.environ.get(locate.VARIABLE) else Path(__file__).parents[1] / "kb"
