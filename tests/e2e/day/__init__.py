"""A day of random faults, against which `landbridge why` is held: `python -m tests.e2e.day --help`."""
