"""Pods that have their team's role in the cloud: those that name the service account `storage`.

Admission gives them a token that is meant for AWS, which the kubelet renews, and the variables by which every SDK of
AWS takes a role for it. No machine has a part in it: it is the same in a region and at a site.
"""

from collections.abc import Iterator

from fleet import issuers, team_storage

from . import team_roles
from .admission import policy, texts
from .manifests import Manifest, meta
from .spec import AddOnsSpec

ADDON = "team-roles"
VOLUME, FOLDER, FILE = "landbridge-role", "/var/run/secrets/landbridge.dev/role", "token"
ROLE = "AWS_ROLE_ARN"
PODS = ("", "pods")
KINDS = ("initContainers", "containers")


def wanted(spec: AddOnsSpec) -> bool:
    return bool(spec.cluster.account and team_storage.regions(spec.fleet))


def manifests(spec: AddOnsSpec) -> list[Manifest]:
    return [*(account(team) for team in sorted(spec.fleet.teams)), *injection(spec)]


def account(team: str) -> Manifest:
    return {
        "apiVersion": "v1",
        "kind": "ServiceAccount",
        "metadata": meta(team_storage.ACCOUNT, ADDON, team_storage.namespace(team)),
        # It has no rights in the cluster: a token for its API would be of no use.
        "automountServiceAccountToken": False,
    }


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
    }


def injection(spec: AddOnsSpec) -> list[Manifest]:
    """What a container says itself stays: it sets a variable to have another one, and mounts what it likes."""
    roles = {
        team_storage.namespace(team): team_roles.role_arn(spec.fleet, spec.cluster.name, team)
        for team in sorted(spec.fleet.teams)
    }
    conditions = {
        "its-account": f"object.spec.?serviceAccountName.orValue('') == '{team_storage.ACCOUNT}'",
        "of-a-team": f"request.namespace in {texts(tuple(roles))}",
        "not-done-by-hand": f"!object.spec.?volumes.orValue([]).exists(v, v.name == '{VOLUME}')",
    }
    by_team = "{" + ", ".join(f"'{space}': '{arn}'" for space, arn in roles.items()) + "}[request.namespace]"
    values = {ROLE: "variables.role", **{name: f"'{value}'" for name, value in variables(spec).items()}}
    parts = [*_volume(), *(part for kind in KINDS for part in _containers(kind, values))]
    return policy(ADDON, "landbridge-team-roles", PODS, conditions, {"role": by_team}, " + ".join(parts))


def _volume() -> Iterator[str]:
    of = "Object.spec.volumes"
    token = (
        f"{of}.projected.sources{{serviceAccountToken: {of}.projected.sources.serviceAccountToken"
        f"{{audience: '{issuers.AUDIENCE}', expirationSeconds: {team_roles.TOKEN_SECONDS}, path: '{FILE}'}}}}"
    )
    first, next_ = (f"'/spec/volumes{end}'" for end in ("", "/-"))
    yield f"(has(object.spec.volumes) ? [] : [{_add(first, '[]')}])"
    made = f"{of}{{name: '{VOLUME}', projected: {of}.projected{{sources: [{token}]}}}}"
    yield f"[{_add(next_, made)}]"


def _containers(kind: str, values: dict[str, str]) -> Iterator[str]:
    """Lists of patches; `values` are expressions by variable."""
    of = f"Object.spec.{kind}"
    mount = f"{of}.volumeMounts{{name: '{VOLUME}', mountPath: '{FOLDER}', readOnly: true}}"
    yield _each(kind, "!has(c.env)", "/env", "[]")
    for name, value in values.items():
        theirs = f"c.?env.orValue([]).exists(e, e.name == '{name}')"
        yield _each(kind, f"!{theirs}", "/env/-", f"{of}.env{{name: '{name}', value: {value}}}")
    yield _each(kind, "!has(c.volumeMounts)", "/volumeMounts", "[]")
    theirs = f"c.?volumeMounts.orValue([]).exists(m, m.mountPath == '{FOLDER}')"
    yield _each(kind, f"!{theirs}", "/volumeMounts/-", mount)


def _each(kind: str, condition: str, below: str, value: str) -> str:
    """Patches of those containers for which a condition holds."""
    path = f"'/spec/{kind}/' + string(i) + '{below}'"
    return f"object.spec.?{kind}.orValue([]).transformList(i, c, {condition}, {_add(path, value)})"


def _add(path: str, value: str) -> str:
    return f"JSONPatch{{op: 'add', path: {path}, value: {value}}}"
