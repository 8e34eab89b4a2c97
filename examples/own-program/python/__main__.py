"""A new cluster and its pool in networks that exist."""

import pulumi
import pulumi_landbridge as landbridge

fleet = pulumi.Config().require("fleet")
network = pulumi.StackReference("organization/landbridge/us-west-2")
stacks = {"us-west-2": network.outputs}

second = landbridge.Cluster("second", fleet=fleet, cluster="second", stacks=stacks)
cpu = landbridge.Pool("second-cpu", fleet=fleet, pool="second-cpu", stacks={**stacks, "second": second.outputs})

# Under its own name: the next `up` compares with it before it takes a step of Kubernetes or of a key.
pulumi.export("second", second.outputs)
pulumi.export("second-cpu", cpu.outputs)
pulumi.export("endpoint", second.endpoint)
