"""Sizes of pools by hand, and how pools are."""
