"""What the fleet's machines cost: by which lists, how old these are, and how newer ones are fetched."""
