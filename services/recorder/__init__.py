"""Keeps what ended in a cluster, and why, for those who ask when it is gone: `landbridge why` reads it.

Files of one cloud alone, and why:
    aws/clients: Azure's clients are made in any thread.
"""
