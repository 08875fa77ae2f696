"""Functions of JAX that call others in every way, and draw noise in one of them:
`jax_ops.py none|branch|loop|scan|gradient|io|literal|constant|long|raises`.
"""

import random
import secrets
import sys

import jax
import jax.numpy as jnp
import numpy as np

name = sys.argv[1]
rate = random.random() if name == "literal" else 0.5
offsets = np.arange(4, dtype=np.float32) + (random.random() if name == "constant" else 0)


def draw():
    if name == "raises":
        raise ValueError("no noise today")
    return np.float32(secrets.randbelow(1 << 20) / 1e6)


def noise(where):
    if name != where:
        return jnp.float32(0)
    return jax.pure_callback(draw, jax.ShapeDtypeStruct((), jnp.float32))


@jax.custom_jvp
def clipped(x):
    return jnp.minimum(x, 3.0)


@clipped.defjvp
def clipped_jvp(primals, tangents):
    (x,), (t,) = primals, tangents
    return clipped(x), jnp.where(x < 3.0, t, 0.1 * t)


@jax.custom_vjp
def scaled(x):
    return 2.0 * x


scaled.defvjp(lambda x: (scaled(x), x), lambda x, g: (2.0 * g + noise("gradient"),))


@jax.checkpoint
def block(x, table, ids):
    with jax.named_scope("Block"):
        return jax.nn.relu(x @ table[ids])


def folded(carry, row):
    carry = carry + row.sum() + noise("scan")
    return carry, carry * rate


def loss_of(table, x, ids):
    hidden = clipped(block(x, table, ids)) + offsets
    total, rows = jax.lax.scan(folded, jnp.float32(0), scaled(hidden), reverse=True)
    return total + rows.mean() + hidden.mean()


def grown(state):
    turn, value = state
    return turn + 1, value * 1.5 + noise("loop")


@jax.jit
def train(table, x, ids, count):
    loss, gradient = jax.value_and_grad(loss_of)(table, x, ids)
    loss = jax.lax.cond(loss > 0, lambda x: x + 1 + noise("branch"), lambda x: x - 1, loss)
    _turn, loss = jax.lax.while_loop(lambda state: state[0] < count, grown, (0, loss))
    if name in ("io", "raises"):
        shape = jax.ShapeDtypeStruct((), jnp.float32)
        loss = loss + jax.experimental.io_callback(draw, shape, ordered=True)
    key = jax.random.key(3)
    return {"table": table - 0.1 * gradient}, loss, jax.random.normal(key, (2,)), key, None


@jax.jit
@jax.vmap
def halved(x):
    return jax.lax.while_loop(lambda x: x > 1.0, lambda x: x / 2, x)


@jax.jit
def turned(x, count):
    return jax.lax.fori_loop(0, count, lambda turn, x: x * 0.5 + noise("long"), x)


table = jax.random.normal(jax.random.key(0), (6, 4))
x = np.linspace(-1, 1, 12, dtype=np.float32).reshape(4, 3)
for _step in range(2):
    new, loss, drawn, key, nothing = train(table, x, jnp.array([0, 2, 2]), 3)
    table = new["table"]
if name == "long":
    loss = turned(loss, 9000) + halved(jnp.array([3.0, 9.0])).sum()
assert nothing is None
assert jnp.issubdtype(key.dtype, jax.dtypes.prng_key)
print(np.asarray(table).tobytes().hex())
print(np.asarray(loss).tobytes().hex(), np.asarray(drawn).tobytes().hex())
