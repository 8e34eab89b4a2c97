"""Who may use a cluster, by name and team: certificates that end, and the rights that they bear."""
