"""Tags of what outlives a cluster: etcd's disks. When it is destroyed they stay, under tags no machine looks for."""

FLEET, CLUSTER, MACHINE = "landbridge:fleet", "landbridge:cluster", "landbridge:machine"
# Machines find their disks by the first; a disk that nobody shall find has the second instead.
DISK, RETAINED = "landbridge:disk", "landbridge:kept"
