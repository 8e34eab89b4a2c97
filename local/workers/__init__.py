"""What stands in on local machines for a worker's kubelet, its containerd and its sysctl."""
