"""What a cluster measures and what is wrong with it, for people at a terminal."""
