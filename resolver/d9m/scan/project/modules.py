"""Which file of a project an import means."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from d9m.scan.facts import FileFacts


class Modules:
    """The Python files of a project by the names under which they can be imported."""

    def __init__(self, paths: Iterable[str]) -> None:
        self._paths = frozenset(paths)
        self._by_ending: dict[str, list[str]] = {}
        self._packages: dict[str, list[str]] = {}
        """Name -> packages that a setup.py next to them installs."""
        for path in sorted(self._paths):
            parts = path.removesuffix(".py").split("/")
            if parts[-1] == "__init__":
                parts.pop()
            for start in range(len(parts)):
                self._by_ending.setdefault(".".join(parts[start:]), []).append(path)
            folder = "/".join(parts[:-1])
            if path.endswith("/__init__.py") and f"{folder}/setup.py" in self._paths:
                self._packages.setdefault(parts[-1], []).append(path)

    def imported(self, facts: FileFacts) -> list[str]:
        """The local files that a file imports, in order of path."""
        found: set[str] = set()
        for statement in facts.imports:
            found.update(self._meant(facts.path, statement.module, statement.name))
        found.discard(facts.path)
        return sorted(found)

    def named(self, importer: str, module: str) -> list[str]:
        """The file of ``python -m module``."""
        found = (self._nearest(importer, name) for name in (module, f"{module}.__main__"))
        return [path for path in found if path is not None]

    def holding(self, importer: str, name: str) -> str | None:
        """The file of a class or function that is named in full: ``pkg.model.Net``."""
        module, _dot, _last = name.rpartition(".")
        return self._nearest(importer, module) or self._nearest(importer, name)

    def importable(self, importer: str, module: str) -> str | None:
        """The file of a module as an import names it, perhaps with leading dots."""
        return next(self._meant(importer, module, ""), None)

    def _meant(self, importer: str, module: str, name: str) -> Iterator[str]:
        if module.startswith("."):
            yield from self._relative(importer, module, name)
            return
        for full in (module, f"{module}.{name}" if name not in ("", "*") else ""):
            found = self._nearest(importer, full) if full else None
            if found is not None:
                yield found

    def _relative(self, importer: str, module: str, name: str) -> Iterator[str]:
        rest = module.lstrip(".")
        folder = importer.split("/")[: -(len(module) - len(rest))]
        base = "/".join([*folder, *filter(None, rest.split("."))])
        for stem in (base, f"{base}/{name}" if base else name):
            for path in (f"{stem}.py", f"{stem}/__init__.py"):
                if path in self._paths:
                    yield path

    def _nearest(self, importer: str, module: str) -> str | None:
        """The file of an absolute name: a single word must be next to the importer or at the
        root, a longer one may be anywhere.
        """
        candidates = self._by_ending.get(module, [])
        if "." not in module:
            folder = importer.rpartition("/")[0]
            near = set(self._packages.get(module, ()))
            for start in (f"{folder}/" if folder else "", "", "src/"):
                near.update((f"{start}{module}.py", f"{start}{module}/__init__.py"))
            candidates = [path for path in candidates if path in near]
        return max(candidates, key=lambda path: (_shared(path, importer), -len(path)), default=None)


def _shared(first: str, second: str) -> int:
    """How many folders two paths share."""
    count = 0
    for one, other in zip(first.split("/")[:-1], second.split("/")[:-1], strict=False):
        if one != other:
            break
        count += 1
    return count
