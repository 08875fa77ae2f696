"""What every test may ask of the machine it runs on, and how the tests share it."""

from __future__ import annotations

import fcntl
import os
import shutil
import signal
import tempfile
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

import hypothesis
import pytest

hypothesis.settings.register_profile("as long as it takes", deadline=None)
hypothesis.settings.load_profile("as long as it takes")

T = TypeVar("T")

EVERYTHING = "D9M_TEST_EVERYTHING"
"""Set where everything is installed: slow tests run, too, and one that finds something missing
fails instead of being skipped.
"""

NIGHTLY = "D9M_TEST_NIGHTLY"
"""Set where there is time: tests marked `nightly` run, too, as they do with `-m nightly`."""

SHARED = "D9M_TEST_SHARED"
"""Folder of what the processes of one test run build once for all of them."""


TESTS = Path(__file__).parent

BUILDS = "builds the site, or reads all of it"
BROWSES = "opens pages in a browser"
RECORDS = "runs and records programs with PyTorch"
RECORDS_TENSORFLOW = "runs and records programs with TensorFlow"
RECORDS_JAX = "runs and records programs with JAX"
PROBES = "starts PyTorch many times"
RUNS = "runs emitted code in every framework"

SLOW = {
    "agents/test_server.py": "starts servers for agents",
    "site/test_advisor.py": BROWSES,
    "check/test_check_command.py": PROBES,
    "site/test_browser.py": BROWSES,
    "check/test_loan.py": PROBES,
    "check/test_ranks.py::test_ranks_give_one_report_that_names_the_odd_device": PROBES,
    "check/test_gpus.py": PROBES,
    "emitted/test_frameworks.py": RUNS,
    "check/test_against.py": PROBES,
    "trace/test_real_programs.py": RECORDS,
    "trace/test_recording_compiled.py": RECORDS,
    "trace/test_recording_ops.py": RECORDS,
    "trace/test_recording_steps.py": RECORDS,
    "trace/test_recording_by_hand.py": RECORDS,
    "trace/test_recording_ranks.py": RECORDS,
    "trace/test_recording_settings.py": RECORDS,
    "trace/test_recording_launched.py": RECORDS,
    "trace/test_recording_digests.py": RECORDS,
    "trace/test_recording_samples.py": RECORDS,
    "trace/test_transparent.py": RECORDS,
    "test_story.py::test_the_program_of_the_page_does_what_the_page_prints": RECORDS,
    "trace/test_tensorflow.py": RECORDS_TENSORFLOW,
    "trace/test_recording_jax.py": RECORDS_JAX,
    "trace/test_recording_jax_ops.py": RECORDS_JAX,
    "lock/test_lock.py": "records many runs of PyTorch",
    "run/test_run.py": "starts many programs under d9m run",
    "run/test_enable.py": "starts many programs that call d9m.enable()",
    "run/test_run_frameworks.py": "starts real frameworks under d9m run",
    "run/test_run_launchers.py": "starts ranks by four launchers",
    "testing/test_plugin.py": "starts pytest many times",
    "testing/test_known_reasons.py": "hunts in tests of PyTorch",
    "check/test_worker.py": PROBES,
    "check/test_trust.py::test_the_self_test_says_what_is_missed": PROBES,
    "emitted/test_installs.py": "asks pip what each line would install",
    "packaging/test_hooks.py": "makes environments as pre-commit and the action do",
    "packaging/test_installations.py": "makes an environment for each way to install",
    "packaging/test_site.py": BUILDS,
    "site/test_built.py": BUILDS,
    "site/test_containers.py": BUILDS,
    "site/test_data.py": BUILDS,
    "site/test_escaping.py": BUILDS,
    "site/test_changes.py": BROWSES,
    "site/test_finding.py": BROWSES,
    "site/test_html.py": BUILDS,
    "site/test_pages.py": BUILDS,
    "site/test_search.py": BROWSES,
    "site/test_serving.py": BUILDS,
    "site/test_status.py": BUILDS,
}
"""A file, or a test of it, that takes many seconds because of what it has to start -> why. The
whole suite runs them only where everything is tested; a file or folder that is named runs whole.
"""

SAMPLED = {
    "test_cases.py": 10,
    "test_questions.py": 10,
    "test_seed_statements.py": 10,
    "check/test_catalogue.py": 5,
    "scan/test_rules.py": 3,
    "authoring/test_lint.py": 3,
    "browse/test_history.py": 5,
    "run/test_run_grid.py": 12,
    "site/test_answers.py": 5,
    "trace/test_outcomes.py": 3,
}
"""A file that asks the same of many cases -> of how many cases the whole suite takes one, where not
everything is tested.
"""

LONG = (
    "test_second_opinion.py",
    "site/test_twin.py",
    "authoring/test_mutate.py",
    "emitted/test_programs.py",
    "packaging/test_wheel.py",
    "authoring/test_audit.py",
)
"""What takes longest of the rest. The slow ones begin, then these: at the end, short ones fill the
processors.
"""

ORDER = {name: place for place, name in enumerate((*SLOW, *LONG))}


def needs(present: object, what: str, how: str) -> None:
    """Skip the test unless `present`, saying what is missing and how to get it."""
    if not present:
        end = pytest.fail if os.environ.get(EVERYTHING) else pytest.skip
        end(f"{what} is not installed; to get it: {how}")


def sample(cases: Sequence[T], one_in: int) -> list[T]:
    """All cases where everything is tested, else one in so many, the first included."""
    return list(cases[:: 1 if os.environ.get(EVERYTHING) else one_in])


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
    processors than it shows. One more than processors: some slow tests wait for ranks and signals.
    """
    if config.args_source is pytest.Config.ArgsSource.ARGS:
        return 0
    waiting = 0 if _leaves_slow_out(config) else 1
    return min(len(os.sched_getaffinity(0)) + waiting, 4)


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """A worker does not see how the tests were asked for."""
    node.workerinput["leaves_slow_out"] = _leaves_slow_out(node.config)


def _leaves_slow_out(config: pytest.Config) -> bool:
    """Whether the suite is run as the README says, with nothing selected."""
    if hasattr(config, "workerinput"):
        return config.workerinput["leaves_slow_out"]
    named = config.args_source is pytest.Config.ArgsSource.ARGS
    selected = config.getoption("markexpr") or config.getoption("keyword")
    return not (named or selected or os.environ.get(EVERYTHING))


def _names(config: pytest.Config) -> bool:
    """Whether a command names single tests: they run, whatever they are marked."""
    return any("::" in argument for argument in config.args)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark what is slow before `-m` selects, and begin with it or leave it out."""
    items.sort(key=lambda item: ORDER.get(_listed(item), len(ORDER)))
    if not (os.environ.get(NIGHTLY) or "nightly" in config.getoption("markexpr") or _names(config)):
        _leave_out(config, items, lambda item: item.get_closest_marker("nightly") is not None)
    for item in items:
        if _listed(item) in SLOW:
            item.add_marker(pytest.mark.slow)
    if _leaves_slow_out(config):
        _leave_out(config, items, lambda item: _listed(item) in SLOW)
        seen: Counter[str] = Counter()
        _leave_out(config, items, lambda item: _is_between_samples(item, seen))


def _is_between_samples(item: pytest.Item, seen: Counter[str]) -> bool:
    """Whether the sample leaves this case of a test out: of each test it has the first one."""
    test = item.nodeid.partition("[")[0]
    seen[test] += 1
    return (seen[test] - 1) % SAMPLED.get(_listed(item), 1) != 0


def _leave_out(
    config: pytest.Config, items: list[pytest.Item], unwanted: Callable[[pytest.Item], bool]
) -> None:
    kept: list[pytest.Item] = []
    left_out: list[pytest.Item] = []
    for item in items:
        (left_out if unwanted(item) else kept).append(item)
    config.hook.pytest_deselected(items=left_out)
    items[:] = kept


def _listed(item: pytest.Item) -> str:
    """How the lists above name a test: by itself, or by its file."""
    file = item.path.relative_to(TESTS).as_posix()
    test = f"{file}::{getattr(item, 'originalname', item.name)}"
    return test if test in ORDER else file


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    if _leaves_slow_out(config):
        terminalreporter.write_line(
            f"left out: {len(SLOW)} slow files and tests, and most cases of {len(SAMPLED)} others. "
            "-m slow runs the slow ones that can run here, a file that is named runs whole; "
            f"{EVERYTHING}=1 runs all tests, and fails where something is missing."
        )
