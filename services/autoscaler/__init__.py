"""The autoscaler's cloud side: it knows every scaling group of every region and cloud.

Files of one cloud alone, and why:
    azure/answers: AWS's answers are read in aws/cloud, in ten lines.
    azure/calls: boto3 has limits in time and retries as settings.
    azure/quota: AWS says in a refused launch that a quota is full; Azure only where one asks.
"""
