"""Keeps what ended in a cluster, and why, for those who ask when it is gone: `landbridge why` reads it.

aws.py, azure.py: the fleet bucket of the cluster's home in either cloud
"""
