"""What a fleet is: the fleet file's model and rules, its address plan. Pure Python, without Pulumi or a cloud.

Files of one cloud alone, and why:
    azure/ids: ARNs are one line each where they are needed; Azure's ids are paths of many parts.
    aws/watch: CloudWatch tells of tunnels and of quotas; in Azure each tells of itself.
    azure/images: AWS's images are named by parameters (image_names.py); Azure's are versions in a gallery.
"""
