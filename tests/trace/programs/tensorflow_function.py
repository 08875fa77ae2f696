"""Steps within a `tf.function`: `tensorflow_function.py [unseeded]`."""

import sys

import tensorflow as tf

plant = sys.argv[1:] == ["unseeded"]
tf.random.set_seed(1)
x = tf.reshape(tf.range(64, dtype=tf.float32), (16, 4)) / 64
weight = tf.Variable(tf.random.normal((4, 1)), name="weight")
optimizer = tf.keras.optimizers.SGD(0.01)


def noise(shape):
    if plant:
        return tf.raw_ops.RandomStandardNormal(shape=shape, dtype=tf.float32)
    return tf.random.normal(shape)


@tf.function
def train_step(x):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((x @ weight + noise((16, 1)) - x[:, :1]) ** 2)
    (gradient,) = tape.gradient(loss, [weight])
    optimizer.apply_gradients([(gradient, weight)])
    return loss


for _step in range(3):
    loss = train_step(x)
print("loss", float(loss).hex())
