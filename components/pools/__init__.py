"""Like machines of a cluster in one region or at one site: what they are, how they join and go.

Files of one cloud alone, and why:
    aws/hooks: Azure has no pauses before a machine's end: whoever ends one puts its node away first.
    azure/capacity: AWS takes a group without a size; Azure's sizes are read before each update.
    azure/firewall: AWS compiles the rules in aws/pool.
    azure/metadata_guard: AWS keeps pods off by the metadata service's hop limit.
    on_machine/aws/web_identity: signs as api_aws does, with keys that STS gives for a token of the cluster's.
    on_machine/azure/arm: Azure's Resource Manager takes a token of Entra's, which it gives for one of the cluster's.
"""
