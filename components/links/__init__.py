"""What joins the regions and sites of a fleet: tunnels, peerings, gateways of sites, laptops, names.

Files of one cloud alone, and why:
    aws/cross_cloud: AWS begins tunnels between clouds, and so is told of them; Azure's side is
        azure/connections.
    azure/trace: the trace's own words (trace.py) are those of AWS's route tables and hubs; this is Azure's part
        in them.
"""
