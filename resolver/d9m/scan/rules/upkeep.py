"""Rules about the comments that hide findings. `d9m.scan.hiding` applies them: whether a comment
hides anything is known once all other rules have spoken.
"""

from __future__ import annotations

from collections.abc import Iterator

from d9m.scan.project.project import Project
from d9m.scan.rules.rule import Objection, ScanRule


def _after_all_others(project: Project) -> Iterator[Objection]:
    return iter(())


UNUSED_IGNORE = ScanRule(
    code="unused-ignore",
    family="files",
    severity="error",
    title="An ignore comment that hides nothing",
    why=(
        "A comment `# d9m: ignore[CODE] reason` hides the findings of CODE in its statement, or in "
        "the next one if it stands alone. Once the code is fixed, or moves away, the comment "
        "stays behind and will hide the next finding that comes along. Remove it. A comment that "
        "names no code hides whatever comes: name the codes. A code that no rule has hides nothing."
    ),
    silent="The comment hides a finding, whether that one would be shown or is a hint.",
    bad="seed = 0  # d9m: ignore[unsorted-listing] read one by one\n",
    good="seed = 0\n",
    fixable="safe",
    check=_after_all_others,
)

RULES = (UNUSED_IGNORE,)
