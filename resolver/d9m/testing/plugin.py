"""Hooks that pytest calls. They import the standard library alone before a test asks for more."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Generator
from typing import Any

import pytest

from d9m.testing import INNER

_MARKER = (
    "deterministic(runs=2, steps=20, settings=None): fail unless the test computes the same in so "
    "many new processes, for so many steps. settings: 'advised', or labels of solutions."
)
_environment = pytest.StashKey[dict[str, str]]()


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("d9m", "determinism of tests marked with deterministic")
    group.addoption("--d9m-digests", metavar="DIR", help="Compare with the locks in DIR.")
    group.addoption("--d9m-update", action="store_true", help="Write the locks in DIR anew.")
    group.addoption(
        "--d9m-strict", action="store_true", help="Fail where a lock is of another machine."
    )


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", _MARKER)
    if config.getoption("--d9m-update") and not config.getoption("--d9m-digests"):
        raise pytest.UsageError("--d9m-update needs --d9m-digests DIR")
    config.stash[_environment] = dict(os.environ)
    if INNER in os.environ:
        config.pluginmanager.register(_InnerRun())


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Replace what runs a marked test: others call nothing of d9m."""
    for item in items if INNER not in os.environ else ():
        marker = item.get_closest_marker("deterministic")
        if marker is not None:
            item.runtest = functools.partial(_run, item, item.runtest, marker)


def _run(item: pytest.Item, runtest: Callable[[], None], marker: pytest.Mark) -> None:
    runtest()
    if getattr(item, "_excinfo", None):  # a failure that unittest keeps for later
        return
    from d9m.testing.compare import compare

    compare(item, marker, item.config.stash[_environment])


class _InnerRun:
    """A test that was skipped in a new process was not run again."""

    has_passed = False

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.has_passed |= report.when == "call" and report.passed

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        if not (self.has_passed or session.exitstatus):
            session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(terminalreporter: Any) -> None:
    if "GITHUB_ACTIONS" not in os.environ:
        return
    for report in terminalreporter.getreports("failed"):
        about = dict(report.user_properties)
        if "d9m.cause" in about:
            file, _colon, line = about.get("d9m.line", "").rpartition(":")
            where = f" file={file},line={line}" if file else ""
            terminalreporter.write_line(f"::error{where}::{report.nodeid}: {about['d9m.cause']}")


@pytest.fixture
def d9m_repeat(request: pytest.FixtureRequest) -> Callable[..., Any]:
    """Call a function repeatedly with the same arguments, and fail unless results are equal."""
    from d9m.testing.repeat import repeat

    return functools.partial(repeat, request.node)


@pytest.fixture
def d9m_enabled() -> Generator[Any]:
    """Set what d9m.deterministic() sets during a test, and restore it."""
    from d9m.run.inside import deterministic

    with deterministic() as enabled:
        yield enabled
