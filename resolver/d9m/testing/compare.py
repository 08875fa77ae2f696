"""A marked test, run again in new processes by d9m hunt, or by d9m lock and d9m verify."""

from __future__ import annotations

import inspect
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn, TypeAlias
from urllib.parse import quote

import pytest

from d9m.testing import INNER

_DROPPED = ("COV_CORE", "PYTEST_XDIST", "PYTEST_CURRENT_TEST")
_OVERRIDES = {
    "xdist": ["-n", "0"],
    "_cov": ["--no-cov"],
    "randomly": ["--randomly-dont-reset-seed", "--randomly-dont-reorganize"],
    "junitxml": ["--junitxml="],
}
"""Plugin -> what a single test in a new process is run with."""

Settings: TypeAlias = str | Sequence[str] | None


class MarkedTest:
    """A test, and what its marker asks."""

    def __init__(
        self, item: pytest.Item, environment: Mapping[str, str],
        *, runs: int = 2, steps: int = 20, settings: Settings = None,
    ) -> None:  # fmt: skip
        self._item = item
        self._runs, self._steps, self._settings = runs, steps, settings
        kept = {name: value for name, value in environment.items() if not name.startswith(_DROPPED)}
        self._environment = {**kept, INNER: item.nodeid}

    def hunt(self) -> None:
        """Fail unless new processes compute the same."""
        program = self._program()
        words = ["hunt", f"--steps={self._steps}", f"--compare={self._runs}", "--format=json"]
        if self._settings == "advised":
            program = [sys.executable, "-m", "d9m", "run", "--", *program]
        else:
            labels = self._settings or ()
            words += [f"--set={each}" for each in ([labels] if isinstance(labels, str) else labels)]
        answer, said, code = self._d9m(*words, program=program)
        if code == 0:
            proof = f"equal in {self._runs} of {self._runs} runs across processes, at most "
            self._note("d9m.equal", f"{proof}{self._steps} steps")
        elif not answer:
            tip = "d9m_repeat compares what a function returns." if code == 4 else ""
            self._fail(f"d9m hunt could not compare runs of this test: {said}\n{tip}".strip())
        else:
            self._fail(self._found(answer))

    def verify(self, lock: Path, is_strict: bool) -> None:
        """Fail unless a new process computes what the lock has; skip on another stack."""
        if not lock.exists():
            self._fail(f"{lock} does not exist: --d9m-update writes it")
        answer, said, code = self._d9m("verify", "--format=json", str(lock))
        if code == 0:
            return self._note("d9m.equal", f"equal to {lock}")
        if not answer:
            self._fail(f"d9m verify could not compare this test: {said}")
        found = json.loads(answer)
        changed = [f"{each['name']}: {each['a']} -> {each['b']}" for each in found["changed"]]
        stack = _stack(lock) & {each["name"] for each in found["changed"]}
        text = "\n  changed   ".join([f"{found['said']} Compared with {lock}.", *changed])
        if stack and not is_strict:
            pytest.skip(f"d9m: the lock is of another stack ({', '.join(sorted(stack))}): {text}")
        self._fail(text)

    def lock(self, lock: Path) -> None:
        """Write the lock anew, or fail where runs differ."""
        lock.parent.mkdir(parents=True, exist_ok=True)
        limits = f"--steps={self._steps}", f"--runs={self._runs}"
        _answer, said, code = self._d9m("lock", *limits, "--update", out=str(lock))
        if code:
            self._fail(said)

    def _program(self) -> list[str]:
        """The command of this test alone, with the options of this pytest."""
        config = self._item.config
        worker: dict[str, list[str]] = getattr(config, "workerinput", {})
        args = worker["mainargv"][1:] if worker else config.invocation_params.args
        places = {*config.args, *config.option.file_or_dir}
        options = [str(word) for word in args if str(word) not in places]
        file, colons, name = self._item.nodeid.partition("::")
        path = os.path.relpath(config.rootpath / file, config.invocation_params.dir)
        added = ["-k", "", "-m", "", "--runxfail", "-p", "no:pastebin"]
        for plugin, words in _OVERRIDES.items():
            added += words if config.pluginmanager.has_plugin(plugin) else []
        return [sys.executable, "-m", "pytest", *options, *added, path + colons + name]

    def _d9m(
        self, *words: str, program: Sequence[str] = (), out: str | None = None
    ) -> tuple[str, str, int]:
        """Return the file that a d9m command writes, its messages, and its exit code."""
        with tempfile.TemporaryDirectory(prefix="d9m-pytest-", ignore_cleanup_errors=True) as place:
            file = Path(place, "answer")
            done = subprocess.run(  # noqa: S603  d9m, and the test that runs
                [sys.executable, "-m", "d9m", words[0], "-o", out or str(file), *words[1:], "--",
                 *(program or self._program())],
                cwd=self._item.config.invocation_params.dir, env=self._environment, check=False,
                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                text=True, errors="replace",
            )  # fmt: skip
            answer = file.read_text(encoding="utf-8") if file.exists() else ""
        if done.returncode > 1:
            self._item.add_report_section("call", "d9m", done.stdout)
        _printed, _mark, error = done.stdout.rpartition("\nd9m: ")
        return answer, error.strip() or done.stdout[-2000:], done.returncode

    def _found(self, answer: str) -> str:
        """Return the findings of a hunt as text."""
        import msgspec

        from d9m.kb.locate import open_knowledge_base
        from d9m.trace.findings import Findings
        from d9m.trace.report import sentences, text

        found = msgspec.json.decode(answer, type=Findings)
        for cause in found.causes[:1]:
            self._note("d9m.cause", sentences.sentence(found, cause))
            if cause.source is not None:
                self._note("d9m.line", f"{cause.source.file}:{cause.source.line}")
        command = " ".join(["python", *self._program()[1:]])
        view = text.FindingsView(found, open_knowledge_base(), command=command)
        return text.render(view).plain()

    def _note(self, name: str, value: str) -> None:
        self._item.user_properties.append((name, value))

    def _fail(self, text: str) -> NoReturn:
        if self._item.config.pluginmanager.has_plugin("randomly"):
            text += "\npytest-randomly reset no seed in these runs."
        pytest.fail(text, pytrace=False)


def compare(item: pytest.Item, marker: pytest.Mark, environment: Mapping[str, str]) -> None:
    """Compare as a marker and the options of pytest say. What cannot be compared fails."""
    try:
        inspect.signature(MarkedTest).bind(item, environment, *marker.args, **marker.kwargs)
    except TypeError as error:
        pytest.fail(f"deterministic: {error}; allowed: runs, steps, settings", pytrace=False)
    wanted: Any = MarkedTest(item, environment, *marker.args, **marker.kwargs)
    option = item.config.getoption
    folder: str | None = option("--d9m-digests")
    if folder is None:
        wanted.hunt()
        return
    file, _colons, name = item.nodeid.partition("::")
    path = item.config.invocation_params.dir / folder / file / f"{quote(name, '[]')}.lock.json"
    if option("--d9m-update"):
        wanted.lock(path)
    else:
        wanted.verify(path, option("--d9m-strict"))


def _stack(path: Path) -> set[str]:
    """Names of the machine, Python and the packages of a lock."""
    from d9m.lock.lock_file import header, read
    from d9m.lock.verdict import MACHINE

    about = header(read(path).recording)
    return {*MACHINE, "python", *about.packages, *about.versions}
