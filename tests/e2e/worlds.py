"""Fleets of several files: a control plane in each cloud, and a region that its backups go to."""

IN_AWS = """\
fleet: test
owner: ops
domain: test.example.com
supernet: 10.128.0.0/12
aws: {account_id: "123456789012"}
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
IN_AZURE = """\
fleet: test
owner: ops
domain: test.example.com
supernet: 10.128.0.0/12
azure: {subscription_id: 00000000-0000-4000-8000-00000000000a, tenant_id: 00000000-0000-4000-8000-000000000001}
regions:
  southcentralus: {cloud: azure, zones: ["1", "2"]}
  westus3: {cloud: azure, zones: ["1", "2"]}
clusters:
  main: {region: southcentralus, kubernetes: 1.36.2, copies: westus3}
teams:
  ops: {gid: 2000}
people:
  alice: {uid: 3001, team: ops}
"""
