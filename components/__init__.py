"""Pulumi components: a package a topic, and in each what clouds share, beside a folder for each cloud.

Files of one cloud alone, and why:
    azure/assignment: rights on AWS are documents of a role, and no resource of their own.
"""
