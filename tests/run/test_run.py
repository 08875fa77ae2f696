"""`d9m run` over whole programs: what is set, seen and reported, and whose exit code it has."""

from __future__ import annotations

import ast
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from started import COMMAND, installed, python, records, run

FAKE_TORCH = """
import sys, types
on = [False, False]
class C: pass
_C = C()
def _set(mode): on[0] = mode
_C._set_deterministic_algorithms = _set
def use_deterministic_algorithms(mode): _C._set_deterministic_algorithms(mode)
def are_deterministic_algorithms_enabled(): return on[0]
def manual_seed(seed): print("seeded", seed)
"""


@pytest.fixture
def fake(tmp_path: Path) -> dict[str, str]:
    """The environment of a PyTorch 1.8 that only notes what is called."""
    place = installed(tmp_path / "packages", "torch", "1.8.0", FAKE_TORCH)
    own = {name: value for name, value in os.environ.items() if name != "PYTHONHASHSEED"}
    return {**own, "PYTHONPATH": str(place), "D9M_KB": str(records())}


@pytest.mark.parametrize("version", ["3.6", "3.7", "3.8", "3.13"])
def test_run_sets_an_old_release_on_the_pythons_of_its_time(
    version: str, fake: dict[str, str]
) -> None:
    text = "import os, torch; print(torch.on[0], os.environ['PYTHONHASHSEED'])"
    done = run("--", python(version), "-c", text, env=fake)
    assert (done.stdout, done.returncode) == ("True 0\n", 0), done.stderr
    assert "torch.use_deterministic_algorithms(True)" in done.stderr
    assert len(done.stderr.splitlines()) <= 12


def test_run_names_the_line_that_undoes_a_setting(fake: dict[str, str], tmp_path: Path) -> None:
    program = tmp_path / "train.py"
    program.write_text(
        "import os\nimport torch\n\ntorch.use_deterministic_algorithms(False)\n"
        "os.environ['PYTHONHASHSEED'] = 'random'\n"
    )
    words = ["--strict", "--format", "json", "--", sys.executable, "train.py"]
    done = run(*words, env=fake, cwd=tmp_path)
    found = json.loads(done.stderr)
    assert done.returncode == found["exit"] == 1
    undone = {each["name"]: each["places"][0].rpartition("/")[2] for each in found["undone"]}
    assert undone == {
        "torch.use_deterministic_algorithms": "train.py:4",
        "PYTHONHASHSEED": "train.py:5",
    }


def test_run_seeds_only_when_asked(fake: dict[str, str]) -> None:
    words = ["--", sys.executable, "-c", "import torch"]
    assert run(*words, env=fake).stdout == ""
    assert run("--seed", "5", *words, env=fake).stdout == "seeded 5\n"


@pytest.mark.parametrize("flags", [["-E"], ["-I"]])
def test_run_exits_4_where_no_process_was_reached(flags: list[str], fake: dict[str, str]) -> None:
    done = run("--", sys.executable, *flags, "-c", "print(1)", env=fake)
    assert (done.stdout, done.returncode) == ("1\n", 4)
    assert run("--", sys.executable, *flags, "-c", "exit(9)", env=fake).returncode == 9


def test_run_exits_4_under_an_empty_environment(fake: dict[str, str]) -> None:
    done = run("--", "env", "-i", sys.executable, "-c", "print(1)", env=fake)
    assert (done.stdout, done.returncode) == ("1\n", 4)


def test_a_killed_process_counts_as_reached(fake: dict[str, str]) -> None:
    text = "import os, signal; os.kill(os.getpid(), signal.SIGKILL)"
    done = run("--format", "json", "--", sys.executable, "-c", text, env=fake)
    assert done.returncode == 128 + signal.SIGKILL
    found = json.loads(done.stderr)
    assert [each["ended"] for each in found["processes"]] == [False]
    assert found["unreached"] == []


@pytest.mark.parametrize("start", ["fork", "spawn"])
def test_run_reaches_workers(start: str, fake: dict[str, str], tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(
        "import multiprocessing, torch\n"
        "def work(_):\n    import torch\n    return torch.on[0]\n"
        "if __name__ == '__main__':\n"
        f"    with multiprocessing.get_context('{start}').Pool(2) as pool:\n"
        "        print(pool.map(work, range(4)))\n"
    )
    done = run("--", sys.executable, "train.py", env=fake, cwd=tmp_path)
    assert done.stdout == "[True, True, True, True]\n", done.stderr


def test_a_grandchild_finds_only_the_settings_and_one_variable_more(fake: dict[str, str]) -> None:
    inner = "import os, json; print(json.dumps(dict(os.environ)))"
    text = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {inner!r}])"
    plain = subprocess.run(
        [sys.executable, "-c", text], env=fake, capture_output=True, text=True, check=True
    )
    before, after = json.loads(plain.stdout), json.loads(
        run("--", sys.executable, "-c", text, env=fake).stdout
    )  # fmt: skip
    assert after.keys() - before.keys() == {"D9M_RUN", "PYTHONHASHSEED"}
    folder, rest = after["PYTHONPATH"].split(os.pathsep, 1)
    assert (Path(folder).name, rest) == ("hook", before["PYTHONPATH"])


def test_run_inside_run_joins_the_outer_one(fake: dict[str, str]) -> None:
    done = run("--", *COMMAND, "--", sys.executable, "-c", "import torch; exit(3)", env=fake)
    assert done.returncode == 3
    assert done.stderr.count("d9m run:") == 1


@pytest.mark.parametrize(
    ("words", "variables", "code"),
    [
        (["--", "no-such-program"], {}, 2),
        ([], {}, 2),
        (["--scope", "moon", "--", "python"], {}, 2),
        (["--bogus", "--", "python"], {}, 2),
        (["--seed", "x", "--", "python"], {}, 2),
        (["--fast", "--", sys.executable, "-c", "1"], {"PYTHONPATH": ""}, 2),
        (["-o", "/no/such/folder/report", "--", sys.executable, "-c", "1"], {}, 2),
        (["--", sys.executable, "-c", "1"], {"PYTHONHASHSEED": "random"}, 2),
        (["--", sys.executable, "-c", "1"], {"CUBLAS_WORKSPACE_CONFIG": "4096:8"}, 2),
    ],
)
def test_what_is_not_started_says_so_in_the_last_line(
    words: list[str], variables: dict[str, str], code: int, fake: dict[str, str]
) -> None:
    done = run(*words, env=fake | variables)
    assert (done.returncode, done.stdout) == (code, "")
    assert done.stderr.splitlines()[-1].startswith("d9m run: not started: ")


def test_a_file_that_is_not_executable_is_called_so(fake: dict[str, str], tmp_path: Path) -> None:
    (tmp_path / "train.sh").write_text("python train.py\n")
    for name in ("./train.sh", str(tmp_path)):
        done = run("--", name, env=fake, cwd=tmp_path)
        assert done.returncode == 2
        assert f"{name!r} cannot be run: it is not executable" in done.stderr


def test_run_names_a_variable_that_is_misspelt(fake: dict[str, str]) -> None:
    words = ["--", sys.executable, "-c", "1"]
    done = run(*words, env=fake | {"PYTHONHASHSED": "3"})
    assert done.returncode == 0
    assert "left      PYTHONHASHSED (nothing reads this name; PYTHONHASHSEED was meant)" in (
        done.stderr
    )
    assert run("--strict", *words, env=fake | {"PYTHONHASHSED": "3"}).returncode == 1


def test_a_program_that_starts_no_python_exits_4(fake: dict[str, str]) -> None:
    done = run("--", "sh", "-c", "echo hi", env=fake)
    assert (done.stdout, done.returncode) == ("hi\n", 4)
    assert "a program that starts no Python has none" in done.stderr


def test_run_says_where_no_framework_was_found(fake: dict[str, str]) -> None:
    done = run("--", sys.executable, "-c", "1", env=fake | {"PYTHONPATH": ""})
    assert done.stderr.startswith("d9m run: no framework · ")


def test_run_keeps_a_value_that_will_do_and_overrides_on_request(fake: dict[str, str]) -> None:
    words = ["--", sys.executable, "-c", "import os; print(os.environ['PYTHONHASHSEED'])"]
    done = run(*words, env=fake | {"PYTHONHASHSEED": "7"})
    assert done.stdout == "7\n"
    assert "PYTHONHASHSEED=7 (yours)" in done.stderr
    done = run("--override", *words, env=fake | {"PYTHONHASHSEED": "random"})
    assert (done.stdout, done.returncode) == ("0\n", 0)


def test_explain_only_starts_nothing(fake: dict[str, str], tmp_path: Path) -> None:
    words = ["--explain-only", "--", sys.executable, "-c", "open('ran', 'w')"]
    done = run(*words, env=fake, cwd=tmp_path)
    assert "export PYTHONHASHSEED=0" in done.stdout
    assert "# after import torch: torch.use_deterministic_algorithms(True)" in done.stdout
    assert not (tmp_path / "ran").exists()


def test_the_sitecustomize_of_the_user_runs_and_may_fail(
    fake: dict[str, str], tmp_path: Path
) -> None:
    (tmp_path / "packages" / "sitecustomize.py").write_text("print('mine')\nraise ValueError\n")
    done = run("--", sys.executable, "-c", "import torch; print(torch.on[0])", env=fake)
    assert (done.stdout.splitlines()[-2:], done.returncode) == (["mine", "True"], 0)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_signal_reaches_the_program(number: signal.Signals, fake: dict[str, str]) -> None:
    text = "import time; print('up', flush=True); time.sleep(60)"
    with subprocess.Popen(
        [*COMMAND, "--", sys.executable, "-c", text], env=fake, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:  # fmt: skip
        assert process.stdout is not None
        assert process.stdout.readline() == b"up\n"
        process.send_signal(number)
        process.communicate(timeout=60)
    assert process.returncode == 128 + number


NO_FOLDER = "import tempfile; tempfile.tempdir = '/proc'; "


def test_a_folder_that_cannot_be_written_is_a_program_that_was_not_started(
    fake: dict[str, str],
) -> None:
    done = run("--", sys.executable, "-c", "print(1)", env=fake, before=NO_FOLDER)
    assert (done.stdout, done.returncode) == ("", 2)
    assert done.stderr.startswith("d9m run: not started: the system refuses: ")
    assert len(done.stderr.splitlines()) == 1


def test_a_report_that_cannot_be_written_is_an_error_and_goes_to_stderr(
    fake: dict[str, str],
) -> None:
    words = ["-o", "/dev/full", "--", sys.executable, "-c"]
    done = run(*words, "print(1)", env=fake)
    assert (done.stdout, done.returncode) == ("1\n", 2)
    lines = done.stderr.splitlines()
    assert "PYTHONHASHSEED=0" in lines[1]
    assert lines[-1] == "d9m run: cannot write '/dev/full': No space left on device"
    assert run(*words, "exit(9)", env=fake).returncode == 9


@pytest.mark.parametrize("closed", ["2>&-", "2>/dev/full", "2>&- >&- <&-"])
def test_run_keeps_the_exit_code_without_a_usable_stderr(closed: str, fake: dict[str, str]) -> None:
    words = [*COMMAND, "--", sys.executable, "-c", "exit(9)"]
    done = subprocess.run(
        ["sh", "-c", f'"$@" {closed}', "sh", *words], env=fake, check=False, capture_output=True
    )
    assert done.returncode == 9


def test_the_first_line_names_the_op_that_ended_the_program(
    fake: dict[str, str], tmp_path: Path
) -> None:
    text = (
        "max_unpooling2d_forward_out does not have a deterministic implementation, but you set "
        "'torch.use_deterministic_algorithms(True)'"
    )
    (tmp_path / "train.py").write_text(f"import torch\n\nraise RuntimeError({text!r})\n")
    done = run("--", sys.executable, "train.py", env=fake, cwd=tmp_path)
    line = next(each for each in done.stderr.splitlines() if each.startswith("d9m run:"))
    assert line.startswith("d9m run: ended by a refused op at train.py:3: torch.nn.functional.max_")
    assert "Workaround: " in line
    assert done.returncode == 1


def test_warnings_of_refused_ops_are_collected_on_request(
    fake: dict[str, str], tmp_path: Path
) -> None:
    text = "put_ does not have a deterministic implementation, but you set 'warn_only=True'"
    (tmp_path / "train.py").write_text(
        f"import warnings\nwarnings.warn({text!r})\nwarnings.warn('mine')\n"
    )
    words = ["--on-refusal", "warn", "--strict", "--", sys.executable, "train.py"]
    done = run(*words, env=fake, cwd=tmp_path)
    assert done.returncode == 1
    assert "train.py:3: UserWarning: mine" in done.stderr
    assert "UserWarning: put_" not in done.stderr
    assert "(no deterministic version, called at train.py:2)" in done.stderr


@pytest.mark.parametrize(("value", "code"), [("random", 1), ("7", 0)])
def test_run_reports_a_value_that_the_command_replaced(
    value: str, code: int, fake: dict[str, str]
) -> None:
    words = ["--strict", "--", "env", f"PYTHONHASHSEED={value}", sys.executable, "-c", "1"]
    done = run(*words, env=fake)
    assert done.returncode == code
    undone, kept = "PYTHONHASHSEED=random before Python started", "PYTHONHASHSEED=7 (of the command"
    assert (undone if code else kept) in done.stderr


def test_strict_exits_1_where_a_process_was_killed(fake: dict[str, str]) -> None:
    inner = "import os; os.kill(os.getpid(), 9)"
    text = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {inner!r}])"
    words = ["--", sys.executable, "-c", text]
    assert run(*words, env=fake).returncode == 0
    done = run("--strict", *words, env=fake)
    assert done.returncode == 1
    assert "  no end    process " in done.stderr


@pytest.mark.parametrize("start", ["fork", "spawn", "forkserver"])
def test_strict_takes_the_end_of_workers_for_an_end(
    start: str, fake: dict[str, str], tmp_path: Path
) -> None:
    (tmp_path / "train.py").write_text(
        "import multiprocessing, torch\n"
        "if __name__ == '__main__':\n"
        f"    here = multiprocessing.get_context('{start}')\n"
        "    with here.Pool(2) as pool:\n        pool.map(abs, range(4))\n"
        "    alone = here.Process(target=abs, args=(1,))\n"
        "    alone.start()\n    alone.join()\n"
    )
    done = run("--strict", "--", sys.executable, "train.py", env=fake, cwd=tmp_path)
    assert done.returncode == 0, done.stderr


def test_run_names_the_helper_that_overwrites_a_setting(
    fake: dict[str, str], tmp_path: Path
) -> None:
    place = tmp_path / "site-packages"
    place.mkdir()
    (place / "helper.py").write_text(
        "import os, torch\n\ndef seed_everything():\n"
        "    torch.use_deterministic_algorithms(False)\n    del os.environ['PYTHONHASHSEED']\n"
    )
    (tmp_path / "train.py").write_text("import helper\nhelper.seed_everything()\n")
    env = fake | {"PYTHONPATH": f"{fake['PYTHONPATH']}{os.pathsep}{place}"}
    done = run("--", sys.executable, "train.py", env=env, cwd=tmp_path)
    lines = [each for each in done.stderr.splitlines() if each.startswith("  undone")]
    assert [each.rpartition(" at ")[2] for each in lines] == [
        "site-packages/helper.py:4, called from train.py:2",
        "site-packages/helper.py:5, called from train.py:2",
    ], done.stderr


def test_a_setter_goes_on_in_a_folder_that_was_deleted(
    fake: dict[str, str], tmp_path: Path
) -> None:
    text = (
        "import os, torch; os.mkdir('gone'); os.chdir('gone'); os.rmdir('../gone')\n"
        "torch.use_deterministic_algorithms(False); print(torch.on[0])"
    )
    done = run("--", sys.executable, "-c", text, env=fake, cwd=tmp_path)
    assert (done.stdout, done.returncode) == ("False\n", 0)


def test_a_framework_of_another_python_is_named_as_left(
    fake: dict[str, str], tmp_path: Path
) -> None:
    (tmp_path / "jax.py").write_text("")
    done = run("--strict", "--", sys.executable, "-c", "import jax", env=fake, cwd=tmp_path)
    assert "  left      jax (imported by a Python that was not looked at" in done.stderr
    assert done.returncode == 1


def test_a_python_without_site_counts_as_not_reached(fake: dict[str, str]) -> None:
    done = run("--", sys.executable, "-S", "-c", "print(1)", env=fake)
    assert (done.stdout, done.returncode) == ("1\n", 4)
    assert "  unreached no Python process of the program: python -E, " in done.stderr


def test_python_2_is_no_python_to_start(fake: dict[str, str]) -> None:
    done = run("--", python("2.7"), "-c", "print(1)", env=fake)
    assert (done.stdout, done.returncode) == ("", 4)
    assert done.stderr.startswith("d9m run: not started: ")


def test_the_hook_can_be_read_by_python_3_5() -> None:
    hook = Path(__file__).parents[2] / "resolver" / "d9m" / "run" / "hook"
    for file in hook.glob("*.py"):
        ast.parse(file.read_text("utf-8"), feature_version=(3, 5))


def test_run_inside_run_says_whose_options_apply(fake: dict[str, str]) -> None:
    inner = [*COMMAND, "--seed", "1", "--", sys.executable, "-c", "1"]
    done = run("--", *inner, env=fake)
    assert "d9m run: inside another d9m run, whose options apply\n" in done.stderr


def test_a_second_run_needs_something_to_compare(fake: dict[str, str]) -> None:
    words = ["--twice", "--format", "json", "--", sys.executable, "-c"]
    found = json.loads(run(*words, "print(1)", env=fake).stderr)
    assert (found["twice"]["equal"], found["exit"]) == (None, 0)
    assert run("--strict", *words, "print(1)", env=fake).returncode == 1
    done = run(*words, "import sys; print(repr(sys.stdin.read())); exit(3)", env=fake)
    assert (done.stdout, done.returncode) == ("''\n", 3)
    assert "the first run ended with 3" in done.stderr
