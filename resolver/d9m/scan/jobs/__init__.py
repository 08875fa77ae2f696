"""Job files: scripts, images and configuration that start programs, and what they set for them."""
