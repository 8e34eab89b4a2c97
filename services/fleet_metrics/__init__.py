"""Reads each five minutes what Prometheus can't ask itself, and only clouds and buckets know, and shows it."""
