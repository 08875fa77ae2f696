"""stdout is the answer and stderr the talk, whatever stands at their other ends."""

from __future__ import annotations

import io
import json
import os
import pty
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from d9m.cli import output
from process import COMMAND, LONGEST, d9m, environment

QUESTION = ("advise", "--tf", "2.0", "--ops", "conv,bias_add")
FORMATS = ("text", "json", "env", "python", "dockerfile", "slurm", "markdown", "megatron")
STYLE = re.compile(r"\x1b\[[0-9;]*m")


@pytest.mark.parametrize(
    "arguments", [("list", "sources"), (*QUESTION, "--format", "json"), ("show", "torch")]
)
def test_a_reader_that_leaves_early_sees_no_error(arguments: tuple[str, ...]) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    try:
        done = subprocess.run(
            [*COMMAND, *arguments],
            stdout=writing,
            stderr=subprocess.PIPE,
            env=environment(),
            check=False,
            timeout=LONGEST,
        )
    finally:
        os.close(writing)
    assert (done.returncode, done.stderr) == (0, b"")


@pytest.mark.parametrize(
    ("arguments", "closed", "said"),
    [
        (QUESTION, ">&-", "cannot write the answer"),
        (("explain",), "<&-", "no text was given"),
    ],
)
def test_a_stream_that_is_closed_is_an_error_of_a_line(
    arguments: tuple[str, ...], closed: str, said: str
) -> None:
    done = subprocess.run(
        ["bash", "-c", f'exec "$@" {closed}', "closed", *COMMAND, *arguments],
        capture_output=True, text=True,
        env=environment(), check=False, timeout=LONGEST,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"d9m: {said}")
    assert "Traceback" not in done.stderr


def test_the_exit_code_is_the_answers_even_if_stdout_is_closed() -> None:
    reading, writing = os.pipe()
    os.close(reading)
    question = [*COMMAND, "advise", "--torch", "2.4", "--ops", "cumsum"]
    done = subprocess.run(
        question,
        stdout=writing,
        stderr=subprocess.PIPE,
        env=environment(),
        check=False,
        timeout=LONGEST,
    )
    os.close(writing)
    assert (done.returncode, done.stderr) == (1, b"")


def test_head_may_cut_a_long_list() -> None:
    command = f"set -o pipefail; {' '.join(COMMAND)} list ops | head -1"
    done = subprocess.run(
        ["bash", "-c", command],
        capture_output=True,
        text=True,
        env=environment(),
        check=False,
        timeout=LONGEST,
    )
    assert (done.returncode, done.stdout.split()[0], done.stderr) == (0, "ops", "")


def test_ctrl_c_ends_quietly_with_130() -> None:
    waiting = subprocess.Popen(
        [*COMMAND, *QUESTION[:-1], "-"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment(),
    )  # fmt: skip
    with waiting:
        _until_it_sleeps(waiting.pid)
        waiting.send_signal(signal.SIGINT)
        stdout, stderr = waiting.communicate(timeout=LONGEST)
    assert (waiting.returncode, stdout) == (130, b"")
    assert b"Traceback" not in stderr


def _until_it_sleeps(pid: int) -> None:
    """Wait for a process to wait for its input."""
    quiet = 0
    for _attempt in range(100 * LONGEST):
        time.sleep(0.01)
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        quiet = quiet + 1 if state == "S" else 0
        if quiet == 20:
            return
    raise AssertionError("it never waits")


@pytest.mark.parametrize("format_", FORMATS)
def test_a_file_gets_what_stdout_would_get(tmp_path: Path, format_: str) -> None:
    def without_command(text: str) -> list[str]:
        return [line for line in text.splitlines() if "d9m advise" not in line]

    shown = d9m(*QUESTION, "--format", format_)
    written = d9m(*QUESTION, "--format", format_, "-o", "answer", "--color", "always", cwd=tmp_path)
    assert (written.returncode, written.stdout, written.stderr) == (0, "", "")
    assert without_command((tmp_path / "answer").read_text(encoding="utf-8")) == without_command(
        shown.stdout
    )
    assert [each.name for each in tmp_path.iterdir()] == ["answer"]


def test_what_a_configuration_cannot_hold_is_told_beside_it(tmp_path: Path) -> None:
    question = (
        "advise",
        "--with",
        "clara-train=3.1",
        "--with",
        "horovod=0.19",
        "--format",
        "clara",
        "-o",
        "answer",
    )
    done = d9m(*question, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (0, "")
    assert list(json.loads((tmp_path / "answer").read_text(encoding="utf-8"))) == ["determinism"]
    assert "d9m: not in this format: export HOROVOD_FUSION_THRESHOLD=0" in done.stderr.splitlines()


def test_a_configuration_that_would_say_nothing_is_refused(tmp_path: Path) -> None:
    done = d9m(*QUESTION, "--format", "clara", "-o", "answer", cwd=tmp_path)
    assert (done.returncode, list(tmp_path.iterdir())) == (2, [])
    assert done.stderr.startswith(
        "d9m: nothing of this advice belongs in a Clara Train configuration\n"
    )


def test_a_file_is_written_whole_or_stays_as_it_was(tmp_path: Path) -> None:
    (tmp_path / "answer").write_text("before")
    (tmp_path / "folder").mkdir()
    for arguments in ((*QUESTION[:-1], "no_such_op", "-o", "answer"), (*QUESTION, "-o", "folder")):
        done = d9m(*arguments, cwd=tmp_path)
        assert (done.returncode, done.stdout) == (2, "")
    assert (tmp_path / "answer").read_text() == "before"
    assert sorted(each.name for each in tmp_path.iterdir()) == ["answer", "folder"]


@pytest.mark.parametrize("name", ["", ".", "/", "no-such-folder/answer", "x" * 300])
def test_a_file_that_cannot_be_written_is_named(tmp_path: Path, name: str) -> None:
    done = d9m(*QUESTION, "-o", name, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("d9m: cannot write ")
    assert list(tmp_path.iterdir()) == []


def test_a_link_stays_a_link_and_a_device_a_device(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("target")
    (tmp_path / "target").write_text("before")
    os.mkfifo(tmp_path / "pipe")
    assert d9m(*QUESTION, "-o", "link", cwd=tmp_path).returncode == 0
    assert (tmp_path / "link").is_symlink()
    assert (
        (tmp_path / "target")
        .read_text(encoding="utf-8")
        .startswith("Both ops are deterministic with tfdeterminism.patch (TDP).")
    )
    reader = subprocess.Popen(["cat", str(tmp_path / "pipe")], stdout=subprocess.PIPE)
    assert d9m(*QUESTION, "-o", "pipe", cwd=tmp_path).returncode == 0
    assert reader.communicate(timeout=LONGEST)[0].startswith(b"Both ops are deterministic")
    assert (tmp_path / "pipe").is_fifo()


def test_a_full_disk_is_an_error_not_a_traceback() -> None:
    if not Path("/dev/full").exists():
        pytest.skip("this system has no /dev/full")
    with open("/dev/full", "wb") as full:
        done = subprocess.run(
            [*COMMAND, *QUESTION],
            stdout=full,
            stderr=subprocess.PIPE,
            env=environment(),
            check=False,
            timeout=LONGEST,
        )
    assert done.returncode == 2
    assert done.stderr == b"d9m: cannot write the answer: No space left on device\n"


def _on_a_terminal(*arguments: str, **variables: str) -> str:
    """What `d9m` shows on a terminal."""
    ours, its = pty.openpty()
    process = subprocess.Popen(
        [*COMMAND, *arguments],
        stdin=its,
        stdout=its,
        stderr=its,
        env=environment(TERM="xterm", **variables),
    )
    os.close(its)
    shown = b""
    with process:
        while True:
            try:
                part = os.read(ours, 65_536)
            except OSError:  # how Linux says that the other end is closed
                break
            if not part:
                break
            shown += part
    os.close(ours)
    return shown.decode().replace("\r\n", "\n")


def test_a_terminal_gets_colour_and_the_same_text() -> None:
    shown = _on_a_terminal(*QUESTION)
    assert STYLE.search(shown)
    assert STYLE.sub("", shown) == d9m(*QUESTION).stdout


@pytest.mark.parametrize(
    ("arguments", "variables", "coloured"),
    [
        ((), {"NO_COLOR": "1"}, False),
        ((), {"NO_COLOR": ""}, True),
        ((), {"TERM": "dumb"}, False),
        (("--color", "never"), {}, False),
        (("--color", "always"), {"NO_COLOR": "1"}, True),
        (("--color", "auto"), {}, True),
    ],
)
def test_colour_on_a_terminal_can_be_refused(
    arguments: tuple[str, ...], variables: dict[str, str], coloured: bool
) -> None:
    variables = {"TERM": "xterm", **variables}
    ours = {name: value for name, value in variables.items() if name != "TERM"}
    shown = (
        _on_a_terminal(*QUESTION, *arguments, **ours)
        if variables["TERM"] == "xterm"
        else _dumb(*arguments)
    )
    assert bool(STYLE.search(shown)) == coloured


def _dumb(*arguments: str) -> str:
    command = ["env", "TERM=dumb", *COMMAND, *QUESTION, *arguments]
    ours, its = pty.openpty()
    with subprocess.Popen(command, stdin=its, stdout=its, stderr=its, env=environment()) as process:
        process.wait(timeout=LONGEST)
    os.close(its)
    shown = os.read(ours, 65_536).decode()
    os.close(ours)
    return shown


@pytest.mark.parametrize(
    "command", [QUESTION, ("show", "bias_add"), ("list", "sources"), ("explain", "atomicAdd")]
)
def test_a_pipe_gets_colour_only_on_request(command: tuple[str, ...]) -> None:
    assert not STYLE.search(d9m(*command).stdout)
    if command[0] != "explain":
        assert STYLE.search(d9m(*command, "--color", "always").stdout)


def test_json_is_never_coloured() -> None:
    answer = d9m(*QUESTION, "--format", "json", "--color", "always").stdout
    assert json.loads(answer)["outcome"] == "solved"


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "cp1252"])
def test_a_terminal_without_utf8_gets_an_answer(encoding: str) -> None:
    done = subprocess.run(
        [*COMMAND, *QUESTION],
        capture_output=True, env=environment(PYTHONIOENCODING=encoding), check=False, timeout=LONGEST,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout.decode(encoding).startswith(
        "Both ops are deterministic with tfdeterminism.patch (TDP)."
    )


@pytest.mark.parametrize("format_", ["json", "env", "python", "markdown"])
def test_what_a_program_reads_has_the_same_bytes_whatever_a_terminal_shows(
    tmp_path: Path, format_: str
) -> None:
    (tmp_path / "é→.env").write_text("TF_DETERMINISTIC_OPS=1\n")
    written: set[bytes] = set()
    for encoding in ("utf-8", "cp1252", "ascii"):
        done = subprocess.run(
            [*COMMAND, *QUESTION, "--format", format_, "--env-file", "é→.env"],
            capture_output=True, env=environment(PYTHONIOENCODING=encoding), check=False, timeout=LONGEST, cwd=tmp_path,
        )  # fmt: skip
        written.add(done.stdout)
    assert len(written) == 1
    assert not written.pop().decode().isascii()


def test_lines_of_what_a_program_reads_end_alike_everywhere(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """As Windows opens a stdout that is not a terminal."""
    raw = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(raw, encoding="cp1252", newline="\r\n"))
    output.write("export A=é\n", None)
    assert raw.getvalue() == "export A=é\n".encode()


def test_a_log_with_broken_bytes_is_read_all_the_same() -> None:
    log = b"\xff\xfe step 12\ncumsum_cuda_kernel does not have a deterministic implementation, but you set\n\x00\xc3"
    done = d9m("explain", stdin=log)
    assert (done.returncode, done.stderr) == (0, "")
    assert "cumsum" in done.stdout


@pytest.mark.parametrize("format_", ["env", "python", "dockerfile", "slurm", "markdown"])
def test_a_file_name_cannot_break_out_of_the_comment_that_holds_it(
    tmp_path: Path, format_: str
) -> None:
    name = "a\nrm -rf x\n\x1b[31m"
    (tmp_path / name).write_text("TF_DETERMINISTIC_OPS=1\n")
    done = d9m(*QUESTION, "--format", format_, "--env-file", name, cwd=tmp_path)
    assert (done.returncode, done.stderr) == (1, "")
    assert not [line for line in done.stdout.splitlines() if line.startswith("rm ")]
    assert "\x1b" not in done.stdout
