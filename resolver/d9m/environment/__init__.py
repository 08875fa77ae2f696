"""What a question is asked about: packages, container, device and facts."""
