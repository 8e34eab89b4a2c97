"""A page of a cluster as it is now, for people in a browser: read only, by their own rights, and from this computer."""
