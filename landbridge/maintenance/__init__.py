"""What is planned on machines of a cluster, as people look at it and change it."""
