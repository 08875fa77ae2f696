"""The environment of a question: packages, container, device and facts."""
