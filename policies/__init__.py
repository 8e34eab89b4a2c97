"""The policy pack: rules about all resources of a stack.

Files of one cloud alone, and why:
    aws/buckets: Azure's accounts are judged in azure/stores.
    aws/grants: rights on Azure are assignments, and no documents.
    aws/role_documents: the same.
    aws/machines: the same: what an identity of a machine may is judged in azure/roles.
    aws/sites: a site's hosts take roles of AWS alone.
    azure/role_conditions: AWS's documents name what may be done with what, and need none.
    azure/stores: AWS's buckets are judged in aws/buckets.
"""
