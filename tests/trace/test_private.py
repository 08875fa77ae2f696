"""What a recording does not hold: secrets; and who can read it."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest
from recorded import PROGRAMS, torch_python

from d9m.trace import folder
from d9m.trace.inject._d9m_recorder.core.private import masked, masked_variable
from d9m.trace.start import RecordingRequest, ZoomCall, start
from process import d9m

PLANTED = [f"planted{number}x" for number in range(11)]
SHELL = (
    f"SERVICE_TOKEN={PLANTED[4]} exec '{{}}' '{PROGRAMS / 'small.py'}' '' --token={PLANTED[0]} "
    f"--api-key {PLANTED[1]} db.password={PLANTED[2]} https://user:{PLANTED[3]}@example.org/x"
)
VARIABLES = {
    "TORCH_SECRET": PLANTED[5],
    "CUDA_X_PASSWORD": PLANTED[6],
    "NCCL_AUTH": PLANTED[7],
    "HF_TOKEN": PLANTED[8],
    "TF_CONFIG": PLANTED[9],
    "XLA_FLAGS": f"--xla_dump_key={PLANTED[10]} --xla_cpu_enable_fast_math=false",
}
FORMATS = ("text", "json", "html", "markdown", "junit")


@pytest.mark.parametrize(
    "shown",
    [
        "--token ***", "--token=***", "-token ***", "--api-key ***", "--hf.token=***",
        "--db_password ***", "--passwd=***", "--apiKey=***", "--APIKEY=***", "--authToken ***",
        "--credentials=***", "TOKEN=***", "env HF_TOKEN=*** python", "+trainer.token=***",
        "PGPASSWORD=***", "--auth ***", "--secret2 ***", "--tokens ***", "--token-file ***",
        "https://***@example.org/x", "postgres://***@example.org/x",
        "http://x?token=***", "--token *** --lr 0.1", "--use-auth=***",
    ],
)  # fmt: skip
def test_values_of_secrets_are_masked(shown: str) -> None:
    for value in ("hf_planted", "user:planted", "12planted", "planted,'more"):
        typed = shown.replace("***", value).split(" ")
        assert masked(typed) == shown.split(" ")


@pytest.mark.parametrize(
    ("typed", "shown"),
    [
        ("TOKEN=abc python t.py --lr 0.1", "TOKEN=*** python t.py --lr 0.1"),
        ("python t.py --token 'a b' --lr 0.1", "python t.py --token *** --lr 0.1"),
        ("login(token='hf x'); train()", "login(token=*** train()"),
        ("os.environ['HF_TOKEN'] = 'hf x'", "os.environ['HF_TOKEN'] = ***"),
        ('{"api_key": "a b", "lr": 1}', '{"api_key": *** "lr": 1}'),
        ("curl -H Authorization: Bearer abc x", "curl -H Authorization: *** x"),
        ("python t.py --flag TOKEN=abc", "python t.py --flag TOKEN=***"),
    ],
)
def test_a_secret_within_a_shell_string_is_masked(typed: str, shown: str) -> None:
    assert masked(["sh", "-c", typed]) == ["sh", "-c", shown]


def test_a_value_with_spaces_is_masked_to_its_end() -> None:
    assert masked(["--password=a b", "DB_PASSWORD=a b"]) == ["--password=***", "DB_PASSWORD=***"]


@pytest.mark.parametrize(
    "harmless",
    [
        "--tokenizer gpt2", "--tokenizer=gpt2", "--monkey 3", "--key-frames 3", "--num-tokens 8",
        "--max_tokens=512", "--token-dropout 0.1", "--keyboard us", "--author me", "-p x",
        "--seed 1 --lr 1e-3", "--use-auth --lr 0.1", "data.tokenizer.path=x", "a@b.org",
        "python -c print(1)", "--passes 3", "https://example.org/a?b=1",
    ],
)  # fmt: skip
def test_harmless_options_are_left(harmless: str) -> None:
    assert masked(harmless.split(" ")) == harmless.split(" ")


def test_a_long_command_line_is_masked_in_no_time() -> None:
    for part in ("-a", "a=", "--key ", "'\"", "a:", " ", "token='", "a.-_"):
        masked([part * 50_000])


def test_a_list_variable_is_masked_by_the_same_rule() -> None:
    assert masked_variable("XLA_FLAGS", "--a=1 --b_key=x --c=2") == "--a=1 --b_key=*** --c=2"
    assert masked_variable("CUBLAS_WORKSPACE_CONFIG", ":4096:8") == ":4096:8"


def files(path: Path) -> list[Path]:
    return [path, *path.rglob("*")]


def modes(path: Path) -> set[tuple[bool, int]]:
    return {(each.is_dir(), stat.S_IMODE(each.stat().st_mode)) for each in files(path)}


PRIVATE = {(True, 0o700), (False, 0o600)}


@pytest.fixture
def usual_umask() -> Iterator[None]:
    before = os.umask(0o022)
    yield
    os.umask(before)


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """Two recordings of a program with eleven secrets."""
    path = tmp_path_factory.mktemp("planted")
    for name, value in (("a", "1"), ("b", "2")):
        command = ["sh", "-c", SHELL.format(torch_python())]
        options = ["--level", "op", "-o", str(path / name)]
        done = d9m("trace", *options, "--", *command, **VARIABLES, OMP_NUM_THREADS=value)
        assert done.returncode == 0, done.stderr
    return [str(path / "a"), str(path / "b")]


def planted(text: str) -> list[str]:
    return [secret for secret in PLANTED if secret in text]


def test_no_file_of_a_recording_holds_a_planted_secret(runs: list[str]) -> None:
    found = files(Path(runs[0]))
    stored = "".join(file.read_text() for file in found if file.is_file())
    assert planted(stored) == []
    assert "--xla_cpu_enable_fast_math=false" in stored, "a variable that the records know"


@pytest.mark.parametrize("format_", FORMATS)
def test_no_report_holds_a_planted_secret(runs: list[str], format_: str) -> None:
    done = d9m("diff", "-v", "--format", format_, *runs)
    assert done.returncode in (0, 1), done.stderr
    assert planted(done.stdout) == []


def test_what_a_recording_shows_holds_no_planted_secret(runs: list[str]) -> None:
    shown = d9m("trace", "--show", runs[0]).stdout
    assert planted(shown) == []
    assert "--token=***" in shown


def test_a_recording_is_private(runs: list[str]) -> None:
    assert modes(Path(runs[0])) == PRIVATE


def test_the_program_gets_its_true_arguments(tmp_path: Path) -> None:
    code = "import sys; print(sys.argv)"
    command = [torch_python(), "-c", code, "--token", PLANTED[0]]
    assert PLANTED[0] in d9m("trace", "-o", str(tmp_path / "run"), "--", *command).stdout


@pytest.mark.nightly
def test_a_hunt_prints_no_planted_secret(tmp_path: Path, usual_umask: None) -> None:
    command = [torch_python(), str(PROGRAMS / "small.py"), "", "--token", PLANTED[0]]
    options = ["--runs", "2", "--keep", str(tmp_path / "kept"), "--before", "true --key planted1x"]
    done = d9m("hunt", *options, "--", *command)
    assert planted(done.stdout) == []
    assert modes(tmp_path / "kept") == PRIVATE


def test_saved_values_are_private(tmp_path: Path, usual_umask: None) -> None:
    calls = (ZoomCall(0, "aten::sort", "stable", "fwd", "", "", 0),)
    program = [torch_python(), str(PROGRAMS / "zoomed.py")]
    start(program, tmp_path / "run", RecordingRequest(level="op", zoom=calls))
    assert (tmp_path / "run" / "zoom" / "0" / "call.json").exists()
    assert modes(tmp_path / "run") == PRIVATE


def test_an_empty_folder_that_was_there_becomes_private(tmp_path: Path, usual_umask: None) -> None:
    path = tmp_path / "run"
    path.mkdir()
    folder.make(path, folder.begun(["python"], "step"))
    assert modes(path) == PRIVATE
