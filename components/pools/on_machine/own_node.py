"""The API as this node itself: with its kubelet's certificate, where its kubelet called first."""

import json
from pathlib import Path

from kube_http import Kube

JOINING = Path("/etc/kubernetes/bootstrap.kubeconfig")
CERTIFICATE = Path("/var/lib/kubelet/pki/kubelet-client-current.pem")
CALL_SECONDS = 15.0


def client() -> Kube:
    """The server and who vouches for it are those of the kubelet's first call, the certificate its present one."""
    place = json.loads(JOINING.read_text())["clusters"][0]["cluster"]
    return Kube(place["server"], place["certificate-authority"], pair=(CERTIFICATE,), seconds=CALL_SECONDS)
