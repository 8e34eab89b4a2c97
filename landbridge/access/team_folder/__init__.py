"""A team's folder in the fleet buckets, with the rights of the team's pods: nobody gets a key of a cloud for it."""
