"""Node images: one recipe, baked on this machine, checked, published and moved through channels."""
