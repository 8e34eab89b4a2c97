"""What Azure sells, as tables, and names that follow from the fleet file alone."""
