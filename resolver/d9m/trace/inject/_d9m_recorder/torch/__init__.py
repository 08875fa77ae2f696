# pyright: basic
"""PyTorch."""
