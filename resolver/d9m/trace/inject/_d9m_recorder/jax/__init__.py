# pyright: basic
"""JAX."""
