"""The fleet of the tests of a pool's stack: one pool of each kind in a region, and one at a site that serves NFS."""

FLEET = """\
fleet: test
owner: ops
domain: test.example.com
supernet: 10.128.0.0/12
aws: {account_id: "123456789012"}
regions:
  us-west-2: {cloud: aws, zones: [a, b], laptops: true}
  us-east-1: {cloud: aws, zones: [a]}
sites:
  room:
    gateways: [192.0.2.10]
    asn: 65010
    nfs: host-1
    hosts: {host-1: &host {gpus: 8, gpu: h100, cpus: 96, memory_gib: 1024}, host-2: *host}
storage:
  shares:
    homes: {path: /homes}
    data-sets: {path: /data-sets, gid: 2001, mode: "2775"}
clusters:
  main: {region: us-west-2, kubernetes: 1.36.2}
pools:
  room-gpu: {kind: gpu, cluster: main, site: room, owner: lab, hosts: [host-1, host-2]}
  west-gpu: {kind: gpu, cluster: main, region: us-west-2, owner: lab, instance_type: p5.48xlarge, gpus: 8, max: 4}
  cpu: {kind: cpu, cluster: main, region: us-west-2, owner: lab, instance_type: c7i.8xlarge, max: 50,
        spot: true, max_price_per_hour: 0.8}
  system: {kind: system, cluster: main, region: us-west-2, owner: ops, instance_type: m7i.large, min: 2, max: 4}
  shell: {kind: ssh, cluster: main, region: us-west-2, owner: lab, instance_type: g5.xlarge, gpus: 1, max: 2}
teams:
  ops: {gid: 2000}
  lab: {gid: 2001}
people:
  ann: {uid: 3001, team: lab, keys: [ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIAABAgMEBQYHCAkKCwwNDg8QERITFBUWFxgZGhscHR4f]}
"""
