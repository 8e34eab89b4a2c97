"""A kubeconfig that holds its credential: whoever has the file is whom it names."""

import base64
import json
from collections.abc import Mapping


def kubeconfig(name: str, user: str, where: Mapping[str, str], authority: str, crt: str, key: str) -> str:
    """`where` is how the server is reached, `server` at least; authority, certificate and key are PEM.

    JSON is YAML; written by hand it can't go wrong.
    """
    credential = {"client-certificate-data": encoded(crt), "client-key-data": encoded(key)}
    config = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": name, "cluster": {**where, "certificate-authority-data": encoded(authority)}}],
        "users": [{"name": user, "user": credential}],
        "contexts": [{"name": name, "context": {"cluster": name, "user": user}}],
        "current-context": name,
    }
    return json.dumps(config, indent=2) + "\n"


def encoded(text: str) -> str:
    return base64.b64encode(text.encode()).decode()
