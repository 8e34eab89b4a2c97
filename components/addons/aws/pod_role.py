"""What a pod of ours needs to be heard by AWS: a token that is meant for it, and the role that it takes with that.

By the same variables and in the same folder as teams' pods have theirs (team_pods.py).
"""

from fleet import issuers

from ..manifests import Manifest
from ..pod_tokens import SECONDS
from ..spec import AddOnsSpec
from . import team_pods

VOLUME = "aws"


def volume() -> Manifest:
    token = {"audience": issuers.AUDIENCE, "expirationSeconds": SECONDS, "path": team_pods.FILE}
    return {"name": VOLUME, "projected": {"sources": [{"serviceAccountToken": token}]}}


def mount() -> Manifest:
    return {"name": VOLUME, "mountPath": team_pods.FOLDER, "readOnly": True}


def variables(spec: AddOnsSpec, role: str) -> list[Manifest]:
    """`role` is an ARN."""
    known = {team_pods.ROLE: role, **team_pods.variables(spec)}
    return [{"name": name, "value": value} for name, value in known.items()]
