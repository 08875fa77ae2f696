"""The MkDocs hook: hand the generated pages and the style sheet to MkDocs. Everything else is in `pages`."""

from __future__ import annotations

import os
from datetime import datetime, timezone
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.livereload import LiveReloadServer
from mkdocs.structure.files import File, Files, InclusionLevel

from advisor import tables
from d9m.kb import locate
from pages import pages

_HERE = Path(__file__).parent


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the generated pages. Those that the navigation names get into it, all others stay out."""
    kb = locate.from_yaml(locate.folder())
    # MkDocs writes the day of the build into the site map; the day of the records makes two builds equal.
    edition = datetime.fromisoformat(kb.meta.date).replace(tzinfo=timezone.utc)
    os.environ.setdefault("SOURCE_DATE_EPOCH", str(int(edition.timestamp())))
    for path, text in pages(kb).items():
        file = File.generated(config, path, content=text)
        file.inclusion = InclusionLevel.NOT_IN_NAV
        files.append(file)
    for asset in sorted(each for each in (_HERE / "assets").rglob("*") if each.is_file()):
        path = asset.relative_to(_HERE).as_posix()
        files.append(File.generated(config, path, abs_src_path=str(asset)))
    files.append(File.generated(config, "assets/advisor/tables.json", content=tables(kb)))
    return files


def on_serve(server: LiveReloadServer, **_: object) -> None:
    """Build again when a record changes."""
    server.watch(str(locate.folder()))
