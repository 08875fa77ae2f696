"""For people who write records: faults, differences, mutation, coverage."""
