"""The commands' ways into clouds: one seam (`cloud.py`), and a folder for each cloud behind it.

Files of one cloud alone, and why:
    azure/blobs: boto3 has all of S3 in a few calls, which stand in aws/cloud.
    azure/clients: boto3 makes its clients by name.
    azure/gallery: AWS has no galleries: images are looked up by parameters.
    azure/recreate: a scaling group of AWS makes a machine of one anew by itself.
    azure/refusals: AWS's own sentences say what to do.
    azure/sign_in: boto3 signs in by itself.
    azure/vaults: secrets of AWS have no vault, whose name a deleted one would keep.
"""
