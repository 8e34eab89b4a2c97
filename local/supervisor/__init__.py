"""The local cloud's machines service: makes a machine of each instance, and what AWS has around it."""
