"""Reads each five minutes what Prometheus can't ask itself, and only clouds and buckets know, and shows it.

Alone in a cloud:

    azure/bgp: in AWS the state of tunnels is that of BGP
"""
