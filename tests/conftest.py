"""What every test may ask of the machine it runs on, and how the tests share it."""

from __future__ import annotations

import fcntl
import os
import shutil
import signal
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest

EVERYTHING = "D9M_TEST_EVERYTHING"
"""Set where everything is installed: a test that finds something missing then fails instead of
being skipped.
"""

SHARED = "D9M_TEST_SHARED"
"""Folder of what the processes of one test run build once for all of them."""


TESTS = Path(__file__).parent

SLOW = (
    "site/test_advisor.py",
    "check/test_check_command.py",
    "test_second_opinion.py",
    "authoring/test_mutate.py",
    "site/test_browser.py",
    "emitted/test_frameworks.py",
    "trace/test_recording_compiled.py",
    "trace/test_recording_ops.py",
    "trace/test_recording_steps.py",
    "trace/test_recording_by_hand.py",
    "trace/test_recording_ranks.py",
    "emitted/test_installs.py",
    "check/test_against.py",
    "check/test_gpus.py",
    "check/test_loan.py",
    "check/test_ranks.py",
    "trace/test_real_programs.py",
    "check/test_worker.py",
    "packaging/test_installations.py",
    "site/test_twin.py",
    "site/test_built.py",
    "site/test_pages.py",
    "emitted/test_programs.py",
    "site/test_data.py",
    "site/test_search.py",
    "site/test_html.py",
    "packaging/test_site.py",
    "packaging/test_wheel.py",
)
"""Files that take many seconds. They begin: at the end, short ones fill the processors. The first
builds the site, and the next ones do without it."""


def needs(present: object, what: str, how: str) -> None:
    """Skip the test unless `present`, saying what is missing and how to get it."""
    if not present:
        end = pytest.fail if os.environ.get(EVERYTHING) else pytest.skip
        end(f"{what} is not installed; to get it: {how}")


def shared(name: str, build: Callable[[Path], object]) -> Path:
    """A folder that all processes of this run share. The first that asks has `build` fill it;
    others wait.
    """
    folder = Path(os.environ[SHARED]) / name
    with open(f"{folder}.lock", "a+") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        lock.seek(0)
        if not lock.read():
            shutil.rmtree(folder, ignore_errors=True)  # of a build that failed
            folder.mkdir()
            build(folder)
            lock.write("built")
    return folder


def pytest_configure(config: pytest.Config) -> None:
    """Only the first process of a run makes the folder and removes it: its workers inherit the
    variable.
    """
    _take_signals()
    if SHARED not in os.environ:
        os.environ[SHARED] = folder = tempfile.mkdtemp(prefix="d9m-tests-")
        config.add_cleanup(lambda: shutil.rmtree(folder, ignore_errors=True))
        config.add_cleanup(lambda: os.environ.pop(SHARED, None))


def _take_signals() -> None:
    """What starts the tests in the background ignores signals, and so would every process that a
    test starts to see it end by one.
    """
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for number in (signal.SIGQUIT, signal.SIGHUP, signal.SIGTERM):
        signal.signal(number, signal.SIG_DFL)


def pytest_xdist_auto_num_workers(config: pytest.Config) -> int:
    """Processes for the whole suite. A part that was named runs in this one, which starts at once
    and can be debugged.

    Each process collects for itself, so more than four gain nothing; and a container may have fewer
    processors than it shows.
    """
    if config.args_source is pytest.Config.ArgsSource.ARGS:
        return 0
    return min(len(os.sched_getaffinity(0)), 4)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what is slow before `-m` selects, and begin with it."""
    order = {TESTS / file: place for place, file in enumerate(SLOW)}
    for item in items:
        if item.path in order:
            item.add_marker(pytest.mark.slow)
    items.sort(key=lambda item: order.get(item.path, len(SLOW)))
