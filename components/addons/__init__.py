"""What runs inside a cluster: a file an add-on, and in clouds' folders what it needs there.

Files of one cloud alone, and why:
    aws/efa: EFA is AWS's; InfiniBand of Azure's sizes is RDMA as at sites (rdma.py).
    azure/joining_identity: AWS has a role alone (aws/joining_role.py, aws/addons.py).
"""
