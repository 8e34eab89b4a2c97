"""The discovery file of a site's hosts: where the cluster's API is and who vouches for it. No secret.

The form is kubeadm's ("kubeadm join", file or HTTPS-based discovery): a kubeconfig of a cluster and nobody.
"""

import base64
import json
from typing import Any

from .kubelet import CONFIG
from .spec import PoolSpec

PATH = f"{CONFIG}/discovery.kubeconfig"


def discovery(spec: PoolSpec, authority: str) -> dict[str, Any]:
    """`authority` is PEM: all certificates that are trusted."""
    data = base64.b64encode(authority.encode()).decode()
    return {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": spec.cluster, "cluster": {"server": spec.server, "certificate-authority-data": data}}],
    }


def files(spec: PoolSpec, authority: str) -> dict[str, str]:
    return {PATH: json.dumps(discovery(spec, authority), indent=2, sort_keys=True) + "\n"}
