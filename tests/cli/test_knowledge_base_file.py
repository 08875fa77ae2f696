"""A knowledge base that is missing, broken or of another d9m ends every command with exit 5."""

from __future__ import annotations

import zlib
from pathlib import Path

import msgspec
import pytest

from d9m.kb import compiled
from process import compiled_kb, d9m

COMMANDS = [
    "advise --tf 2.0 --ops conv,bias_add",
    "advise --tf 2.0 --format json",
    "advise",
    "check",
    "explain deterministic",
    "show bias_add",
    "list",
    "list sources",
    "kb stats",
    "kb lint",
    "kb audit",
    "kb build -o kb.d9m",
    "kb mutate --cases .",
]


def whole() -> bytes:
    return compiled_kb().read_bytes()


def head_and_rest(data: bytes) -> tuple[list[bytes], bytes]:
    head, _newline, rest = data.partition(b"\n")
    return head.split(), rest


def with_index(change: dict[str, object]) -> bytes:
    """The file with its index changed, and a checksum that fits."""
    (magic, format_, length, _checksum, body), rest = head_and_rest(whole())
    index = msgspec.json.encode({**msgspec.json.decode(rest[: int(length)]), **change})
    head = b"%s %s %d %d %s\n" % (magic, format_, len(index), zlib.crc32(index), body)
    return head + index + rest[int(length) :]


def flipped(place: int) -> bytes:
    data = bytearray(whole())
    data[place] ^= 1
    return bytes(data)


BROKEN = {
    "empty": (lambda: b"", "not a compiled knowledge base"),
    "text": (lambda: b"title: not compiled\n", "not a compiled knowledge base"),
    "zip": (lambda: b"PK\x03\x04" + bytes(100), "not a compiled knowledge base"),
    "head only": (lambda: b"d9m-kb", "damaged"),
    "head cut": (lambda: whole()[:9], "damaged"),
    "head without numbers": (lambda: b"d9m-kb 3 x y z\n" + whole(), "damaged"),
    "head with negative numbers": (lambda: b"d9m-kb 3 -5 0 10\n12345", "damaged"),
    "index cut": (lambda: whole()[:500], "damaged"),
    "last byte missing": (lambda: whole()[:-1], "damaged"),
    "a byte too many": (lambda: whole() + b"\n", "damaged"),
    "a bit of the index flipped": (lambda: flipped(200), "damaged"),
    "next format": (lambda: whole().replace(b"d9m-kb 3 ", b"d9m-kb 4 ", 1), "made for another d9m"),
    "a table missing": (lambda: with_index({"tables": {}}), "made for another d9m"),
    "another index": (lambda: with_index({"tables": 5}), "damaged"),
}


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("how", ["head cut", "last byte missing", "next format", "empty"])
def test_every_command_refuses_a_broken_knowledge_base(
    tmp_path: Path, command: str, how: str
) -> None:
    (tmp_path / "broken.d9m").write_bytes(BROKEN[how][0]())
    done = d9m(*command.split(), cwd=tmp_path, D9M_KB="broken.d9m")
    assert (done.returncode, done.stdout) == (5, "")
    assert done.stderr.startswith("d9m: ")
    assert "Traceback" not in done.stderr
    assert [each.name for each in tmp_path.iterdir()] == ["broken.d9m"]


@pytest.mark.parametrize("how", BROKEN)
def test_what_is_wrong_with_the_file_is_said(tmp_path: Path, how: str) -> None:
    make, said = BROKEN[how]
    (tmp_path / "broken.d9m").write_bytes(make())
    done = d9m(*COMMANDS[0].split(), cwd=tmp_path, D9M_KB="broken.d9m")
    assert (done.returncode, done.stdout) == (5, "")
    assert f"broken.d9m: {said}" in done.stderr.replace("the knowledge base is ", "")
    assert "install d9m again" in done.stderr


def test_any_flipped_bit_that_an_answer_rests_on_is_noticed(tmp_path: Path) -> None:
    data = whole()
    answer = d9m(*COMMANDS[0].split(), "--format", "json").stdout
    noticed = 0
    for place in range(11, len(data), len(data) // 60):
        (tmp_path / "broken.d9m").write_bytes(flipped(place))
        done = d9m(*COMMANDS[0].split(), "--format", "json", D9M_KB=str(tmp_path / "broken.d9m"))
        assert (done.returncode, done.stdout) in ((5, ""), (0, answer)), place
        noticed += done.returncode == 5
    assert noticed >= 1


@pytest.mark.parametrize("command", COMMANDS)
def test_a_knowledge_base_that_is_not_there_is_named(tmp_path: Path, command: str) -> None:
    done = d9m(*command.split(), cwd=tmp_path, D9M_KB="nowhere")
    assert (done.returncode, done.stdout) == (5, "")
    assert "nowhere" in done.stderr


def test_a_malformed_record_is_named_by_every_command(tmp_path: Path) -> None:
    (tmp_path / "kb" / "settings").mkdir(parents=True)
    (tmp_path / "kb" / "facts.yaml").write_text(
        "training: {title: Gradients, values: ['true'], default: 'true'}\n"
    )
    (tmp_path / "kb" / "settings" / "bad.yaml").write_text("name: X\nkind: env\nkind: [\n")
    for command in COMMANDS[:9]:
        done = d9m(*command.split(), cwd=tmp_path, D9M_KB="kb")
        assert (done.returncode, done.stdout) == (5, ""), command
        assert "settings/bad.yaml:" in done.stderr, command
        assert "d9m kb lint" in done.stderr, command


def test_lint_reports_a_malformed_record_as_a_finding(tmp_path: Path) -> None:
    (tmp_path / "kb" / "settings").mkdir(parents=True)
    (tmp_path / "kb" / "settings" / "bad.yaml").write_text("name: X\nkind: env\nkind: env\n")
    done = d9m("kb", "lint", "kb", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (1, "")
    assert "settings/bad.yaml:3" in done.stdout


def test_building_is_whole_or_not_at_all_and_gives_the_same_bytes_twice(tmp_path: Path) -> None:
    records = tmp_path / "kb"
    records.mkdir()
    (records / "facts.yaml").write_text(
        "training: {title: Gradients, values: ['true'], default: 'true'}\n"
    )
    (records / "myths").mkdir()
    evidence = "{kind: documented, url: 'https://a.b', date: '2026-01-01'}"
    myth = f"{{myth: One, fact: Other, evidence: [{evidence}]}}\n"
    (records / "myths" / "one.yaml").write_text(myth)
    for name in ("a.d9m", "b.d9m"):
        assert d9m("kb", "build", "-o", name, cwd=tmp_path, D9M_KB="kb").returncode == 0
    assert (tmp_path / "a.d9m").read_bytes() == (tmp_path / "b.d9m").read_bytes()
    (records / "facts.yaml").write_text("training: 5\n")
    done = d9m("kb", "build", "-o", "a.d9m", cwd=tmp_path, D9M_KB="kb")
    assert (done.returncode, done.stdout) == (5, "")
    assert (tmp_path / "a.d9m").read_bytes() == (tmp_path / "b.d9m").read_bytes()
    assert compiled.read(str(tmp_path / "b.d9m")).meta.date == "2026-01-01"
