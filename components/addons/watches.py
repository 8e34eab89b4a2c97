"""Which add-ons may list or watch, in the whole cluster, what grows with its nodes; and why each must.

A watch costs one connection a client, and then every change once for each client: N nodes that watch N nodes are N²
messages. What is not in the table is refused by a test, so a row here is the place to argue.
"""

# Grows with nodes: objects of nodes themselves, of pods, and those that are written for each of them.
GROWING = {
    "": (
        "nodes",
        "pods",
        "endpoints",
        "events",
        "persistentvolumes",
        "persistentvolumeclaims",
        "replicationcontrollers",
    ),
    "apps": ("replicasets", "daemonsets", "deployments", "statefulsets", "controllerrevisions"),
    "batch": ("jobs",),
    "certificates.k8s.io": ("certificatesigningrequests",),
    "coordination.k8s.io": ("leases",),
    "discovery.k8s.io": ("endpointslices",),
    "events.k8s.io": ("events",),
    "resource.k8s.io": ("resourceclaims", "resourceslices"),
    "storage.k8s.io": ("csinodes", "csistoragecapacities", "volumeattachments"),
}
READ_VERBS = ("list", "watch", "*")

# Of two autoscalers one looks, and the other waits for the lease. The notes beside it list the pods that have no node,
# at most a tenth of the time, and once a minute the labels of nodes from the API server's memory. The service lists
# nodes as a table when a machine is to go.
ONE = "one client in the cluster, the leading autoscaler: it tries Kubernetes' own scheduler on machines to come"
AUTOSCALER = (
    "pods",
    "nodes",
    "persistentvolumes",
    "persistentvolumeclaims",
    "replicationcontrollers",
    "daemonsets",
    "replicasets",
    "statefulsets",
    "jobs",
    "csinodes",
    "csistoragecapacities",
    "volumeattachments",
    "resourceclaims",
    "resourceslices",
)

# Both watch, so that nothing is missed while one moves. What they see is written outside the cluster.
RECORDER = "two clients in the cluster, however large it is"

QUEUES = "one client in the cluster, the leading controller"

# What alarms are made of: who is not ready, who waits, who has ended.
STATE_METRICS = ("nodes", "pods", "daemonsets", "deployments", "statefulsets", "jobs")
STATES = "one client in the cluster: it tells as metrics what the API says of them"

USAGE = "two clients in the cluster"

# ClusterRole, resource → why.
ALLOWED = {
    **{("landbridge:cluster-autoscaler", resource): ONE for resource in AUTOSCALER},
    ("landbridge:recorder", "pods"): f"{RECORDER}: how a pod ended is nowhere else once it is gone",
    ("landbridge:recorder", "nodes"): f"{RECORDER}: what becomes of a node takes its pods along",
    ("landbridge:recorder", "events"): f"{RECORDER}: the API server keeps them for an hour",
    ("landbridge:recorder", "jobs"): f"{RECORDER}: whose pods they are, and when they were given up",
    ("landbridge:maintenance", "nodes"): f"{QUEUES}: on each Node stands what is planned there",
    ("landbridge:maintenance", "pods"): f"{QUEUES}: those of a node where something is planned; it watches none",
    ("landbridge:kueue", "jobs"): f"{QUEUES}: it knows by them who waits, and whose pods are ready",
    ("landbridge:jobset", "jobs"): f"{QUEUES}: a run's parts are Jobs",
    ("landbridge:jobset", "pods"): f"{QUEUES}: a part of a run follows its first pod, found by labels",
    ("landbridge:jobset", "nodes"): f"{QUEUES}: only once a run asks for places of its own, by the first pod's node",
    **{("landbridge:kube-state-metrics", kind): STATES for kind in STATE_METRICS},
    ("landbridge:metrics-server", "nodes"): f"{USAGE}: it asks each node's kubelet what is used there",
    (
        "landbridge:metrics-server",
        "pods",
    ): f"{USAGE}: it tells what pods use by their labels; it knows their heads alone",
    ("landbridge-joining", "nodes"): (
        "the one leader of the joining service knows of every Node whether its machine is there still: one client"
    ),
    ("landbridge-joining", "certificatesigningrequests"): "the same leader decides them: one client",
    ("landbridge:joining", "certificatesigningrequests"): (
        "a machine waits for its own, by a field selector, which RBAC can't express, and as long as it joins"
    ),
    ("landbridge:flannel", "nodes"): (
        "every node routes to every other: its range and address stand on its Node. Kubelets write a status that did "
        "not change once in five minutes, or this would be the cluster's heaviest watch"
    ),
    ("landbridge:kube-proxy", "nodes"): "its own alone, by a field selector, which RBAC can't express",
    ("landbridge:kube-proxy", "endpointslices"): (
        "the addresses behind services, less headless ones, which jobs use: it leaves those out by a label selector"
    ),
    (
        "landbridge:coredns",
        "endpointslices",
    ): "headless services are names of pods; a few clients a place, not one a node",
    ("landbridge:kube-network-policies", "pods"): (
        "policies choose pods by labels, so each agent knows every pod's address and labels. One watch a node, in "
        "protobuf: 15 KB a pod's life and node, which a start of 2,500 pods on 2,500 nodes makes 94 GB. Its flavour "
        "without it is no choice yet: see network_policies.py"
    ),
}
