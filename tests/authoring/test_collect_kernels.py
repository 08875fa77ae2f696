"""CUDA sources are cut into functions, and each outermost one says how it adds."""

from __future__ import annotations

import io
import tarfile
from pathlib import Path

import pytest

from d9m.authoring.collect.kernels import kernel_table, kernel_uses
from d9m.errors import DataError
from d9m.model.kernel_facts import KernelUse

HEADER = """
namespace at::native {
template <typename scalar_t>
static __forceinline__ __device__ void safe_add_2d(scalar_t *data, int n) {
  if (n) { gpuAtomicAdd(data + n, n); }
}
}
"""
POOL = """
#include <ATen/native/cuda/GridSampler.cuh>
#define WASTE { atomicAdd( \\
  {
namespace at::native {
namespace {
// gpuAtomicAdd(in a comment
template <typename scalar_t>
C10_LAUNCH_BOUNDS_1(256)
__global__ void sampler_backward(scalar_t* grad) { safe_add_2d(grad, 1); }
struct ScanOp {
  void operator()(int* values) { cuda::cub::inclusive_scan(values); }
};
__global__ void counted(int* semaphores) { atomicAdd(&semaphores[0], 1); }
void launch_counted(int* all) { counted<<<1, 1>>>(all); }
} // namespace
void launch_sampler_backward_kernel(Tensor& grad) {
  globalContext().alertNotDeterministic("sampler_backward_cuda");
  sampler_backward<<<1, 1>>>(grad.data());
}
TORCH_IMPL_FUNC(pool_out_cuda)(const Tensor& input) {
  if (globalContext().deterministicAlgorithms()) { return; }
  ScanOp()(input.data());
}
TORCH_LIBRARY_IMPL(torchvision, CUDA, m) { m.impl("pool", pool_out_cuda); }
}
"""
FILES = {"native/GridSampler.cuh": HEADER, "native/Pool.cu": POOL}
USES = [
    KernelUse(
        "native/Pool.cu", "launch_sampler_backward_kernel", "atomic-add", "sampler_backward_cuda"
    ),
    KernelUse("native/Pool.cu", "pool_out_cuda", "look-back", "", True),
]


def test_outermost_functions_are_found_through_kernels_types_and_headers() -> None:
    assert kernel_uses(FILES) == USES


def test_without_the_header_nothing_adds() -> None:
    alone = {"native/Pool.cu": POOL, "other/Unused.cuh": HEADER}
    assert kernel_uses(alone) == [USES[1]]


def archive(path: Path, texts: dict[str, str]) -> Path:
    with tarfile.open(path, "w:gz") as tar:
        for name, text in texts.items():
            member = tarfile.TarInfo(f"pytorch-2.6.0/{name}")
            member.size = len(text.encode())
            tar.addfile(member, io.BytesIO(text.encode()))
    return path


def test_an_archive_becomes_a_table_without_tests_and_other_frameworks(tmp_path: Path) -> None:
    more = {"caffe2/Pool.cu": POOL, "native/test/Pool.cu": POOL, "native/readme.md": POOL}
    found = kernel_table(archive(tmp_path / "source.tar.gz", {**FILES, **more}), "torch", "2.6.0")
    assert (found.package, found.version, found.file) == ("torch", "2.6.0", "source.tar.gz")
    assert found.uses == USES
    assert len(found.sha256) == 64


def test_a_file_that_is_no_archive_and_one_without_sources_are_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="holds no CUDA source"):
        kernel_table(archive(tmp_path / "empty.tar.gz", {"a.py": ""}), "torch", "2.6.0")
    (tmp_path / "text.tar").write_text("no archive")
    for name in ("text.tar", "absent.tar"):
        with pytest.raises(DataError, match="cannot be read as an archive"):
            kernel_table(tmp_path / name, "torch", "2.6.0")
