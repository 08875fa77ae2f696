"""`d9m run` over whole programs: what is set, seen and reported, and whose exit code it has."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

FAKE_TORCH = """
import sys, types
on = [False, False]
__version__ = "1.8.0"
class C: pass
_C = C()
def _set(mode): on[0] = mode
_C._set_deterministic_algorithms = _set
def use_deterministic_algorithms(mode): _C._set_deterministic_algorithms(mode)
def are_deterministic_algorithms_enabled(): return on[0]
def manual_seed(seed): print("seeded", seed)
"""


def python(version: str) -> str:
    found = sorted(Path.home().glob(f".pyenv/versions/{version}.*/bin/python"))
    if not found:
        pytest.skip(f"Python {version} is not here")
    return str(found[0])


@pytest.fixture
def fake(tmp_path: Path) -> dict[str, str]:
    """The environment of a PyTorch 1.8 that only notes what is called."""
    place = tmp_path / "packages"
    (place / "torch").mkdir(parents=True)
    (place / "torch" / "__init__.py").write_text(FAKE_TORCH)
    about = place / "torch-1.8.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: torch\nVersion: 1.8.0\n")
    own = {name: value for name, value in os.environ.items() if name != "PYTHONHASHSEED"}
    return {**own, "PYTHONPATH": str(place), "D9M_TEST_ROOT": str(ROOT / "resolver")}


def run(
    *words: str, env: dict[str, str], cwd: Path | None = None
) -> subprocess.CompletedProcess[str]:
    code = "import sys; sys.path.insert(0, sys.argv.pop(1)); from d9m.__main__ import main; main()"
    return subprocess.run(
        [sys.executable, "-c", code, str(ROOT / "resolver"), "run", *words],
        env=env, cwd=cwd, capture_output=True, text=True, check=False, timeout=120,
    )  # fmt: skip


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
    code = "import sys; sys.path.insert(0, sys.argv.pop(1)); from d9m.__main__ import main; main()"
    inner = [sys.executable, "-c", code, str(ROOT / "resolver"), "run", "--"]
    done = run("--", *inner, sys.executable, "-c", "import torch; exit(3)", env=fake)
    assert done.returncode == 3
    assert done.stderr.count("d9m run:") == 1


@pytest.mark.parametrize(
    ("words", "variables", "code"),
    [
        (["--", "no-such-program"], {}, 2),
        ([], {}, 2),
        (["--scope", "moon", "--", "python"], {}, 2),
        (["--", sys.executable, "-c", "1"], {"PYTHONHASHSEED": "random"}, 2),
    ],
)
def test_what_is_not_started_says_so_in_the_last_line(
    words: list[str], variables: dict[str, str], code: int, fake: dict[str, str]
) -> None:
    done = run(*words, env=fake | variables)
    assert (done.returncode, done.stdout) == (code, "")
    assert done.stderr.splitlines()[-1].startswith("d9m run: not started: ")


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


def test_a_signal_reaches_the_program(fake: dict[str, str]) -> None:
    code = "import sys; sys.path.insert(0, sys.argv.pop(1)); from d9m.__main__ import main; main()"
    text = "import time; print('up', flush=True); time.sleep(60)"
    words = [sys.executable, "-c", code, str(ROOT / "resolver"), "run", "--"]
    with subprocess.Popen(
        [*words, sys.executable, "-c", text], env=fake, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:  # fmt: skip
        assert process.stdout is not None
        assert process.stdout.readline() == b"up\n"
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=60)
    assert process.returncode == 128 + signal.SIGTERM
