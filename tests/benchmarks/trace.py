"""What recording costs, as ratios to a training step that is not recorded, with the records
of a step and the bytes of each.

    python tests/benchmarks/trace.py [ROUNDS [FRAMEWORK ...]]

Five models of PyTorch with AdamW, fused and foreach, on this CPU, beside torch's DebugMode with
hashes of what each op returns; of TensorFlow and JAX two models at level step. Levels take turns
step by step in one process, so that a busy machine slows all of them alike; each figure is a median
of CPU times, of one thread or, where the framework computes in threads of its own, of the process.
Read ratios, not milliseconds. Nothing is asserted here.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path.append(str(ROOT / "tests" / "emitted"))

from environments import (  # noqa: E402  its folder has to be on the path
    FRAMEWORKS,
    PROBED,
    InstalledFramework,
)

TORCH = '''
import importlib, os, statistics, sys, tempfile, time
import torch
from torch import nn
from torch.utils._debug_mode import DebugMode
from d9m import trace

torch.set_num_threads(1)
rounds = int(sys.argv[1])


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norms = nn.ModuleList([nn.LayerNorm(width), nn.LayerNorm(width)])
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.mlp = nn.Sequential(
            nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width)
        )

    def forward(self, x):
        batch, length, width = x.shape
        shape = batch, length, 4, width // 4
        q, k, v = (t.view(shape).transpose(1, 2) for t in self.qkv(self.norms[0](x)).chunk(3, -1))
        seen = nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(seen.transpose(1, 2).reshape(x.shape))
        return x + self.mlp(self.norms[1](x))


class Gpt(nn.Module):
    def __init__(self, width, layers, words=512):
        super().__init__()
        self.words = nn.Embedding(words, width)
        self.blocks = nn.Sequential(*[Block(width) for _ in range(layers)])
        self.head = nn.Linear(width, words)

    def forward(self, ids):
        return self.head(self.blocks(self.words(ids)))


def images():
    def stage(into, out):
        return [nn.Conv2d(into, out, 3, padding=1), nn.BatchNorm2d(out), nn.ReLU()]
    return nn.Sequential(
        *stage(3, 32), *stage(32, 64), nn.MaxPool2d(2), *stage(64, 128), nn.MaxPool2d(2),
        *stage(128, 256), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(256, 10),
    )


MODELS = {
    "MLP": (lambda: nn.Sequential(
        nn.Linear(1024, 2048), nn.ReLU(), nn.Linear(2048, 1024), nn.ReLU(), nn.Linear(1024, 10)),
        lambda: torch.randn(128, 1024)),
    "conv net": (images, lambda: torch.randn(16, 3, 32, 32)),
    "GPT, small": (lambda: Gpt(128, 4), lambda: torch.randint(512, (8, 64))),
    "GPT, larger": (lambda: Gpt(384, 7), lambda: torch.randint(512, (8, 64))),
    "tiny ops": (
        lambda: nn.Sequential(*(nn.Linear(8, 8) for _ in range(64))), lambda: torch.randn(4, 8)),
}
LEVELS = [("step", "cached"), ("module", "cached"), ("op", "cached"), ("op", "exact")]


def recorded(level, inputs, work):
    """CPU seconds of the second of two recorded steps, its records, its bytes. The first one
    learns the ops and writes their sites.
    """
    with tempfile.TemporaryDirectory() as folder:
        run = os.path.join(folder, "run")
        with trace.record(run, level=level, inputs=inputs, step_by="explicit"):
            work()
            trace.step()
            seconds = timed(work)
            trace.step()
        with open(os.path.join(run, "r0-0.d9m"), "rb") as file:
            lines = file.readlines()
    first = next(place for place, line in enumerate(lines) if line.startswith(b'["d",0'))
    second = lines[first + 1 : -1]
    return seconds, len(second), sum(map(len, second))


def timed(work):
    began = time.thread_time()
    work()
    return time.thread_time() - began


def debugged(work):
    """CPU seconds of a step under DebugMode."""
    with DebugMode(), DebugMode.log_tensor_hashes("hash_tensor"):
        return timed(work)


print(f"{'model':<13}{'params':>8} {'optimizer':<9}" + "".join(
    f"{level + ('' if level != 'op' else ' ' + inputs):>12}" for level, inputs in LEVELS)
    + f"{'DebugMode':>12}{'records':>9}{'bytes':>7}")
for name, (make, data) in MODELS.items():
    for switch in ("fused", "foreach"):
        torch.manual_seed(0)
        model, batch = make(), data()
        optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, **{switch: True})

        def work():
            optimizer.zero_grad()
            model(batch).float().square().mean().backward()
            optimizer.step()

        for _ in range(3):
            work()
        times = {pair: [] for pair in [None, *LEVELS]}
        debug = []
        for _ in range(rounds):
            times[None].append(timed(work))
            debug.append(debugged(work))
            for pair in LEVELS:
                times[pair].append(recorded(*pair, work))
        plain = statistics.median(times[None])
        medians = {pair: statistics.median(one[0] for one in times[pair]) for pair in LEVELS}
        _, records, size = times["op", "exact"][-1]
        count = sum(parameter.numel() for parameter in model.parameters())
        print(f"{name:<13}{count / 1e6:>7.1f}M {switch:<9}" + "".join(
            f"{medians[pair] / plain:>12.2f}" for pair in LEVELS)
            + f"{statistics.median(debug) / plain:>12.2f}{records:>9}{size / records:>7.0f}",
            flush=True)
'''


STEPS = '''
import os, statistics, sys, tempfile, time
from d9m import trace

rounds = int(sys.argv[1])
TURNS = 8
"""Steps of each kind that are timed in a round."""


def times(work):
    found = []
    for _turn in range(TURNS):
        began = time.process_time()
        work()
        found.append(time.process_time() - began)
    return found


def warm(make):
    """A function that does a step, after the two that trace it and write its sites."""
    work = make()
    work()
    work()
    return work


def compared(model, parameters, how, make):
    """A row. `make` makes a function that does a step: what is made outside of a recording is not
    recorded. Both kinds are made anew each round: one that has run for long already has its memory.
    """
    without, recorded = [], []
    for _round in range(rounds):
        without += times(warm(make))
        with tempfile.TemporaryDirectory() as folder:
            run = os.path.join(folder, "run")
            with trace.record(run):
                work = warm(make)
                with open(os.path.join(run, "r0-0.d9m"), "rb") as file:
                    before = len(file.readlines())
                recorded += times(work)
            with open(os.path.join(run, "r0-0.d9m"), "rb") as file:
                lines = file.readlines()[before:-1]
    ratio = statistics.median(recorded) / statistics.median(without)
    print(f"{model:<13}{parameters / 1e6:>7.1f}M {how:<12}{ratio:>9.2f}{len(lines) / TURNS:>9.1f}"
          f"{sum(map(len, lines)) / len(lines):>7.0f}", flush=True)


print(f"{'model':<13}{'params':>8} {'runs':<12}{'step':>9}{'records':>9}{'bytes':>7}")
'''

TENSORFLOW = (
    STEPS
    + """
import tensorflow as tf

tf.get_logger().setLevel("ERROR")
layers = tf.keras.layers
MODELS = {
    "MLP": (lambda: tf.keras.Sequential(
        [layers.Dense(2048, "relu"), layers.Dense(1024, "relu"), layers.Dense(10)]), (128, 1024)),
    "conv net": (lambda: tf.keras.Sequential(
        [layers.Conv2D(32, 3, activation="relu"), layers.Conv2D(64, 3, activation="relu"),
         layers.MaxPool2D(), layers.Conv2D(128, 3, activation="relu"),
         layers.GlobalAveragePooling2D(), layers.Dense(10)]), (16, 32, 32, 3)),
}
for name, (make_model, shape) in MODELS.items():
    tf.keras.utils.set_random_seed(0)
    model, batch = make_model(), tf.random.normal(shape)
    model(batch)
    optimizer = tf.keras.optimizers.AdamW(1e-4)
    optimizer.build(model.trainable_variables)

    def step():
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(model(batch) ** 2)
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables))
        return loss

    compared(name, model.count_params(), "eager", lambda: step)
    compared(name, model.count_params(), "tf.function", lambda: tf.function(step))
"""
)

JAX = (
    STEPS
    + """
import jax
import jax.numpy as jnp


def mlp(params, x):
    for weight in params[:-1]:
        x = jax.nn.relu(x @ weight)
    return x @ params[-1]


def images(params, x):
    for kernel in params[:-1]:
        x = jax.nn.relu(jax.lax.conv(x, kernel, (1, 1), "SAME"))
    return x.mean((2, 3)) @ params[-1]


MODELS = {
    "MLP": (mlp, [(1024, 2048), (2048, 1024), (1024, 10)], (128, 1024)),
    "conv net": (
        images, [(32, 3, 3, 3), (64, 32, 3, 3), (128, 64, 3, 3), (128, 10)], (16, 3, 32, 32)),
}
for name, (model, shapes, shape) in MODELS.items():
    keys = jax.random.split(jax.random.key(0), len(shapes) + 1)
    params = [0.02 * jax.random.normal(key, size) for key, size in zip(keys, shapes)]
    batch = jax.random.normal(keys[-1], shape)
    state = params, params, params

    def step(state, batch):
        params, first, second = state
        gradients = jax.grad(lambda params: (model(params, batch) ** 2).mean())(params)
        first = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, first, gradients)
        second = jax.tree.map(lambda v, g: 0.999 * v + 0.001 * g * g, second, gradients)
        params = jax.tree.map(
            lambda p, m, v: p - 1e-4 * (m / (jnp.sqrt(jnp.abs(v)) + 1e-8) + 0.01 * p),
            params, first, second)
        return params, first, second

    def make():
        jitted, now = jax.jit(step), state

        def work():
            nonlocal now
            now = jax.block_until_ready(jitted(now, batch))

        return work

    compared(name, sum(param.size for param in params), "jit", make)
"""
)

PROGRAMS = {"torch": TORCH, "tensorflow": TENSORFLOW, "jax": JAX}


def main() -> int:
    rounds = sys.argv[1] if len(sys.argv) > 1 else "15"
    wanted = sys.argv[2:] or list(PROGRAMS)
    codes = [measured(framework, rounds) for framework in environments(wanted)]
    return max(codes)


def environments(packages: list[str]) -> list[InstalledFramework]:
    known = [found for found in (*FRAMEWORKS, *PROBED) if not found.extra]
    return [next(found for found in known if found.package == name) for name in packages]


def measured(framework: InstalledFramework, rounds: str) -> int:
    if not framework.stands:
        sys.stdout.write(f"needs {framework.name}: {framework.how}\n")
        return 1
    load = os.getloadavg()[0]
    sys.stdout.write(f"{framework.name}, one thread, load of the machine {load:.1f}\n")
    sys.stdout.flush()
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / "program.py"
        program.write_text(PROGRAMS[framework.package], encoding="utf-8")
        return subprocess.run(
            [str(framework.interpreter), str(program), rounds],
            env={
                **os.environ,
                "PYTHONPATH": os.pathsep.join([str(ROOT / "resolver"), *PATHS]),
                "TF_CPP_MIN_LOG_LEVEL": "3",
                "TF_NUM_INTRAOP_THREADS": "1",
                "XLA_FLAGS": "--xla_cpu_multi_thread_eigen=false",
            },
            check=False,
        ).returncode


def xxhash() -> list[str]:
    """Where the launcher's xxhash lies, for the program's Python."""
    from importlib.util import find_spec

    found = find_spec("xxhash")
    return [str(Path(found.origin).parents[1])] if found and found.origin else []


PATHS = xxhash()

if __name__ == "__main__":
    sys.exit(main())
