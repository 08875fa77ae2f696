"""Lists of one package, and the names by which `show` finds a record."""

import pytest

from d9m.browse.listing import listing
from d9m.browse.show import show
from golden import knowledge_base


@pytest.mark.parametrize("kind", ["settings", "basics", "symptoms"])
@pytest.mark.parametrize("package", ["torch", "tensorflow", "jax"])
def test_lists_of_records_without_a_home_are_filtered_by_package(kind: str, package: str) -> None:
    whole = listing(knowledge_base(), kind, None, None).rows
    rows = listing(knowledge_base(), kind, package, None).rows
    assert 0 < len(rows) < len(whole)


def test_settings_of_a_package_are_its_own_and_those_that_apply_with_it() -> None:
    names = [row.id for row in listing(knowledge_base(), "settings", "torch", None).rows]
    assert "CUBLAS_WORKSPACE_CONFIG" in names
    assert "TF_DETERMINISTIC_OPS" not in names


FILES = [
    "crop_and_resize_op_gpu.cu.cc",
    "cuda_kernel_helper_test.cu.cc",
    "depthwise_conv_op_gpu.h",
    "dilation_ops_gpu.cu.cc",
    "histogram_op_gpu.cu.cc",
    "maxpooling_op_gpu.cu.cc",
    "resampler_ops_gpu.cu.cc",
    "resize_nearest_neighbor_op_gpu.cu.cc",
    "scatter_functor_gpu.cu.h",
    "scatter_nd_op_gpu.cu.cc",
    "segment_reduction_ops.h",
    "segment_reduction_ops_gpu.cu.cc",
    "sparse_tensor_dense_matmul_op_gpu.cu.cc",
    "stateful_random_ops_gpu.cu.cc",
    "svd_op_gpu.cu.cc",
]


@pytest.mark.parametrize("file", FILES)
def test_show_finds_what_the_evidence_reads_in_a_source_file(file: str) -> None:
    found = show(knowledge_base(), [file]).found
    assert {each.kind for each in found} == {"source"}
    assert all(each.id.startswith("tensorflow/") for each in found)


def test_show_finds_every_setting_by_the_id_that_pages_print() -> None:
    kb = knowledge_base()
    for name in kb.settings:
        id_ = kb.setting_ids[name]
        assert name in [each.id for each in show(kb, [f"settings/{id_}"]).found]


@pytest.mark.parametrize("name", ["fwr13y", "framework-reproducibility"])
def test_show_finds_the_helper_of_framework_reproducibility(name: str) -> None:
    assert [each.id for each in show(knowledge_base(), [name]).found] == ["tensorflow/fwr13y"]
