"""The fleet bucket and the shares of a region, and a site's own NFS server.

Files of one cloud alone, and why:
    aws/bucket: Azure's account and container are in azure/spec.
    aws/nfs: a site's server brings its backups to AWS alone.
    aws/nfs_roles: the same.
    azure/secrets: Pulumi's provider of AWS reads secrets by itself.
    azure/spec: AWS's bucket is in aws/bucket.
"""
