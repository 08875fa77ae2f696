# pyright: basic
"""TensorFlow."""
