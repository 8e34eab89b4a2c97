"""Tokens of the cluster's own, by which a cloud knows the joining service: API machines may be at home in another.

The cluster's issuer vouches for a service account, and a role or an identity there trusts it: no secret of that cloud's
is on any machine. Who may have such a token in the cluster, admission.py says.
"""

from machine import Refused

from kube_http import Answer, Kube

SPACE = "/api/v1/namespaces/kube-system"
TOKEN = f"{SPACE}/serviceaccounts/landbridge-joining/token"
LIFETIME_SECONDS = 3600


def token(kube: Kube, audience: str) -> str:
    """Raises Refused, OSError."""
    spec = {"audiences": [audience], "expirationSeconds": LIFETIME_SECONDS}
    wish = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": spec}
    try:
        return str(kube.ask("POST", TOKEN, wish)["status"]["token"])
    except Answer as refused:
        raise Refused(refused.status, str(refused)) from None
