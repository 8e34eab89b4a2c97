"""What joins the regions and sites of a fleet: so far their names."""
