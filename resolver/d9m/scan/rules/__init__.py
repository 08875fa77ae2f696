"""The rules of the scan, a module for each family."""
