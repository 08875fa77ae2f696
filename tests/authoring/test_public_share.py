"""What is known of public names: recorded, traced, idle, or open."""

from __future__ import annotations

from pathlib import Path

from d9m.authoring.public_share import public_shares
from d9m.kb import locate
from d9m.model.dispatch_facts import DispatchCatalogue, DispatchTrace
from d9m.model.wheel_facts import catalogue

NAMES = {
    "torch.cumsum",
    "torch.Tensor.cumsum_",
    "torch.Tensor.sgn_",
    "torch.sgn",
    "torch.signum",
    "torch.nn.Fresh",
    "torch.Generator",
    "torch.is_tensor",
}


def test_a_name_is_recorded_or_traced_or_idle_or_open(tmp_path: Path) -> None:
    (tmp_path / "evidence").mkdir()
    known = catalogue(
        "torch",
        {
            "1.13.1": NAMES,
            "2.0.1": NAMES,
            "2.1.2": NAMES | {"torch.fresh"},
            "2.2.2": NAMES | {"torch.new"},
        },
    )
    (tmp_path / "evidence/catalogue-torch.json").write_bytes(known.encoded())
    ops = {"torch.sgn": {"forward": {"sgn": ""}}, "torch.is_tensor": {}, "torch.cumsum": {}}
    old = DispatchTrace("torch", "2.0.1", ops, {"torch.signum": "torch.sgn"}, ["torch.Generator"])
    new = DispatchTrace("torch", "2.2.2", {**ops, "torch.fresh": ops["torch.sgn"]}, old.aliases)
    traces = DispatchCatalogue("torch").with_trace(old).with_trace(new)
    (tmp_path / "evidence/dispatch-torch.json").write_bytes(traces.encoded())
    kb = locate.open_knowledge_base()
    first, between, newest = public_shares(kb, tmp_path)
    assert (first.release, first.names, first.idle) == ("2.0.1", 8, 2)
    assert (first.recorded, first.traced, first.open) == (2, 3, {"torch.nn": 1})
    assert (
        "names of torch 2.0.1: 8, of which 2 compute nothing; of the others known 83.3 %"
        " (2 recorded, 3 traced); open: torch.nn 1"
    ) in first.text()
    assert (between.release, between.traced, between.idle) == ("2.1.2", 4, 2)
    assert (newest.release, newest.idle) == ("2.2.2", 1)
    assert newest.open == {"torch": 2, "torch.nn": 1}


def test_names_that_compute_are_known_in_each_release() -> None:
    """Of TensorFlow, the raw operations and the copies in other namespaces are still open."""
    shares = public_shares(locate.open_knowledge_base(), locate.folder())
    least = {"torch": 95, "tensorflow": 25}
    assert {share.package for share in shares} == set(least)
    assert {share.release for share in shares if share.known < least[share.package]} == set()
