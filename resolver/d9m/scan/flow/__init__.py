"""From a listing or a set to what builds on its order, within one file."""
