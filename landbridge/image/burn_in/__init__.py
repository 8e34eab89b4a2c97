"""GPU burn-in of a machine: the ways to it, its node in the cluster, and what people see."""
