"""Where images are published to, each by the same few calls.

Files of one cloud alone, and why:
    aws/blocks: EBS takes blocks by an API of its own; Azure a page blob, by its SDK.
"""
