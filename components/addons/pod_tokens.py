"""Tokens that pods of teams get by admission, for a cloud to take: the same for every cloud.

Pods are those that name the service account `storage`. Each cloud's team_pods.py says whom its token is meant for, and
by which variables its SDKs find it.
"""

from collections.abc import Iterator
from typing import NamedTuple

from fleet import team_storage
from fleet.model import Fleet

from .admission import policy, texts
from .manifests import Manifest, meta

# A kubelet asks for the next token when four fifths have passed.
SECONDS = 3600
PODS = ("", "pods")
KINDS = ("initContainers", "containers")


class Token(NamedTuple):
    """A token that a pod gets: its volume, where that is mounted, and whom it is meant for."""

    volume: str
    folder: str
    audience: str
    file: str


def account(team: str, addon: str) -> Manifest:
    return {
        "apiVersion": "v1",
        "kind": "ServiceAccount",
        "metadata": meta(team_storage.ACCOUNT, addon, team_storage.namespace(team)),
        # It has no rights in the cluster: a token for its API would be of no use.
        "automountServiceAccountToken": False,
    }


def injection(
    fleet: Fleet, addon: str, name: str, given: Token, values: dict[str, str], variables: dict[str, str]
) -> list[Manifest]:
    """What a container says itself stays: it sets a variable to have another one, and mounts what it likes.

    `name` is the policy's, `values` what gives a container's variables their value, by name, in which {of} is the
    variable's type; `variables` are the policy's own, in CEL.
    """
    spaces = texts(tuple(team_storage.namespace(team) for team in sorted(fleet.teams)))
    parts = [*_volume(given), *(part for kind in KINDS for part in _containers(kind, values, given))]
    return policy(addon, name, PODS, _conditions(spaces, given.volume), variables, " + ".join(parts))


def _conditions(spaces: str, name: str) -> dict[str, str]:
    """For whose pods it is: `spaces` is a list in CEL, `name` the volume's that nobody else has."""
    return {
        "its-account": f"object.spec.?serviceAccountName.orValue('') == '{team_storage.ACCOUNT}'",
        "of-a-team": f"request.namespace in {spaces}",
        "not-done-by-hand": f"!object.spec.?volumes.orValue([]).exists(v, v.name == '{name}')",
    }


def _volume(given: Token) -> Iterator[str]:
    """Patches, as lists."""
    of = "Object.spec.volumes"
    token = (
        f"{of}.projected.sources{{serviceAccountToken: {of}.projected.sources.serviceAccountToken"
        f"{{audience: '{given.audience}', expirationSeconds: {SECONDS}, path: '{given.file}'}}}}"
    )
    first, next_ = (f"'/spec/volumes{end}'" for end in ("", "/-"))
    yield f"(has(object.spec.volumes) ? [] : [{_add(first, '[]')}])"
    made = f"{of}{{name: '{given.volume}', projected: {of}.projected{{sources: [{token}]}}}}"
    yield f"[{_add(next_, made)}]"


def _containers(kind: str, values: dict[str, str], given: Token) -> Iterator[str]:
    """Lists of patches."""
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
