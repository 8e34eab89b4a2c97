"""What runs inside a cluster: a file an add-on, and in clouds' folders what it needs there.

Files of one cloud alone, and why:
    aws/efa: EFA is AWS's; InfiniBand of Azure's sizes is RDMA as at sites (rdma.py).
    azure/joining_identity: a machine of AWS proves itself by its own signed request: nobody looks it up with
        rights.
    azure/joining_role: the same.
"""
