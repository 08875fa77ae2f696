"""The server for agents, through a client of the official SDK over stdin and stdout."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mcp import ClientSession
from mcp.client.stdio import StdioServerParameters, stdio_client

from d9m.agents.server import LIMIT
from d9m.agents.shorten import shorten, size

SOURCE = Path(__file__).parents[2] / "resolver"
TOOLS = {"advise", "explain", "show", "scan", "diff_releases", "compare_recordings"}


def ask(root: Path, calls: Callable[[ClientSession], Awaitable[None]]) -> None:
    """Run `calls` with a session of a server."""
    variables = {"PYTHONPATH": str(SOURCE), "PATH": os.environ["PATH"]}
    server = StdioServerParameters(
        command=sys.executable, args=["-m", "d9m", "mcp", "--root", str(root)], env=variables
    )

    async def session() -> None:
        async with stdio_client(server) as (read, write), ClientSession(read, write) as client:
            await client.initialize()
            await calls(client)

    anyio.run(session)


async def answer(client: ClientSession, tool: str, **arguments: Any) -> dict[str, Any]:
    found = await client.call_tool(tool, arguments)
    assert not found.is_error, found
    text = found.content[0].text  # type: ignore[union-attr]
    assert len(text.encode()) <= LIMIT
    return json.loads(text)


def printed(*words: str) -> dict[str, Any]:
    """Return what the command line prints as JSON, without empty values."""
    command = [sys.executable, "-m", "d9m", *words, "--format=json"]
    done = subprocess.run(command, capture_output=True, check=False)
    return shorten(json.loads(done.stdout), 1 << 30)[0]


def test_each_tool_answers_as_its_command_does(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text("import torch\ntorch.manual_seed(0)\n", encoding="utf-8")

    async def calls(client: ClientSession) -> None:
        assert {tool.name for tool in (await client.list_tools()).tools} == TOOLS
        found = await answer(
            client, "diff_releases",
            package="torch", from_release="2.4", to_release="2.6", ops=["cumsum"],
        )  # fmt: skip
        whole = printed("advise", "--with=torch", "--diff=2.4..2.6", "--ops=cumsum")
        assert found == {"exit": 0, "answer": whole}

        found = await answer(client, "advise", packages={"torch": "2.4"}, ops=["torch.cumsum"])
        assert found["answer"]["ops"][0]["outcome"] == "raises"
        assert "https://" in json.dumps(found["answer"]["ops"][0]["sources"])
        assert found["answer"]["d9m"]["kb_date"] == whole["d9m"]["kb_date"]

        text = "cumsum_cuda_kernel does not have a deterministic implementation"
        found = await answer(client, "explain", text=text, packages={"torch": "2.4"})
        assert found["answer"]["found"][0]["ops"] == ["torch.cumsum", "torch.cumprod"]

        found = await answer(client, "show", name="torch.cumsum")
        assert found["answer"]["found"][0]["id"] == "torch.cumsum"

        found = await answer(client, "scan", path=".")
        assert found["answer"]["programs"][0]["path"] == "train.py"
        assert (await answer(client, "scan", path=".", strict=True))["exit"] == 1

        assert "named twice" in (await answer(client, "compare_recordings", a=".", b="."))["error"]
        assert "d9m hunt" in str(await client.get_prompt("programs"))

    ask(tmp_path, calls)


def test_a_long_answer_is_cut_and_names_what_it_lacks(tmp_path: Path) -> None:
    async def calls(client: ClientSession) -> None:
        found = await answer(client, "advise", packages={"torch": "2.4"})
        assert found["answer"]["settings"]["env"]["PYTHONHASHSEED"] == "0"
        assert found["left_out"]["ops"][0].startswith("torch.")

    ask(tmp_path, calls)


def test_an_unknown_name_is_an_answer(tmp_path: Path) -> None:
    async def calls(client: ClientSession) -> None:
        found = await answer(client, "show", name="cumsun")
        assert found["exit"] == 2
        assert "cumsum" in found["error"]
        found = await answer(client, "advise", packages={"torhc": "2.4"}, ops=["cumsum"])
        assert found["exit"] == 2
        assert "torch" in found["error"]

    ask(tmp_path, calls)


def test_nothing_outside_the_root_is_read(tmp_path: Path) -> None:
    inside = tmp_path / "inside"
    inside.mkdir()
    (inside / "link").symlink_to(tmp_path)
    secret = tmp_path / "secret.txt"
    secret.write_text("torch.secret\n", encoding="utf-8")

    async def calls(client: ClientSession) -> None:
        for path in ("..", "link", str(tmp_path), "inside/../../.."):
            found = await client.call_tool("scan", {"path": path})
            assert found.is_error, path
            assert "outside" in str(found.content)
        for ops in ([f"@{secret}"], ["-"], ["cumsum", "@x"]):
            found = await client.call_tool("advise", {"packages": {"torch": "2.4"}, "ops": ops})
            assert found.is_error, ops
            assert "secret\\n" not in str(found.content)

    ask(inside, calls)


def test_malformed_requests_get_an_error_and_the_server_goes_on(tmp_path: Path) -> None:
    chance = random.Random(7)
    broken = [None, 3, "x", [1], {"a": {}}, {"torch": ["2.4"]}, {"torch": None}]

    async def calls(client: ClientSession) -> None:
        for _each in range(200):
            tool = chance.choice([*sorted(TOOLS), "no_such_tool"])
            arguments: dict[str, Any] = {
                "packages": chance.choice(broken),
                chance.choice(["text", "name", "path", "a", "package"]): chance.choice(broken[:2]),
            }
            if tool == "scan":
                arguments["path"] = chance.choice([None, 3, "\0", "../x"])
            found = await client.call_tool(tool, arguments)
            assert found.is_error, (tool, arguments)
        found = await answer(client, "advise", packages={"torch": "2.4"}, ops=["cumsum"])
        assert found["exit"] == 1

    ask(tmp_path, calls)


@pytest.mark.parametrize("option", ["--root=/no/such/folder"])
def test_a_root_that_is_no_folder_is_a_usage_error(option: str) -> None:
    command = [sys.executable, "-m", "d9m", "mcp", option]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "is not a folder" in done.stderr


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-9999, 9999) | st.text(max_size=300),
    lambda inner: (
        st.lists(inner, max_size=6)
        | st.dictionaries(st.text("abcid", min_size=1, max_size=4), inner, max_size=6)
    ),
    max_leaves=40,
)


@given(st.dictionaries(st.sampled_from(["ops", "steps", "id", "env"]), JSON), st.integers(60, 2000))
def test_a_cut_answer_fits_and_only_lacks_what_is_said(value: dict[str, Any], limit: int) -> None:
    kept, left = shorten(value, limit, ("steps",))
    assert size(kept) <= limit
    whole, nothing = shorten(value, 1 << 30)
    assert not nothing
    assert kept == whole or left or "…" in json.dumps(kept, ensure_ascii=False)
