"""The local cloud's machines service: makes a machine of each instance, and what clouds have around it.

Files of one cloud alone, and why:
    aws/agent: Systems Manager's; commands reach Azure's machines by SSH.
    azure/balancers: AWS's balancers are proxies on addresses of their own (balancers.py); Azure's send packets
        on.
"""
