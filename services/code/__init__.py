"""In a pod, before the run begins: its code comes from the team's folder of a fleet bucket."""
