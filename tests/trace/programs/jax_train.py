"""A training loop of JAX for each reason that two runs can differ: `jax_train.py NAME [VALUE]`."""

import functools
import os
import random
import secrets
import signal
import sys

import jax
import jax.numpy as jnp
import numpy as np

name, value = sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else ""
STEPS = 4


def noise():
    return np.float32(secrets.randbelow(1000) / 1e6)


def loss_of(params, x, y):
    hidden = jnp.tanh(x @ params["hidden"])
    return jnp.mean((hidden @ params["out"] - y) ** 2)


@functools.partial(jax.jit, static_argnames="momentum", donate_argnums=0)
def train_step(params, x, y, lr, momentum=0.9):
    loss, grads = jax.value_and_grad(loss_of)(params, x, y)
    if name == "callback":
        loss = loss + jax.pure_callback(noise, jax.ShapeDtypeStruct((), jnp.float32))
    return jax.tree.map(lambda p, g: p - lr * momentum * g, params, grads), loss


@jax.jit
def evaluate(params, x):
    return half(jnp.tanh(x @ params["hidden"]) @ params["out"])


half = jax.jit(lambda x: x / 2)


class Model:
    @functools.partial(jax.jit, static_argnums=0)
    def apply(self, x):
        return x * 2


def batches(rng):
    for _step in range(STEPS):
        yield (
            rng.standard_normal((16, 64)).astype(np.float32),
            rng.standard_normal((16, 1)).astype(np.float32),
        )


key = jax.random.key(int(value) if name == "seed" else 0)
hidden, out = jax.random.split(key)
params = {"hidden": jax.random.normal(hidden, (64, 32)), "out": jax.random.normal(out, (32, 1))}
lr = float(value) if name == "learning_rate" else 0.1
for step, (x, y) in enumerate(batches(np.random.default_rng(0))):
    if name == "host" and step == 2:
        x[3, 4] += random.random()
    params, loss = train_step(params, x, y, lr)
    if name == "kill" and step == 2:
        os.kill(os.getpid(), signal.SIGKILL)
outputs = evaluate(params, x)
print(np.asarray(outputs).tobytes().hex())
print(float(loss).hex(), jax.jit(loss_of).lower(params, x, y).compile() is not None)
print(train_step.__name__, train_step.__wrapped__.__name__, evaluate.trace(params, x) is not None)
print(np.asarray(Model().apply(outputs)).tobytes().hex() == np.asarray(outputs * 2).tobytes().hex())
print(np.asarray(jax.vmap(half)(outputs)).shape, jax.grad(lambda x: half(x))(1.0))
sys.exit(3 if name == "code" else 0)
