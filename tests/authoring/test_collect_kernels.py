"""CUDA sources are cut into functions, and each outermost one says how it adds."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import tarfile
from pathlib import Path

import pytest

from d9m import files
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
    with pytest.raises(DataError, match="cannot be read as an archive"):
        kernel_table(tmp_path / "text.tar", "torch", "2.6.0")
    for path in (tmp_path / "absent.tar", Path("/dev/zero")):
        with pytest.raises(DataError, match="no such file"):
            kernel_table(path, "torch", "2.6.0")


@pytest.mark.parametrize("packed", ["gz", "bz2", "xz"])
def test_every_packing_is_read(tmp_path: Path, packed: str) -> None:
    plain = gzip.decompress(archive(tmp_path / "source.tar.gz", FILES).read_bytes())
    pack = {"gz": gzip.compress, "bz2": bz2.compress, "xz": lzma.compress}[packed]
    for path, content in ((tmp_path / f"a.tar.{packed}", pack(plain)), (tmp_path / "a.tar", plain)):
        path.write_bytes(content)
        assert kernel_table(path, "torch", "2.6.0").uses == USES


@pytest.mark.parametrize("kind", [tarfile.XHDTYPE, tarfile.GNUTYPE_LONGNAME, tarfile.REGTYPE])
def test_an_archive_that_unpacks_without_end_is_refused(tmp_path: Path, kind: bytes) -> None:
    """A few bytes that stand for many: nothing unpacks them to find out."""
    member = tarfile.TarInfo("native/Pool.txt")
    member.type, member.size = kind, 1 << 40
    header = member.tobuf(tarfile.GNU_FORMAT)
    (tmp_path / "bomb.tar.gz").write_bytes(gzip.compress(header + bytes(1 << 20)))
    with pytest.raises(DataError, match=r"bomb\.tar\.gz: unpacks to more"):
        kernel_table(tmp_path / "bomb.tar.gz", "torch", "2.6.0")


def test_an_archive_with_too_much_source_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "LARGEST", 100_000)
    path = archive(tmp_path / "source.tar.gz", {f"native/{at}.cu": POOL * 200 for at in range(9)})
    with pytest.raises(DataError, match="of source"):
        kernel_table(path, "torch", "2.6.0")
