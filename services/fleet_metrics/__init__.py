"""Reads every five minutes what Prometheus can't ask itself, and only clouds and buckets know, and shows it as metrics.

Files of one cloud alone, and why:
    aws/watch: CloudWatch tells of tunnels and of quotas; in Azure each tells of itself.
"""
