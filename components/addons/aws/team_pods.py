"""Pods that have their team's role in the cloud: those that name the service account `storage`.

Admission gives them a token that is meant for AWS, which the kubelet renews, and the variables by which every SDK of
AWS takes a role for it. No machine has a part in it: it is the same in a region and at a site.
"""

from collections.abc import Iterator
from typing import NamedTuple

from fleet import issuers, team_storage

from ..admission import policy, texts
from ..manifests import Manifest, meta
from ..spec import AddOnsSpec
from . import team_roles

ADDON = "team-roles"
VOLUME, FOLDER, FILE = "landbridge-role", "/var/run/secrets/landbridge.dev/role", "token"
ROLE = "AWS_ROLE_ARN"
PODS = ("", "pods")
KINDS = ("initContainers", "containers")


def wanted(spec: AddOnsSpec) -> bool:
    return bool(spec.cluster.account and team_storage.regions(spec.fleet))


def manifests(spec: AddOnsSpec) -> list[Manifest]:
    return [*(account(team) for team in sorted(spec.fleet.teams)), *injection(spec)]


class Token(NamedTuple):
    """A token that a pod gets: its volume, where that is mounted, and whom it is meant for."""

    volume: str
    folder: str
    audience: str
    seconds: int
    file: str


def account(team: str, addon: str = ADDON) -> Manifest:
    return {
        "apiVersion": "v1",
        "kind": "ServiceAccount",
        "metadata": meta(team_storage.ACCOUNT, addon, team_storage.namespace(team)),
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
    by_team = "{" + ", ".join(f"'{space}': '{arn}'" for space, arn in roles.items()) + "}[request.namespace]"
    known = {name: f"value: '{value}'" for name, value in variables(spec).items()}
    values = {ROLE: "value: variables.role", **known}
    token = Token(VOLUME, FOLDER, issuers.AUDIENCE, team_roles.TOKEN_SECONDS, FILE)
    parts = [*volume(token), *(part for kind in KINDS for part in containers(kind, values, token))]
    when = conditions(texts(tuple(roles)), VOLUME)
    return policy(ADDON, "landbridge-team-roles", PODS, when, {"role": by_team}, " + ".join(parts))


def conditions(spaces: str, name: str) -> dict[str, str]:
    """For whose pods it is: `spaces` is a list in CEL, `name` the volume's that nobody else has."""
    return {
        "its-account": f"object.spec.?serviceAccountName.orValue('') == '{team_storage.ACCOUNT}'",
        "of-a-team": f"request.namespace in {spaces}",
        "not-done-by-hand": f"!object.spec.?volumes.orValue([]).exists(v, v.name == '{name}')",
    }


def volume(given: Token) -> Iterator[str]:
    """Patches, as lists."""
    of = "Object.spec.volumes"
    token = (
        f"{of}.projected.sources{{serviceAccountToken: {of}.projected.sources.serviceAccountToken"
        f"{{audience: '{given.audience}', expirationSeconds: {given.seconds}, path: '{given.file}'}}}}"
    )
    first, next_ = (f"'/spec/volumes{end}'" for end in ("", "/-"))
    yield f"(has(object.spec.volumes) ? [] : [{_add(first, '[]')}])"
    made = f"{of}{{name: '{given.volume}', projected: {of}.projected{{sources: [{token}]}}}}"
    yield f"[{_add(next_, made)}]"


def containers(kind: str, values: dict[str, str], given: Token) -> Iterator[str]:
    """Lists of patches; `values` are what gives a variable its value, by name, in which {of} is the variable's type."""
    of = f"Object.spec.{kind}"
    mount = f"{of}.volumeMounts{{name: '{given.volume}', mountPath: '{given.folder}', readOnly: true}}"
    yield _each(kind, "!has(c.env)", "/env", "[]")
    for name, value in values.items():
        theirs = f"c.?env.orValue([]).exists(e, e.name == '{name}')"
        given_by = value.replace("{of}", f"{of}.env")
        yield _each(kind, f"!{theirs}", "/env/-", f"{of}.env{{name: '{name}', {given_by}}}")
    yield _each(kind, "!has(c.volumeMounts)", "/volumeMounts", "[]")
    theirs = f"c.?volumeMounts.orValue([]).exists(m, m.mountPath == '{given.folder}')"
    yield _each(kind, f"!{theirs}", "/volumeMounts/-", mount)


def _each(kind: str, condition: str, below: str, value: str) -> str:
    """Patches of those containers for which a condition holds."""
    path = f"'/spec/{kind}/' + string(i) + '{below}'"
    return f"object.spec.?{kind}.orValue([]).transformList(i, c, {condition}, {_add(path, value)})"


def _add(path: str, value: str) -> str:
    return f"JSONPatch{{op: 'add', path: {path}, value: {value}}}"
