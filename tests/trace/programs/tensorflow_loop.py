"""Steps of TensorFlow, run eagerly: `tensorflow_loop.py EXIT_CODE SEED [unseeded|kill]`."""

import os
import sys

import tensorflow as tf

code, seed = int(sys.argv[1]), int(sys.argv[2])
plant = sys.argv[3] if len(sys.argv) > 3 else ""
tf.random.set_seed(seed)
data = tf.reshape(tf.range(64, dtype=tf.float32), (16, 4)) / 64
batches = tf.data.Dataset.from_tensor_slices((data, data[:, :1])).batch(8).repeat(2)
weight = tf.Variable(tf.random.normal((4, 1)), name="weight")
bias = tf.Variable(tf.zeros((1,)), name="bias")
optimizer = tf.keras.optimizers.Adam(0.01)


def noise(x):
    if plant == "unseeded":
        return tf.raw_ops.RandomStandardNormal(shape=tf.shape(x), dtype=x.dtype)
    return tf.random.normal(tf.shape(x))


for step, (x, y) in enumerate(batches):
    with tf.GradientTape() as tape:
        predicted = (x + 0.1 * noise(x)) @ weight + bias
        loss = tf.reduce_mean((predicted - y) ** 2)
    gradients = tape.gradient(loss, [weight, bias])
    optimizer.apply_gradients(zip(gradients, [weight, bias]))
    if plant == "kill" and step == 2:
        os.kill(os.getpid(), 9)
print("loss", float(loss).hex(), "sum", float(tf.reduce_sum(weight)).hex())
sys.exit(code)
