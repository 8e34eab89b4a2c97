"""Whom the clouds' own alarms reach: addresses of the fleet file, in each region.

Files of one cloud alone, and why:
    aws/access: Azure's Monitor tells a group of its own subscription without being let in.
"""
