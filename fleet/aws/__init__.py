"""What AWS sells, as tables."""
