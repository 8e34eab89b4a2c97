"""Pods that have their team's role in the cloud: those that name the service account `storage`.

Admission gives them a token that is meant for AWS, which the kubelet renews, and the variables by which every SDK of
AWS takes a role for it. No machine has a part in it: it is the same in a region and at a site.
"""

from fleet import issuers, team_storage

from ..manifests import Manifest
from ..pod_tokens import Token, account
from ..pod_tokens import injection as injected
from ..spec import AddOnsSpec
from . import team_roles

ADDON = "team-roles"
VOLUME, FOLDER, FILE = "landbridge-role", "/var/run/secrets/landbridge.dev/role", "token"
ROLE = "AWS_ROLE_ARN"


def wanted(spec: AddOnsSpec) -> bool:
    return bool(spec.cluster.account and team_storage.regions(spec.fleet))


def manifests(spec: AddOnsSpec) -> list[Manifest]:
    return [*(account(team, ADDON) for team in sorted(spec.fleet.teams)), *injection(spec)]


def variables(spec: AddOnsSpec) -> dict[str, str]:
    """What every pod has alike, by name; `ROLE` is its team's."""
    # STS is asked there. Buckets of other regions are found by their names.
    known, home = team_storage.regions(spec.fleet), spec.cluster.region
    region = home if home in known else min(spec.aws_regions or known)
    return {
        "AWS_WEB_IDENTITY_TOKEN_FILE": f"{FOLDER}/{FILE}",
        "AWS_REGION": region,
        "AWS_DEFAULT_REGION": region,
        "AWS_STS_REGIONAL_ENDPOINTS": "regional",
        # Python's SDK asks for buckets of us-east-1 all over the world else.
        "AWS_S3_US_EAST_1_REGIONAL_ENDPOINT": "regional",
    }


def injection(spec: AddOnsSpec) -> list[Manifest]:
    roles = {
        team_storage.namespace(team): team_roles.role_arn(spec.fleet, spec.cluster.name, team)
        for team in sorted(spec.fleet.teams)
    }
    by_team = "{" + ", ".join(f"'{space}': '{arn}'" for space, arn in roles.items()) + "}[request.namespace]"
    known = {name: f"value: '{value}'" for name, value in variables(spec).items()}
    values = {ROLE: "value: variables.role", **known}
    token = Token(VOLUME, FOLDER, issuers.AUDIENCE, FILE)
    return injected(spec.fleet, ADDON, "landbridge-team-roles", token, values, {"role": by_team})
