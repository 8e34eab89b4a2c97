"""etcd and API servers of a cluster: specs and bundles here, resources in clouds' folders.

Files of one cloud alone, and why:
    azure/balancer: AWS's is a few lines of aws/control_plane.
    azure/firewall: AWS compiles the rules into resources of their own in aws/control_plane; Azure into one
        list.
"""
