"""Reads every five minutes what Prometheus can't ask itself, and only clouds and buckets know, and shows it as metrics.

Files of one cloud alone, and why:
    aws/clients: Azure's clients are made of what each of them needs.
"""
