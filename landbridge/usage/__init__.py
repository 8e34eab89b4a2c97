"""GPU hours: whose they were, how many were lost, and what they cost."""
