"""What people type into the search box, and the pages that answer it."""

from __future__ import annotations

CUBLAS = (
    "RuntimeError: Deterministic behavior was enabled with either "
    "`torch.use_deterministic_algorithms(True)` or "
    "`at::Context::setDeterministicAlgorithms(true)`, "
    "but this operation is not deterministic because it uses CuBLAS and you have CUDA >= 10.2. To "
    "enable deterministic behavior in this case, you must set an environment variable before "
    "running your PyTorch application: CUBLAS_WORKSPACE_CONFIG=:4096:8 or "
    "CUBLAS_WORKSPACE_CONFIG=:16:8."
)
INDEX_ADD = (
    "index_add_cuda_ does not have a deterministic implementation, but you set "
    "'torch.use_deterministic_algorithms(True)'. You can turn off determinism just for this "
    "operation if that's acceptable for your application. You can also file an issue at "
    "https://github.com/pytorch/pytorch/issues to help us prioritize adding deterministic support "
    "for this operation."
)
CUMSUM = "RuntimeError: cumsum_cuda_kernel does not have a deterministic implementation"

READERS: dict[str, tuple[str, ...]] = {
    INDEX_ADD: ("errors/pytorch/index-add-cuda/",),
    CUMSUM: ("errors/pytorch/cumsum/",),
    CUBLAS: ("errors/pytorch/cublas-config/",),
    "is scatter_add deterministic": ("sources/pytorch/scatter-add/", "errors/pytorch/scatter-add/"),
    "is cumsum deterministic in pytorch 2.4": ("sources/pytorch/cumsum/", "releases/torch/2.4/"),
    "ngc container pytorch 23.12": ("containers/ngc-pytorch/23.12-py3/",),
    "flash attention backward": (
        "sources/flash-attn/attention-backward/",
        "solutions/flash-attn/deterministic/",
    ),
    "non-deterministic on mac mps": ("symptoms/apple-gpu/",),
    "xla_gpu_deterministic_ops": ("settings/xla/xla-gpu-deterministic-ops/",),
    "does multi gpu training give same result": (
        "symptoms/other-number-of-gpus/",
        "symptoms/several-gpus/",
    ),
    "A100 and H100": ("symptoms/differs-between-machines/",),
    "lightning Trainer deterministic=True warn": ("helpers/lightning/trainer-deterministic-warn/",),
    "same seed different results": ("symptoms/all-seeds-set/", "symptoms/runs-differ/"),
    "upgrade from 2.3 to 2.9": ("upgrade/torch/",),
    "tensorflow 2.0 deterministic": ("releases/tensorflow/2.0/",),
    "tfdeterminism patch": (
        "solutions/tensorflow/tdp/",
        "settings/tensorflow/tfdeterminism-patch/",
    ),
    "megatron deterministic mode": (
        "settings/megatron/deterministic-mode/",
        "solutions/megatron/mdm/",
    ),
    "CUBLAS_WORKSPACE_CONFIG": ("settings/pytorch/cublas-workspace-config/",),
    "dataloader workers seed numpy": (
        "ingredients/data-loader-workers/",
        "symptoms/same-numbers-in-workers/",
    ),
    "pytorch 2.9 settings": ("releases/torch/2.9/",),
    "nccl allreduce deterministic": (
        "sources/nccl/algorithm-choice/",
        "settings/nccl/nccl-algo/",
        "solutions/nccl/ring/",
    ),
    "vllm batch invariance": (
        "sources/vllm/batch-size/",
        "solutions/vllm/vbi/",
        "settings/vllm/vllm-batch-invariant/",
    ),
    "temperature 0 different outputs": ("symptoms/temperature-zero/",),
    "how to get reproducible results in pytorch": ("recipe/",),
    "what does torch.backends.cudnn.deterministic do": (
        "settings/pytorch/torch-backends-cudnn-deterministic/",
    ),
}
"""Asked by readers of the site."""

OURS: dict[str, tuple[str, ...]] = {
    "torch.use_deterministic_algorithms": ("settings/pytorch/torch-use-deterministic-algorithms/",),
    "torch.nn.functional.interpolate": ("sources/pytorch/interpolate-",),
    "tf.config.experimental.enable_op_determinism": ("settings/tensorflow/enable-op-determinism/",),
    "set all seeds pytorch": ("ingredients/seeds/", "recipe/", "symptoms/all-seeds-set/"),
    "reproducibility": ("recipe/", "why/"),
    "random seed": ("ingredients/seeds/",),
    "upgrade tensorflow 2.8 to 2.9": ("upgrade/tensorflow/",),
    "torch.backends.cudnn.benchmark = False": (
        "settings/pytorch/torch-backends-cudnn-benchmark/",
        "solutions/pytorch/cbo/",  # has this very title
    ),
    "PYTHONHASHSEED": ("settings/python/pythonhashseed/",),
    "loss is different every time I run the notebook": (
        "symptoms/notebook-cell/",
        "symptoms/runs-differ/",
    ),
    "results differ between CPU and GPU": ("symptoms/cpu-and-gpu/",),
    "is torch.sort deterministic": ("ops/torch/",),
    "xgboost reproducible": (
        "sources/xgboost/",
        "ingredients/boosting-seeds/",
        "versions/xgboost/",
    ),
    "lightgbm deterministic=true": (
        "settings/lightgbm/deterministic/",
        "solutions/lightgbm/",
    ),
    "NCCL_ALGO": ("settings/nccl/nccl-algo/",),
    "deterministic mode is slow": ("symptoms/slow-with-the-flag/",),
    "out of memory with use_deterministic_algorithms": ("symptoms/memory-with-the-flag/",),
    "huggingface full determinism": (
        "settings/transformers/full-determinism/",
        "helpers/transformers/enable-full-determinism/",
    ),
    "does dropout depend on the gpu": (
        "sources/pytorch/dropout-by-gpu/",
        "sources/pytorch/dropout/",
    ),
    "torch.compile different results than eager": (
        "symptoms/compiled-differs/",
        "ingredients/torch-compile/",
    ),
    "np.random in DataLoader workers same numbers": ("symptoms/same-numbers-in-workers/",),
    "scikit-learn random_state": (
        "sources/scikit-learn/random-state/",
        "solutions/scikit-learn/srs/",
        "settings/scikit-learn/random-state/",
    ),
    "tf32 precision reproducibility": (
        "sources/pytorch/tf32/",
        "ingredients/reduced-precision/",
        "symptoms/rounded-matrix-products/",
    ),
    "pytorch 2.1 to 2.4 upgrade what changed": ("upgrade/torch/",),
    "grid_sampler_2d_backward_cuda does not have a deterministic implementation": (
        "errors/pytorch/grid-sample/",
    ),
}
"""Written before anything was searched for."""
