"""What this machine really does: its settings against the advice, its ops run with and without them."""
