"""A site's VPN gateway: every file that it needs, from the fleet and its address plan. Pure."""
