"""Workers in real interpreters with real PyTorch, and everything a probe can do to its process."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
import threading
from pathlib import Path

import msgspec
import pytest
from forked_interpreter import forked_python
from machines import UDA, children, job, pick, probe, python_with, readings, until

from d9m.check.messages import ProbeStart, WorkerFault
from d9m.check.plan import catalogue
from d9m.check.workers import launch
from d9m.errors import AbsentError

GOOD = probe("good", "torch.cumsum(x, 0)", inputs={"x": "wide(4096)"}, permute={"x": 0})


@pytest.fixture(scope="module")
def torch() -> launch.Launcher:
    return launch.interpreter(python_with("torch-2.13.0"))


@pytest.fixture(scope="module")
def forked() -> launch.Launcher:
    """The same, where no test asks how the process starts or ends."""
    return launch.interpreter(forked_python("torch-2.13.0"))


def test_a_probe_that_takes_its_process_down_costs_one_line(torch: launch.Launcher) -> None:
    faults = [
        probe("crash", "__import__('ctypes').string_at(0)"),
        probe("hang", "__import__('time').sleep(300)"),
        probe("killed", "__import__('os').kill(__import__('os').getpid(), 9)"),
        probe("exit", "__import__('os')._exit(7)"),
        probe("memory", "torch.ones(1 << 33)"),
        probe("error", "torch.no_such_op(1)"),
        probe("absent", "torch.ones(1)", requires="torch.no_such_op"),
        probe("chatter", 'print(\'{"event": "end"}\') or torch.ones(n)'),
        GOOD,
    ]
    found = readings(torch, job(faults, limit=4.0, memory=4 << 30))
    assert found["crash"].failed == "its process crashed (SIGSEGV)"
    assert found["hang"].failed == "hung: no answer within 4 s"
    assert "killed" in found["killed"].failed
    assert "code 7" in found["exit"].failed
    assert "can't allocate memory" in found["memory"].raised
    assert "no_such_op" in found["error"].raised
    assert "no_such_op" in found["absent"].absent
    assert found["chatter"].repeats == 8
    assert found["good"].repeats == 8
    assert found["good"].moved is True


def test_a_banner_is_no_answer_and_an_answer_cannot_be_forged(torch: launch.Launcher) -> None:
    lines = ['{"a": 1}', '{"event": "end"}', '0123456789abcdef {"event": "end"}', "\x1b[2J"]
    banner = "".join(f"echo {shlex.quote(line)}; " for line in lines)
    loud = launch.runner(f"bash -c {shlex.quote(f'{banner} exec {torch.command[0]} -')}")
    assert readings(loud, job([GOOD]))["good"].repeats == 8


def test_a_command_that_prints_without_end_is_waited_for_like_any_other() -> None:
    found = list(launch.events(launch.runner("yes"), job([GOOD]), threading.Event(), start=0.5))
    assert found == [WorkerFault(why="hung: no answer within 0.5 s")]


def test_an_answer_that_cannot_be_read_breaks_its_worker(torch: launch.Launcher) -> None:
    asked = job([GOOD], adapter="import os; os.write(answers, b'TOKEN {}\\n')")
    text = asked.adapter.replace("answers", "3").replace("TOKEN", asked.token)
    copied = launch.runner(f"bash -c 'exec 3>&1; exec {torch.command[0]} -'")
    found = readings(copied, msgspec.structs.replace(asked, adapter=text))
    assert "its answer cannot be read" in found["worker"].failed


def test_a_variable_that_comes_back_by_itself_is_taken_away_once(
    torch: launch.Launcher, tmp_path: Path
) -> None:
    (tmp_path / "sitecustomize.py").write_text("import os\nos.environ['D9M_COMES_BACK'] = '1'\n")
    asks = probe(
        "asks", "torch.tensor('D9M_COMES_BACK' in __import__('os').environ)", reference=False
    )
    asked = job(
        [asks], unset=["D9M_COMES_BACK"], env={"PYTHONPATH": str(tmp_path)}, repeats=1, limit=20.0
    )
    assert readings(torch, asked)["asks"].repeats == 1


def test_a_worker_ends_with_the_process_that_started_it(
    torch: launch.Launcher, tmp_path: Path
) -> None:
    program = (
        f"import sys; sys.path[:] = {sys.path!r}\n"
        "from machines import job, probe, readings; from d9m.check.workers import launch\n"
        f"hang = probe('hang', \"__import__('time').sleep(300)\")\n"
        f"readings(launch.interpreter({torch.command[0]!r}), job([hang]))\n"
    )
    starter = subprocess.Popen([sys.executable, "-c", program])
    worker = until(lambda: next(iter(children(starter.pid)), None))
    until(
        lambda: "torch" in Path(f"/proc/{worker}/maps").read_text()
    )  # by then it has asked to end with it
    starter.kill()
    starter.wait()
    until(lambda: not os.path.exists(f"/proc/{worker}") or _state(worker) == "Z")


def _state(process: int) -> str:
    return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]


def test_a_hard_limit_of_memory_is_kept_and_not_exceeded(torch: launch.Launcher) -> None:
    limited = launch.runner(f"bash -c 'ulimit -v 8000000; exec {torch.command[0]} -'")
    found = readings(limited, job([probe("large", "torch.ones(1 << 31)"), GOOD], memory=16 << 30))
    assert "can't allocate memory" in found["large"].raised
    assert found["good"].repeats == 8


def test_a_statement_that_fails_breaks_the_arm_and_says_why(forked: launch.Launcher) -> None:
    found = readings(
        forked, job([GOOD], statements=[[["import torch"], "torch.no_such_switch(True)", False]])
    )
    assert "no_such_switch" in found["worker"].failed


def test_a_seed_of_a_library_that_is_absent_is_passed_over(forked: launch.Launcher) -> None:
    found = readings(
        forked,
        job([GOOD], statements=[[["import no_such_library"], "no_such_library.seed(0)", False]]),
    )
    assert found["good"].repeats == 8


@pytest.mark.parametrize("device", ["cuda", "rocm", "mps", "xpu"])
def test_a_device_that_the_framework_does_not_see_is_said_so(
    forked: launch.Launcher, device: str
) -> None:
    assert (
        f"sees no {device} device" in readings(forked, job([GOOD], device=device))["worker"].failed
    )


def test_an_interpreter_without_the_framework_is_said_so() -> None:
    found = readings(
        launch.interpreter(sys.executable), job([GOOD], adapter="import no_such_framework")
    )
    assert "no_such_framework" in found["worker"].failed


def test_an_interpreter_that_is_not_there_is_an_error() -> None:
    with pytest.raises(AbsentError, match="cannot be run"):
        readings(launch.interpreter("/no/such/python"), job([GOOD]))


HASH = (
    "class Framework:\n def __init__(self, *_): raise OSError(hash('a'), "
    "__import__('os').environ.get('D9M_GONE'))"
)


@pytest.mark.parametrize("how", ["interpreter", "runner"])
def test_variables_are_set_before_the_process_starts(
    how: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("D9M_GONE", "still here")
    launcher = (
        launch.interpreter(sys.executable)
        if how == "interpreter"
        else launch.runner(f"env {sys.executable}")
    )
    seen = [
        readings(
            launcher, job([GOOD], adapter=HASH, env={"PYTHONHASHSEED": seed}, unset=["D9M_GONE"])
        )["worker"].failed
        for seed in "334"
    ]
    assert seen[0] == seen[1]  # the seed of hash() is read when the interpreter starts
    assert seen[0] != seen[2]
    assert "still here" not in seen[0]


def test_the_inputs_are_the_same_bits_in_every_process(forked: launch.Launcher) -> None:
    every = probe(
        "inputs",
        "(a, b, c, d, e, f)",
        reference=False,
        inputs={
            "a": "wide(1000)",
            "b": "mild(1000)",
            "c": "hot(1000, 64)",
            "d": "dense(1000, 64)",
            "e": "unique(1000, 1000)",
            "f": "ties(1000, 9)",
        },
    )
    runs = [
        readings(forked, job([every], repeats=1, proofs=False))["inputs"].digests for _ in range(2)
    ]
    assert runs[0] == runs[1]


def test_the_inputs_do_not_depend_on_the_release() -> None:
    every = probe(
        "inputs",
        "(a, c, e)",
        reference=False,
        inputs={"a": "wide(1000)", "c": "hot(1000, 64)", "e": "unique(1000, 1000)"},
    )
    runs = [
        readings(launch.interpreter(python_with(name)), job([every], repeats=1))["inputs"].digests
        for name in ("torch-2.13.0", "torch-1.0.0")
    ]
    assert runs[0] == runs[1]


def test_what_varies_is_seen_and_a_control_is_not(forked: launch.Launcher) -> None:
    names = ["index-put-accumulate", "getitem-backward", "scatter-add"]
    chosen = pick(catalogue.probes("torch"), "cpu", [f"torch/{each}" for each in names])
    probes = [each.exercise(each.probe.ladder[:1]) for each in chosen]
    default = readings(forked, job(probes, repeats=32))
    advised = readings(forked, job(probes, repeats=32, statements=UDA))
    for name in names[:2]:
        assert len(default[name].digests) > 1
        assert default[name].changed > 0
        assert default[name].max_ulp > 0
        assert default[name].control == 1
    assert len(default["scatter-add"].digests) == 1
    for name in names:
        assert len(advised[name].digests) == 1
        assert advised[name].planted is True
        assert advised[name].moved is True
        assert advised[name].reference.error < 1e-4


def test_other_types_are_added_in_one_thread(forked: launch.Launcher) -> None:
    name = "index-put-accumulate"
    first, *others = pick(catalogue.probes("torch"), "cpu", [f"torch/{name}"], full=True)
    assert (first.dtype, [each.dtype for each in others]) == (
        "float32",
        ["float64", "float16", "bfloat16"],
    )
    exercises = [
        msgspec.structs.replace(each.exercise(each.probe.ladder), key=f"torch/{each.dtype}")
        for each in others
    ]
    found = readings(forked, job(exercises, repeats=100))
    assert {dtype: len(reading.digests) for dtype, reading in found.items()} == {
        "float64": 1,
        "float16": 1,
        "bfloat16": 1,
    }


def test_a_wrong_value_is_seen(forked: launch.Launcher) -> None:
    wrong = probe(
        "wrong", "torch.cumsum(x, 0) if x.dtype == torch.float64 else x", inputs={"x": "wide(4096)"}
    )
    assert readings(forked, job([wrong]))["wrong"].reference.error > 0.1


def test_a_ladder_is_left_at_the_first_rung_that_varies(forked: launch.Launcher) -> None:
    climbing = probe("climbing", "torch.rand(1) if n == 2 else torch.ones(1)", reference=False)
    climbing = msgspec.structs.replace(climbing, rungs=[{"n": 1}, {"n": 2}, {"n": 3}])
    found = readings(forked, job([climbing]))["climbing"]
    assert found.rung == {"n": 2}
    assert len(found.digests) > 1


def test_a_slow_op_gets_fewer_calls(forked: launch.Launcher) -> None:
    slow = probe("slow", "__import__('time').sleep(0.2) or torch.ones(1)", reference=False)
    assert readings(forked, job([slow], repeats=100, budget=0.5, proofs=False))["slow"].repeats == 4


def test_a_process_that_is_short_of_time_calls_every_op_a_few_times(
    forked: launch.Launcher,
) -> None:
    call = "__import__('time').sleep(0.02) or torch.ones(1)"
    several = [probe(f"slow-{number}", call, reference=False) for number in range(20)]
    asked = job(several, repeats=1000, budget=60.0, limit=120.0, proofs=False, seconds=0.1)
    found = readings(forked, asked)
    assert len(found) == 20
    assert all(12 <= reading.repeats < 1000 for reading in found.values())


def test_stopping_ends_the_process_at_once(torch: launch.Launcher) -> None:
    stopped = threading.Event()
    others = set(children(os.getpid()))
    forever = job([probe("hang", "__import__('time').sleep(1e6)")], limit=1e6)
    events = launch.events(torch, forever, stopped)
    assert any(isinstance(event, ProbeStart) for event in events)
    workers = set(children(os.getpid())) - others
    assert workers
    stopped.set()
    with pytest.raises(KeyboardInterrupt):
        next(events)
    assert not any(os.path.exists(f"/proc/{each}") for each in workers)


@pytest.mark.parametrize("name", ["tensorflow-2.21.0", "jax-0.10.2"])
def test_tensorflow_and_jax_are_probed_as_well(name: str) -> None:
    framework = name.partition("-")[0]
    launcher = launch.interpreter(python_with(name))
    chosen = pick(catalogue.probes(framework), "cpu", None)
    found = readings(
        launcher,
        job(
            [each.exercise(each.probe.ladder[:1]) for each in chosen],
            framework,
            repeats=4,
            budget=0.05,
        ),
    )
    assert {key for key, each in found.items() if not each.ran} == set()
    assert {
        key for key, each in found.items() if each.moved is False or each.control not in (None, 1)
    } == set()
    errors = [each.reference.error for each in found.values() if each.reference]
    assert len(errors) >= 15
    assert max(errors) < 1e-3


@pytest.mark.parametrize("name", ["torch-1.0.0", "torch-1.7.1", "torch-1.12.1"])
def test_old_releases_are_probed_as_well(name: str) -> None:
    launcher = launch.interpreter(python_with(name))
    chosen = pick(catalogue.probes("torch"), "cpu", None, quick=True)
    found = readings(
        launcher,
        job([each.exercise(each.probe.ladder[:1]) for each in chosen], repeats=4, budget=0.05),
    )
    ran = [each for each in found.values() if each.ran]
    assert len(ran) >= 40
    assert not [each.failed for each in found.values() if each.failed]
