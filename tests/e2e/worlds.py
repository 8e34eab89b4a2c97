"""Fleets of several files, and how each comes up: a control plane in each cloud with a region for its backups, and one
of all kinds of stacks."""

from tests.support import saved
from tests.support.cloud import Cloud

from .standing import bring_up

# An account and a directory that nothing but this file names: no cloud here may know them before.
SUBSCRIPTION, TENANT = "00000000-0000-4000-8000-00000000000a", "00000000-0000-4000-8000-0000000000b7"
IN_AWS = """\
fleet: test
owner: ops
domain: test.example.com
supernet: 10.128.0.0/12
aws: {account_id: "012345678901"}
regions:
  us-west-2: {cloud: aws, zones: [a, b]}
  us-east-1: {cloud: aws, zones: [a, b]}
clusters:
  main: {region: us-west-2, kubernetes: 1.36.2, copies: us-east-1}
teams:
  ops: {gid: 2000}
people:
  alice: {uid: 3001, team: ops}
"""
IN_AZURE = f"""\
fleet: test
owner: ops
domain: test.example.com
supernet: 10.128.0.0/12
azure: {{subscription_id: {SUBSCRIPTION}, tenant_id: {TENANT}}}
regions:
  southcentralus: {{cloud: azure, zones: ["1", "2"]}}
  westus3: {{cloud: azure, zones: ["1", "2"]}}
clusters:
  main: {{region: southcentralus, kubernetes: 1.36.2, copies: westus3}}
teams:
  ops: {{gid: 2000}}
people:
  alice: {{uid: 3001, team: ops}}
"""
# All kinds of stacks.
HYBRID = """\
fleet: test
owner: ops
domain: test.example.com
supernet: 10.128.0.0/12
aws: {account_id: "123456789012"}
regions:
  us-west-2: {cloud: aws, zones: [a, b, c], laptops: true}
  us-east-1: {cloud: aws, zones: [a]}
sites:
  lab:
    gateways: [192.0.2.10]
    asn: 65010
    nfs: host-1
    hosts:
      host-1: &host {gpus: 8, gpu: h100, cpus: 96, memory_gib: 1024, rdma: true}
      host-2: *host
storage:
  shares: {homes: {path: /homes}}
clusters:
  main: {region: us-west-2, kubernetes: 1.36.2}
pools:
  site-gpu: {kind: gpu, cluster: main, site: lab, owner: lab, hosts: [host-1, host-2]}
  west-gpu: {kind: gpu, cluster: main, region: us-west-2, owner: lab, instance_type: p5.48xlarge, gpus: 8, max: 4}
  east-gpu: {kind: gpu, cluster: main, region: us-east-1, owner: lab, instance_type: p5.48xlarge, gpus: 8, max: 4}
  cpu: {kind: cpu, cluster: main, region: us-west-2, owner: lab, instance_type: c7i.8xlarge, max: 4}
  system: {kind: system, cluster: main, region: us-west-2, owner: ops, instance_type: m7i.large, zones: [a, b], min: 2, max: 4}
teams:
  ops: {gid: 2000}
  lab: {gid: 2001}
people:
  ann: {uid: 3001, team: lab}
"""
# A control plane in AWS with machines in Azure.
IN_BOTH = f"""\
fleet: test
owner: ops
domain: test.example.com
supernet: 10.128.0.0/12
access: ssh
ssh: certificates
aws: {{account_id: "012345678901"}}
azure: {{subscription_id: {SUBSCRIPTION}, tenant_id: {TENANT}}}
regions:
  us-west-2: {{cloud: aws, zones: [a, b, c]}}
  southcentralus: {{cloud: azure, zones: ["1"], laptops: true}}
clusters:
  main: {{region: us-west-2, kubernetes: 1.36.2}}
pools:
  south-gpu: {{kind: gpu, cluster: main, region: southcentralus, owner: lab, instance_type: Standard_NC24ads_A100_v4, gpus: 1,
              min: 1, max: 3}}
  south-cpu: {{kind: cpu, cluster: main, region: southcentralus, owner: lab, instance_type: Standard_D8s_v5, max: 4}}
  far-gpu: {{kind: gpu, cluster: main, region: southcentralus, owner: lab, instance_type: Standard_ND96isr_H100_v5, gpus: 8,
            max: 4}}
  desk: {{kind: ssh, cluster: main, region: southcentralus, owner: lab, instance_type: Standard_D2s_v5, min: 1, max: 1}}
  system: {{kind: system, cluster: main, region: us-west-2, owner: ops, instance_type: m7i.large, zones: [a, b], min: 2,
           max: 4}}
teams:
  ops: {{gid: 2000}}
  lab: {{gid: 2001}}
people:
  alice: {{uid: 3001, team: lab}}
  bob: {{uid: 3002, team: ops}}
storage:
  shares:
    data: {{path: /data, gid: 2001}}
"""


def up(cloud: Cloud) -> None:
    cloud.run("up", "--local", "--yes", seconds=1200)


# Saved world → what brings it up, and of which fleet.
WORLDS: dict[str, tuple[saved.Make, str]] = {
    "in-aws": (up, IN_AWS),
    "in-azure": (up, IN_AZURE),
    "in-all": (bring_up, HYBRID),
    # No pod asks for anything, so that no machine comes or goes by itself.
    "at-rest": (up, HYBRID),
    "in-both": (up, IN_BOTH),
}
