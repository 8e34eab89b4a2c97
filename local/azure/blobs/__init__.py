"""Blob storage: the service behind ACCOUNT.blob.core.windows.net, over containers that are resources of ARM."""
