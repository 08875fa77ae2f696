"""Real frameworks to run emitted code in, each in a virtual environment under build/frameworks/.

    python tests/emitted/environments.py                 # what the tests want
    python tests/emitted/environments.py --all           # old releases too: more of the same
    python tests/emitted/environments.py torch-2.13.0    # one

An environment that stands is left alone. pip takes the packages from the index it is configured
for; any build of a framework will do, and the smallest is one for the CPU. Uses the standard
library only."""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

HOME = (Path(__file__).parents[2] / "build" / "frameworks").resolve()


class UnavailableError(Exception):
    """This machine cannot have the environment, however hard it tries."""


@dataclass(frozen=True)
class InstalledFramework:
    """One release of a package of the knowledge base, and what pip installs to have it."""

    package: str
    release: str
    pins: tuple[str, ...]
    python: str | None = None
    """Python that its wheels want; None: the one that runs this."""
    extra: bool = False
    """Only on request: it repeats on an old release what the others show."""
    pip: str | None = None
    """pip to install with, where the one that this Python brings is too old for today's index."""
    on: InstalledFramework | None = None
    """The environment whose packages it sees, instead of copies of them."""

    @property
    def name(self) -> str:
        return f"{self.package}-{self.release}"

    @property
    def folder(self) -> Path:
        return HOME / self.name

    @property
    def interpreter(self) -> Path:
        return self.folder / "bin" / "python"

    @property
    def how(self) -> str:
        return f"python tests/emitted/environments.py {self.name}"

    @property
    def stands(self) -> bool:
        """Whether it was made completely, from these pins."""
        if self.on is not None and not self.on.stands:
            return False
        return self._receipt.is_file() and self._receipt.read_text() == self._written

    @property
    def _receipt(self) -> Path:
        return self.folder / "pins.txt"

    @property
    def _written(self) -> str:
        return "\n".join(self.pins) + "\n"

    def make(self) -> None:
        """Raises UnavailableError where its Python is missing, CalledProcessError where pip
        fails.
        """
        python = sys.executable if self.python is None else find_python(self.python)
        shutil.rmtree(self.folder, ignore_errors=True)
        try:
            bare = ["--without-pip"] if self.python is None else []
            subprocess.run([python, "-m", "venv", *bare, str(self.folder)], check=True)
            if self.pip is not None:
                self._install(f"pip=={self.pip}")
            if self.on is not None:
                if not self.on.stands:
                    self.on.make()
                for packages in self.folder.glob("lib/python*/site-packages"):
                    seen = self.on.folder / packages.relative_to(self.folder)
                    (packages / "on.pth").write_text(f"{seen}\n")
            self._install(*self.pins)
        except BaseException:
            shutil.rmtree(self.folder, ignore_errors=True)
            raise
        self._receipt.write_text(self._written)

    def _install(self, *pins: str) -> None:
        """With the pip of this Python; one of an older Python may be too new for it."""
        interpreter = str(self.interpreter)
        if self.python is None:
            pip = [sys.executable, "-m", "pip", "--python", interpreter]
        else:
            pip = [interpreter, "-m", "pip"]
        subprocess.run([*pip, "install", "--quiet", "--no-compile", *pins], check=True)


def find_python(version: str) -> str:
    """An interpreter of this minor version: on the path, or among those of pyenv."""
    on_path = shutil.which(f"python{version}")
    of_pyenv = sorted((Path.home() / ".pyenv" / "versions").glob(f"{version}.*/bin/python"))
    for candidate in [*([on_path] if on_path else []), *map(str, of_pyenv)]:
        asked = subprocess.run([candidate, "--version"], capture_output=True, text=True)
        said = asked.stdout + asked.stderr  # Python 2 says it there
        if asked.returncode == 0 and said.startswith(f"Python {version}."):
            return candidate
    raise UnavailableError(f"no Python {version} on the path or in ~/.pyenv")


def _tensorflow(release: str, python: str, *more: str, extra: bool = True) -> InstalledFramework:
    pins = (
        f"tensorflow=={release}",
        "protobuf<3.20",
        *more,
    )  # protobuf 3.20 refuses what old releases generated
    return InstalledFramework(
        "tensorflow", release, pins, python, extra, "21.3.1" if python == "3.6" else None
    )


def _torch(release: str, numpy: str, python: str) -> InstalledFramework:
    pip = "21.3.1" if python == "3.6" else None
    return InstalledFramework(
        "torch", release, (f"torch=={release}", f"numpy=={numpy}"), python, extra=True, pip=pip
    )


PATCH = "tensorflow-determinism==0.3.0"

TORCH = InstalledFramework("torch", "2.13.0", ("torch==2.13.0", "numpy==2.2.6"))

FRAMEWORKS = (
    TORCH,
    InstalledFramework("tensorflow", "2.21.0", ("tensorflow-cpu==2.21.0",)),
    _tensorflow("1.15.5", "3.7", PATCH, extra=False),
    _tensorflow("2.0.4", "3.7", PATCH, extra=False),
    _tensorflow("1.0.0", "3.6"),
    _tensorflow("1.4.0", "3.6"),
    _tensorflow("1.12.0", "3.6"),
    _tensorflow("1.13.1", "3.7"),
    _tensorflow("1.14.0", "3.7", PATCH),
    _tensorflow("2.1.4", "3.7"),
    _tensorflow("2.4.4", "3.8"),
    _tensorflow("2.7.4", "3.9", "numpy<1.24"),
    _torch("1.0.0", "1.19.5", "3.7"),
    _torch("1.7.1", "1.19.5", "3.8"),
    _torch("1.12.1", "1.23.5", "3.9"),
    _torch("2.4.1", "1.26.4", "3.11"),
)


PROBED = (InstalledFramework("jax", "0.10.2", ("jax==0.10.2",)),)
"""Frameworks that only the prober's tests run: no code is emitted for them."""

LAUNCHERS = (
    InstalledFramework(
        "accelerate",
        "1.15.0",
        ("accelerate==1.15.0", "nbconvert==7.17.2", "ipykernel==7.4.0"),
        on=TORCH,
    ),
)
"""What starts a program of a framework in a way of its own, notebooks included."""


def wanted(names: list[str], everything: bool) -> Iterator[InstalledFramework]:
    """Those of these names; without names the ordinary ones, or all."""
    known = {each.name: each for each in (*FRAMEWORKS, *PROBED, *LAUNCHERS)}
    if unknown := [name for name in names if name not in known]:
        raise SystemExit(f"unknown: {', '.join(unknown)}; known: {', '.join(known)}")
    yield from (
        each
        for each in known.values()
        if each.name in names or (not names and (everything or not each.extra))
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--all", action="store_true", help="old releases too")
    chosen = parser.parse_args()
    failed = False
    for each in wanted(chosen.names, chosen.all):
        try:
            if not each.stands:
                each.make()
            sys.stdout.write(f"{each.name}: {each.interpreter}\n")
        except UnavailableError as reason:
            sys.stdout.write(f"{each.name}: left out, {reason}\n")
        except subprocess.CalledProcessError as error:
            failed = True
            sys.stdout.write(f"{each.name}: FAILED, {error}\n")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
