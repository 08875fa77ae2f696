"""Compile ``kb/`` into the wheel: an installed d9m answers from one file and reads no YAML."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class KnowledgeBaseHook(BuildHookInterface):
    """An editable installation reads the checkout's ``kb/`` itself, so it gets no file."""

    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if version == "editable":
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
        if version != "editable":
            self._folder.cleanup()
