"""An op that names its own package needs no further environment."""

from __future__ import annotations

import json

import d9m as library
from process import d9m


def test_an_op_of_an_add_on_is_answered_where_nothing_is_installed() -> None:
    done = d9m("advise", "--ops", "flash_attn_varlen_func", "--format", "json", "--allow-unknown")
    told = json.loads(done.stdout)
    assert (done.returncode, told["environment"]["packages"]) == (0, {"flash-attn": "any"})
    assert told["environment"]["device"] == "cuda"
    assert [op["outcome"] for op in told["ops"]] == ["depends"]


def test_the_library_takes_it_alike() -> None:
    advice = library.advise(ops=["flash_attn_varlen_func"])
    assert advice.environment.packages.keys() >= {"flash-attn"}
