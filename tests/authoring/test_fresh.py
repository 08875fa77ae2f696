"""`d9m kb fresh` against a package index on this machine."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from d9m.authoring.collect import releases
from d9m.authoring.fresh import fresh
from d9m.errors import ExitCode
from golden import knowledge_base
from process import d9m

KNOWN = {name: knowledge_base().releases(name)[-1] for name in ("vllm", "jax", "nccl")}


def files(distribution: str, *named: str, day: str = "2031-01-01", **more: Any) -> list[Any]:
    """One file for each release: `vllm-1.0.tar.gz`."""
    return [
        {"filename": f"{distribution}-{release}.tar.gz", "url": "", "upload-time": day, **more}
        for release in named
    ]


def page(distribution: str, *listed: Any) -> bytes:
    return json.dumps({"name": distribution, "files": listed}).encode()


class LocalIndex(ThreadingHTTPServer):
    """An index that answers with `pages` by path; bytes are sent, numbers are a status or, below
    one, seconds to wait.
    """

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), IndexReply)
        self.pages: dict[str, bytes | float] = {}
        self.asked: list[str] = []

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/simple"


class IndexReply(BaseHTTPRequestHandler):
    server: LocalIndex

    def do_GET(self) -> None:
        self.server.asked.append(self.path)
        found = self.server.pages.get(self.path, 404)
        if isinstance(found, bytes):
            self.send_response(200)
            self.end_headers()
            self.wfile.write(found)
        elif found < 1:
            time.sleep(found)
        else:
            self.send_error(int(found))

    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture
def index(monkeypatch: pytest.MonkeyPatch) -> Iterator[LocalIndex]:
    with LocalIndex() as server:
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        monkeypatch.setenv("PIP_INDEX_URL", server.address)
        yield server
        server.shutdown()


def test_fresh_lists_final_releases_that_no_record_has_with_the_link_of_their_notes(
    index: LocalIndex,
) -> None:
    index.pages["/simple/vllm/"] = page(
        "vllm",
        *files("vllm", "0.0.1", KNOWN["vllm"], day="2026-11-02"),
        *files("vllm", "99.1.0", "99.0.0", "99.2.0rc1", "99.2.0.dev3"),
        *files("vllm", "99.3.0", yanked="broken"),
    )
    about = {"project_urls": {"Homepage": "https://github.com/vllm-project/vllm"}}
    index.pages["/pypi/vllm/json"] = json.dumps({"info": about}).encode()
    index.pages["/simple/jax/"] = page("jax", *files("jax", KNOWN["jax"]))
    done = d9m("kb", "fresh", "vllm", "jax", "--format", "json", PIP_INDEX_URL=index.address)
    found = json.loads(done.stdout)
    assert done.returncode == ExitCode.FINDINGS
    assert found["compared"] == ["vllm", "jax"]
    assert found["new"] == [
        {
            "package": "vllm",
            "known": KNOWN["vllm"],
            "releases": {"99.0.0": "2031-01-01", "99.1.0": "2031-01-01"},
            "notes": "https://github.com/vllm-project/vllm/releases",
        }
    ]
    assert index.asked == ["/simple/vllm/", "/pypi/vllm/json", "/simple/jax/"]


def test_fresh_lists_a_later_patch_of_an_older_release(index: LocalIndex) -> None:
    known = files("vllm", KNOWN["vllm"], day="2026-11-02")
    old = files("vllm", "0.0.98", day="2022-01-01")
    index.pages["/simple/vllm/"] = page("vllm", *known, *old, *files("vllm", "0.0.99"))
    [new] = fresh(knowledge_base(), ["vllm"]).new
    assert list(new.releases) == ["0.0.99"]
    assert new.notes == "https://pypi.org/project/vllm/"


def test_fresh_exits_0_when_the_records_have_every_release(index: LocalIndex) -> None:
    index.pages["/simple/vllm/"] = page("vllm", *files("vllm", KNOWN["vllm"]))
    done = d9m("kb", "fresh", "vllm", PIP_INDEX_URL=index.address)
    assert (done.returncode, done.stderr) == (ExitCode.ANSWERED, "")
    assert done.stdout == "- no newer release: 1 of 1 packages compared\n"


def test_fresh_asks_the_distribution_that_has_the_known_release(index: LocalIndex) -> None:
    index.pages["/simple/nvidia-nccl-cu11/"] = page("nvidia-nccl-cu11")
    index.pages["/simple/nvidia-nccl-cu12/"] = page(
        "nvidia-nccl-cu12", *files("nvidia_nccl_cu12", KNOWN["nccl"], "99.0.0")
    )
    [new] = fresh(knowledge_base(), ["nccl"]).new
    assert list(new.releases) == ["99.0.0"]


def test_fresh_exits_4_when_the_index_has_none_of_the_packages(index: LocalIndex) -> None:
    found = fresh(knowledge_base(), ["vllm", "jax"])
    assert (found.compared, found.unlisted) == ([], ["vllm", "jax"])
    assert found.exit_code() == ExitCode.ABSENT


@pytest.mark.parametrize(
    ("reply", "said"),
    [(503, "HTTP Error 503"), (0.9, "timed out"), (b"<html>", "no list of jax"), (b"", "no list")],
    ids=["unavailable", "timeout", "garbage", "nothing"],
)
def test_fresh_is_incomplete_after_an_error_of_the_index(
    index: LocalIndex, monkeypatch: pytest.MonkeyPatch, reply: bytes | float, said: str
) -> None:
    monkeypatch.setattr(releases, "TIMEOUT", 0.2)
    index.pages["/simple/vllm/"] = page("vllm", *files("vllm", KNOWN["vllm"]))
    index.pages["/simple/jax/"] = reply
    found = fresh(knowledge_base(), ["vllm", "jax", "nccl"])
    assert (found.compared, found.unread) == (["vllm"], ["jax", "nccl"])
    assert said in found.text().splitlines()[-1]
    assert found.exit_code() == ExitCode.UNKNOWN
    assert index.asked == ["/simple/vllm/", "/simple/jax/"]


def test_fresh_exits_4_when_the_index_is_out_of_reach() -> None:
    done = d9m("kb", "fresh", "vllm", PIP_INDEX_URL="http://name:secret@127.0.0.1:9/simple")
    assert done.returncode == ExitCode.ABSENT
    assert "- not compared: vllm: 127.0.0.1:9/simple/vllm/ cannot be read" in done.stdout
    assert "secret" not in done.stdout + done.stderr
