"""A picture of the fleet: what stands where, which prefixes it has, and what joins it."""
