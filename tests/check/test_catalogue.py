"""The probes as data."""

from __future__ import annotations

import ast
import sys
from importlib import resources

import msgspec
import pytest
from machines import pick

from d9m.check.judge.expect import expectations
from d9m.check.plan import catalogue
from d9m.environment.environment import Setup
from d9m.errors import UsageError
from golden import knowledge_base

EVERY = [probe for framework in catalogue.FRAMEWORKS for probe in catalogue.probes(framework)]
TORCH = catalogue.probes("torch")

ON_XPU = (
    "pytorch/xpu-adaptive-avg-pool2d",
    "pytorch/xpu-adaptive-avg-pool3d",
    "pytorch/xpu-bincount",
    "pytorch/xpu-embedding",
    "pytorch/xpu-embedding-bag-max",
    "pytorch/xpu-gradients",
    "pytorch/xpu-histc",
    "pytorch/xpu-index-copy",
    "pytorch/xpu-index-reduce",
    "pytorch/xpu-interpolate-bicubic",
    "pytorch/xpu-interpolate-bilinear",
    "pytorch/xpu-interpolate-trilinear",
    "pytorch/xpu-matmul-conv",
    "pytorch/xpu-median",
    "pytorch/xpu-nll-loss2d",
    "pytorch/xpu-put",
    "pytorch/xpu-reflection-pad2d",
    "pytorch/xpu-refusals",
    "pytorch/xpu-replication-pad",
    "pytorch/xpu-scatter",
    "pytorch/xpu-scatter-add",
    "pytorch/xpu-scatter-reduce",
    "pytorch/xpu-take-backward",
    "pytorch/xpu-unread",
    "pytorch/xpu-untraced",
)

NO_PROBE = {
    "pytorch/cumprod": "varies in one dimension on a GPU only; its probe is still to be written",
    "pytorch/cudnn-rnn-dropout-state": "needs PyTorch before 2.0, and two trainings in one process",
    "pytorch/data-loader": "is about seeds, which the advised arm makes",
    "pytorch/multinomial-replacement": "a sum over one row; its probe is still to be written",
    "pytorch/persistent-workers": "concerns workers of a loader, which a probe does not start",
    "pytorch/dropout": "is about seeds, which the advised arm makes",
    "pytorch/embedding-max-norm": "varies before 1.8 only, on a GPU",
    "pytorch/inductor-autotune": "concerns torch.compile alone, which needs a compiler",
    "pytorch/inductor-empty": "concerns torch.compile alone, which needs a compiler",
    "pytorch/inductor-index-put": "concerns torch.compile alone, which needs a compiler",
    "pytorch/inductor-scatter-add": "concerns torch.compile alone, which needs a compiler",
    "pytorch/interpolate-nearest-backward": "varies before 1.2, and later in compiled code only",
    "pytorch/max-pool2d-backward": "varies in compiled code only",
    "pytorch/mkl-vml": "shows in a first call of one process in many, on a busy machine",
    "pytorch/mps-backward": "needs macOS",
    "pytorch/mps-embedding-backward": "torch/embedding-backward meets it on that device",
    "pytorch/mps-index-add": "torch/index-add meets it on that device",
    "pytorch/mps-index-put": "torch/index-put meets it on that device",
    "pytorch/mps-indexing": "needs macOS",
    "pytorch/mps-kthvalue": "needs macOS",
    "pytorch/mps-linear": "needs a Mac with an M5",
    "pytorch/mps-linear-backward": "needs a Mac with an M5",
    "pytorch/mps-scan": "torch/cumsum meets it on that device",
    "pytorch/mps-scatter": "torch/scatter meets it on that device",
    "pytorch/mps-scatter-reduce": "needs macOS",
    "pytorch/mps-unread": "the probes of its ops meet it on that device",
    "pytorch/mps-untraced": "the probes of its ops meet it on that device",
    "pytorch/miopen-conv": "torch/conv2d and its like meet it on that device",
    "pytorch/rocblas-atomics": "torch/mm and its like meet it on that device",
    "pytorch/argmax-ties": "needs PyTorch 1.6 or older",
    "pytorch/svd-lowrank-sparse": "nobody knows how large a sparse tensor shows it",
    "pytorch/topk-rocm": "torch/topk meets it on that device",
    "pytorch/prod-backward": "varies on a GPU, where an input is zero; no probe is written yet",
    "pytorch/collectives": "the probes of several ranks exercise it",
    "pytorch/cudnn-rnn-dropout": "is about CUDA before 10.1; its probe is still to be written",
    "pytorch/flex-attention": "concerns torch.compile alone, which needs a compiler",
    "pytorch/flex-attention-rocm": "concerns torch.compile alone, which needs a compiler",
    "pytorch/random-generator": "is about seeds, which the advised arm makes",
    "pytorch/xpu-collectives": "takes several devices, and a group of processes on them",
    "pytorch/sdpa-backward-rocm": "the probe of attention meets it on that device",
    "pytorch/rocm-untraced": "the probes of its ops meet it on that device",
    **dict.fromkeys(ON_XPU, "the probes of its ops meet it on that device"),
}


def snippets(probe: catalogue.Probe) -> list[str]:
    inputs = [*probe.inputs.values(), *probe.control.values()]
    return [text for text in (*inputs, probe.call, probe.setup, probe.requires) if text]


@pytest.mark.parametrize("probe", EVERY, ids=lambda each: each.id)
def test_every_snippet_is_python_3_6(probe: catalogue.Probe) -> None:
    for text in snippets(probe):
        ast.parse(text, feature_version=(3, 6))


def _texts() -> dict[str, str]:
    worker = (resources.files("d9m.check") / "workers" / "worker.py").read_text("utf-8")
    return {
        "worker": worker,
        **{
            each: catalogue.adapter(each) for each in catalogue.FRAMEWORKS if catalogue.probes(each)
        },
    }


def test_the_worker_and_its_adapters_need_python_3_6_and_nothing_else() -> None:
    for name, text in _texts().items():
        tree = ast.parse(text, feature_version=(3, 6))
        imported = {
            alias.name
            for node in ast.walk(tree)
            if isinstance(node, ast.Import)
            for alias in node.names
        }
        imported |= {
            node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)
        }
        allowed = {
            *sys.stdlib_module_names,
            "pkg_resources",
            name,
            *({"numpy"} if name in ("tensorflow", "jax") else ()),
        }
        assert {each.partition(".")[0] for each in imported} <= allowed


def test_every_probe_has_its_own_name() -> None:
    assert len({each.id for each in EVERY}) == len(EVERY)


def test_pytorch_has_at_least_60_sources_and_directions() -> None:
    assert len({(each.source or each.id, each.direction) for each in TORCH}) >= 60


@pytest.mark.parametrize(("framework", "least"), [("tensorflow", 40), ("jax", 20)])
def test_the_others_have_their_share(framework: str, least: int) -> None:
    assert (
        len({(each.source or each.id, each.direction) for each in catalogue.probes(framework)})
        >= least
    )


def test_quick_runs_at_least_40_probes_on_a_cpu() -> None:
    assert len(pick(TORCH, "cpu", None, quick=True)) >= 40


def test_every_record_of_an_op_of_pytorch_has_a_probe_or_a_reason() -> None:
    """From run to run: other batches and other machines are nothing that repeats on one show."""
    kb = knowledge_base()
    own = {id_: kb.sources[id_] for id_ in kb.sources if id_.startswith("pytorch/")}
    records = {id_ for id_, source in own.items() if source.scope == "run"}
    assert records - {each.source for each in TORCH} == NO_PROBE.keys()


@pytest.mark.parametrize("probe", EVERY, ids=lambda each: each.id)
def test_every_probe_names_a_record_that_exists(probe: catalogue.Probe) -> None:
    assert probe.source is None or knowledge_base().sources.get(probe.source) is not None


@pytest.mark.parametrize("device", ["cpu", "cuda"])
def test_the_knowledge_base_meets_the_record_of_every_probe_in_its_op(device: str) -> None:
    """Where the record applies on this device: a wrong `op` or `ask` would compare a probe with
    another claim.
    """
    kb, asked = knowledge_base(), Setup((("torch", "2.13.0"),), device=device)
    here = [each for each in TORCH if device in each.devices]
    claims = expectations(kb, asked, here)
    for each in here:
        if each.source is None or each.id not in claims:
            continue
        when = kb.sources[each.source].when
        if isinstance(when, dict) and device in when.get("device", ()):
            assert claims[each.id].outcome != "no-known-source", each.id


@pytest.mark.parametrize("probe", EVERY, ids=lambda each: each.id)
def test_a_probe_that_shuffles_names_its_own_inputs(probe: catalogue.Probe) -> None:
    assert {*probe.permute, *probe.reverse} <= {*probe.inputs, "g", "out"}
    assert probe.control.keys() <= probe.inputs.keys()
    assert set(probe.gradient) <= probe.inputs.keys()
    assert bool(probe.gradient) == (probe.direction == "backward")


def selected(*items: str, device: str = "cpu") -> set[str]:
    return {each.probe.id for each in pick(TORCH, device, list(items))}


def test_an_op_a_record_or_a_probe_can_be_asked_for() -> None:
    assert selected("index_add") == {"torch/index-add", "torch/index-add-rows"}
    assert selected("torch.Tensor.take:backward".replace("Tensor.", "")) == {"torch/take-backward"}
    assert selected("pytorch/lstsq") == selected("torch/lstsq") == {"torch/lstsq"}
    assert "torch/lstsq" in selected("lstsq")  # with probes of what it calls


def test_arguments_narrow_what_is_asked_for() -> None:
    assert selected("index_put[accumulate=true]") == {"torch/index-put-accumulate"}


@pytest.mark.parametrize(
    ("written", "probe"),
    [
        ("conv", "torch/conv2d"),
        ("conv", "torch/conv3d-backward"),
        ("nn.Conv2d", "torch/conv2d"),
        ("F.interpolate", "torch/interpolate-bilinear-backward"),
        ("F.interpolate(x, mode='bilinear')", "torch/interpolate-bilinear-backward"),
        ("x[idx]", "torch/getitem-backward"),
        ("x[idx] = v", "torch/setitem"),
        ("aten::index_put_", "torch/index-put"),
        ("torch.Tensor.index_add_", "torch/index-add"),
        ("torch.cumsum", "torch/cumsum"),
        ("scatter_add_cuda_kernel", "torch/scatter-add"),
    ],
)
def test_the_names_that_people_write_find_their_probes(written: str, probe: str) -> None:
    assert probe in selected(written)


def test_an_argument_that_is_pasted_leaves_out_probes_of_other_calls() -> None:
    assert "torch/interpolate-nearest-backward" not in selected("F.interpolate(x, mode='bilinear')")


@pytest.mark.parametrize("probe", TORCH, ids=lambda each: each.id)
def test_what_the_list_prints_can_be_asked_for(probe: catalogue.Probe) -> None:
    for written in (probe.id, probe.op, f"{probe.op}:{probe.direction}"):
        assert probe.id in selected(written, device=probe.devices[0])


def test_an_op_without_a_probe_is_named() -> None:
    with pytest.raises(UsageError, match=r"no probe here exercises 'erfinv' \(torch.*erfinv"):
        selected("erfinv")


@pytest.mark.parametrize("written", ["all_reduce", "torch/all-reduce", "dist.all_reduce(x)"])
def test_a_collective_is_said_to_take_several_processes(written: str) -> None:
    with pytest.raises(UsageError, match="runs between processes") as refused:
        selected(written)
    assert "torchrun --nproc-per-node=3 -m d9m check" in refused.value.text()


def test_a_probe_of_another_device_is_not_found() -> None:
    assert "torch/sdpa-flash-backward" in selected("scaled_dot_product_attention", device="cuda")
    assert "torch/sdpa-flash-backward" not in selected("scaled_dot_product_attention")


def test_an_unknown_op_is_refused_with_the_nearest() -> None:
    with pytest.raises(UsageError, match="did you mean"):
        selected("index_ad")


def test_full_runs_every_element_type() -> None:
    one = pick(TORCH, "cpu", ["torch/index-add"], full=True)
    assert [each.dtype for each in one] == ["float32", "float16", "bfloat16", "float64"]


def test_a_family_with_an_unknown_field_is_refused() -> None:
    with pytest.raises(msgspec.ValidationError):
        catalogue.family(
            "torch", "x", "a: {op: torch.sum, inputs: {}, ladder: [{n: 1}], call: x, sise: 3}"
        )
