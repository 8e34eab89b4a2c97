"""Node images: the recipe, its lock, bakes and their checks."""
