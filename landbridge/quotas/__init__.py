"""Whether the clouds' quotas are enough for a fleet, as it begins and at its largest."""
