"""What types of Microsoft.Compute have in common: sizes, quotas and capacity, what a machine is made of, its power."""
