"""Pulumi's provider plugins of the local cloud.

Files of one cloud alone, and why:
    azure/*: AWS's API has flat calls, which tables describe; Azure's has bodies in versions, long operations
        and data planes.
"""
