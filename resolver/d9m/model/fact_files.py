"""Which type a file of facts has: its place under ``evidence/`` says so.

``evidence/explained.yaml`` holds the reasons for known differences between facts and records.
"""

from __future__ import annotations

from fnmatch import fnmatch
from typing import Any

from d9m.model.compiled_facts import CompiledCatalogue
from d9m.model.dispatch_facts import CpuRuns, DispatchCatalogue, SeedRuns
from d9m.model.kernel_facts import KernelTable
from d9m.model.wheel_facts import Catalogue, Published, SignatureCatalogue, WheelFacts

TYPES: dict[str, Any] = {
    "evidence/wheels/*.json": WheelFacts,
    "evidence/catalogue-*.json": Catalogue,
    "evidence/releases/*.json": Published,
    "evidence/signatures-*.json": SignatureCatalogue,
    "evidence/compiled-*.json": CompiledCatalogue,
    "evidence/dispatch-*.json": DispatchCatalogue,
    "evidence/atomics/*.json": KernelTable,
    "evidence/cpu/*.json": CpuRuns,
    "evidence/seeds/*.json": SeedRuns,
}
"""Place under ``kb/`` -> type of the files there."""


def fact_type(file: str) -> Any:
    """Type of a JSON file by its place; None where no fact file belongs."""
    return next((type_ for place, type_ in TYPES.items() if fnmatch(file, place)), None)
