"""What is known of public names: recorded, traced, or open."""

from __future__ import annotations

from pathlib import Path

from d9m.authoring.public_share import public_shares
from d9m.kb import locate
from d9m.model.dispatch_facts import DispatchTrace
from d9m.model.wheel_facts import canonical, catalogue

NAMES = {
    "torch.cumsum",
    "torch.Tensor.cumsum_",
    "torch.Tensor.sgn_",
    "torch.sgn",
    "torch.signum",
    "torch.nn.Fresh",
}


def test_a_name_is_recorded_or_traced_or_open(tmp_path: Path) -> None:
    (tmp_path / "evidence/dispatch").mkdir(parents=True)
    known = catalogue("torch", {"1.13.1": NAMES, "2.0.1": NAMES, "2.1.2": NAMES | {"torch.new"}})
    (tmp_path / "evidence/catalogue-torch.json").write_bytes(known.encoded())
    trace = DispatchTrace("torch", "2.0.1", {"torch.sgn": {}}, {"torch.signum": "torch.sgn"})
    (tmp_path / "evidence/dispatch/torch-2.0.1.json").write_bytes(canonical(trace))
    first, newest = public_shares(locate.open_knowledge_base(), tmp_path)
    assert (first.release, first.names, first.recorded, first.traced) == ("2.0.1", 6, 2, 3)
    assert (first.open, newest.open) == ({"torch.nn": 1}, {"torch.nn": 1, "torch": 1})
    assert newest.release == "2.1.2"
    assert "names of torch 2.0.1: 6, known 83.3 % (2 recorded, 3 traced)" in first.text()
