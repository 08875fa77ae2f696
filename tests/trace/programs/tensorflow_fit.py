"""A small model, trained by the `fit` of Keras: `tensorflow_fit.py SEED|none [reversed]`."""

import sys

import numpy as np
import tensorflow as tf

if sys.argv[1] != "none":
    tf.keras.utils.set_random_seed(int(sys.argv[1]))
x = np.random.default_rng(0).normal(size=(32, 8)).astype("float32")
if sys.argv[2:] == ["reversed"]:
    x = x[::-1]
model = tf.keras.Sequential(
    [
        tf.keras.layers.Dense(8, activation="relu"),
        tf.keras.layers.Dropout(0.5),
        tf.keras.layers.Dense(1),
    ]
)
model.compile(optimizer="sgd", loss="mse")
history = model.fit(x, x[:, :1], batch_size=16, epochs=2, verbose=0)
print([float(loss).hex() for loss in history.history["loss"]])
