"""Where the programs lie that machines get; those that the toolchain builds."""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BIN = ROOT / ".landbridge/bin"
PROGRAMS = ("etcd", "etcdctl", "etcdutl", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "kubectl")
