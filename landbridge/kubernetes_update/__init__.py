"""Another version of Kubernetes for a whole cluster: what stands against it, what is to be done, and doing it."""
