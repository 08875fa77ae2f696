"""Compile ``kb/`` into the wheel: an installed d9m answers from one file and reads no YAML. The
sdist gets the records themselves.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class KnowledgeBaseHook(BuildHookInterface):
    """An editable installation reads the checkout's ``kb/`` itself, so it gets no file."""

    PLUGIN_NAME = "custom"
    _folder: tempfile.TemporaryDirectory[str] | None = None

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if version == "editable":
            return
        if self.target_name == "sdist":
            self._leave_out_gitignore(build_data)
            return
        root = Path(self.root)
        sys.path.insert(0, str(root / "resolver"))
        from d9m.kb import compiled
        from d9m.kb.locate import from_yaml

        self._folder = tempfile.TemporaryDirectory()
        target = Path(self._folder.name) / compiled.FILE
        kb = from_yaml(root / "kb")
        compiled.write(kb, target)
        build_data["force_include"][str(target)] = f"d9m/_kb/{compiled.FILE}"
        variables = target.with_name("variables.txt")
        variables.write_text("\n".join(sorted(kb.variables())) + "\n", encoding="utf-8")
        build_data["force_include"][str(variables)] = f"d9m/_kb/{variables.name}"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        if self._folder is not None:
            self._folder.cleanup()

    def _leave_out_gitignore(self, build_data: dict[str, Any]) -> None:
        """Hatchling always adds it; no option says otherwise."""
        build_data["force_include"].pop(str(Path(self.root) / ".gitignore"), None)
