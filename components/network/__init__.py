"""Networks of regions: subnets, routes, hubs, endpoints, security groups, names.

Files of one cloud alone, and why:
    aws/cluster_routes: pods' packets of Azure are in those between machines: its networks need no route to a
        cluster.
    azure/groups: AWS compiles the port matrix into resources in aws/network; Azure into lists of numbered
        rules.
"""
