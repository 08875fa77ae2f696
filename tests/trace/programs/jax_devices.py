"""Two steps on two devices: a jitted shard_map that adds up, and a pmap."""

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as Parts

mesh = Mesh(np.array(jax.devices()), ("x",))
data = jax.device_put(jnp.arange(8.0), NamedSharding(mesh, Parts("x")))


@jax.jit
def train(batch):
    def part(values):
        return jax.lax.psum(jnp.sin(values), "x")

    return jax.shard_map(part, mesh=mesh, in_specs=Parts("x"), out_specs=Parts())(batch * 2)


@jax.pmap
def evaluate(rows):
    return jnp.exp(rows)


for step in range(2):
    total = train(data + step)
    rows = evaluate(jnp.arange(4.0).reshape(2, 2) + step)
print(len(jax.devices()), total.sum(), rows.sum())
