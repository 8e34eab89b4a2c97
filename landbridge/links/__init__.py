"""Links as they stand: what their stack published, and what sites make of it.

Files of one cloud alone, and why:
    azure/status: AWS tells of tunnels in one answer (status.py); Azure of keys, of BGP and of peerings in three.
"""
