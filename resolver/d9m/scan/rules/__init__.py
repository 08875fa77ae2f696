"""What the scan objects to, a module for each family of rules."""
