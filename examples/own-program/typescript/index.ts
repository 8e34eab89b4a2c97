// A new cluster and its pool in networks that exist.
import * as pulumi from "@pulumi/pulumi";
import * as landbridge from "@pulumi/landbridge";

const fleet = new pulumi.Config().require("fleet");
const network = new pulumi.StackReference("organization/landbridge/us-west-2");
const stacks = { "us-west-2": network.outputs };

const second = new landbridge.Cluster("second", { fleet, cluster: "second", stacks });
const cpu = new landbridge.Pool("second-cpu", {
    fleet,
    pool: "second-cpu",
    stacks: { ...stacks, second: second.outputs },
});

// Under its own name: the next `up` compares with it before it takes a step of Kubernetes or of a key.
export = { second: second.outputs, "second-cpu": cpu.outputs, endpoint: second.endpoint };
