"""Who works in a cluster: a person by the certificate that they were given, or an operator for a team."""

import base64
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from cryptography import x509
from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError

from components.addons.azure import team_roles
from components.addons.spec import AddOnsSpec, addons_spec
from fleet import team_queues, team_storage
from fleet.buckets import bucket_name
from fleet.world import World
from landbridge.cluster import session as sessions
from landbridge.cluster.kube import Kube
from landbridge.errors import UsageError
from landbridge.places import Place

# Commands read the file that it names; nothing of the user's but LANDBRIDGE_… comes into the local cloud.
VARIABLE = "LANDBRIDGE_KUBECONFIG"
OPERATOR = "landbridge-admin"
# Long enough for a large folder.
TOKEN_SECONDS = 3600


class Person:
    """`kube` is the cluster's API as them. `team` is theirs, or whom an operator works for: empty for all teams.

    `session` is an operator's.
    """

    def __init__(
        self,
        world: World,
        place: Place,
        cluster: str,
        kube: Kube,
        name: str,
        team: str,
        session: sessions.Session | None = None,
    ) -> None:
        self.world, self.place, self.cluster = world, place, cluster
        self.kube, self.name, self.team, self.session = kube, name, team, session

    @property
    def options(self) -> str:
        """What has to be typed behind a command that shall mean the same cluster."""
        several = f" --cluster {self.cluster}" if len(self.world.fleet.clusters) > 1 else ""
        return f"{several}{self.place.options}"

    @property
    def namespace(self) -> str:
        return team_storage.namespace(self.team)

    @cached_property
    def spec(self) -> AddOnsSpec:
        return addons_spec(self.world.fleet, self.world.plan, self.cluster)

    @property
    def storage_regions(self) -> list[str]:
        """Where the team has folders for its code: in S3, or in Azure where the fleet has no S3."""
        return team_storage.regions(self.world.fleet) or team_roles.regions(self.world.fleet, self.cluster)

    @property
    def storage_region(self) -> str:
        """Where that folder is which runs of the cluster use."""
        home = self.world.fleet.clusters[self.cluster].region
        return home if home in self.storage_regions else self.storage_regions[0]

    @property
    def bucket(self) -> str:
        return bucket_name(self.world.fleet, self.storage_region)

    def token(self, audience: str) -> str:
        """Of the team's service account, whose pods have the team's rights in clouds. Raises KubeError."""
        words = ("create", "token", team_storage.ACCOUNT, f"--namespace={self.namespace}")
        return self.kube.done(*words, f"--audience={audience}", f"--duration={TOKEN_SECONDS}s").strip()


class Login(NamedTuple):
    """What a kubeconfig is: `text` is the file's."""

    path: Path
    cluster: str
    user: str
    text: str


def opened(
    world: World,
    cluster: str | None,
    *,
    local: bool,
    kubeconfigs: Sequence[Path],
    team: str | None,
    every_team: bool = False,
) -> Person:
    """By a kubeconfig that `landbridge kubeconfig --as` has made, or without one as an operator.

    `every_team`: an operator who names none works for all. Raises UsageError and LandbridgeError.
    """
    if not kubeconfigs:
        session = sessions.opened(world, cluster, local=local)
        chosen = team or ("" if every_team else only_team(world, session.info.name))
        return Person(world, session.place, session.info.name, session.admin, OPERATOR, chosen, session)
    login = _chosen([_read(world, path) for path in kubeconfigs], cluster)
    if login.user not in world.fleet.people:
        raise UsageError(
            f"{login.path} is {login.user}'s, who is not under people in {world.path.name}. Have one made with "
            f"`landbridge kubeconfig --as NAME`."
        )
    own = world.fleet.people[login.user].team
    if team not in (None, own):
        raise UsageError(f"--team {team}: {login.user} is of team {own}, and runs in no other.")
    place = sessions.the_place(world, local=local)
    return Person(world, place, login.cluster, Kube(login.text), login.user, own)


def clusters(world: World, kubeconfigs: Sequence[Path]) -> list[str]:
    """Where one may have runs: an operator where any team may. Raises UsageError."""
    if kubeconfigs:
        return list(dict.fromkeys(_read(world, path).cluster for path in kubeconfigs))
    return [name for name in world.fleet.clusters if team_queues.of_cluster(world.fleet, name)]


def _chosen(logins: Sequence[Login], cluster: str | None) -> Login:
    """Raises UsageError."""
    found = {one.cluster: one for one in logins}
    if cluster is None and len(found) > 1:
        raise UsageError(
            f"Which cluster is meant? Name one with --cluster: you have kubeconfigs for {', '.join(found)}."
        )
    if cluster is not None and cluster not in found:
        first = logins[0]
        if len(found) == 1:
            raise UsageError(
                f"{first.path} is for the cluster {first.cluster}, not for {cluster}. Leave out --cluster {cluster}, "
                f"or have one made with `landbridge kubeconfig --as {first.user} --cluster {cluster}` and name both."
            )
        raise UsageError(f"--cluster {cluster}: your kubeconfigs are for {', '.join(found)}.")
    return found[cluster] if cluster else logins[0]


def only_team(world: World, cluster: str) -> str:
    """An operator has to say whose run it is where several teams queue. Raises UsageError."""
    found = [*team_queues.of_cluster(world.fleet, cluster)]
    if len(found) > 1:
        raise UsageError(f"Whose run is it? Name the team with --team: {', '.join(found)}.")
    return found[0] if found else world.fleet.owner


def _read(world: World, path: Path) -> Login:
    """Raises UsageError."""
    wrong = "Have one made with `landbridge kubeconfig --as NAME`, and name it with --kubeconfig or in " + VARIABLE
    try:
        text = path.read_text()
        config: Mapping[str, Any] = YAML(typ="safe").load(text)
        (cluster,), (user,) = config["clusters"], config["users"]
        name, whose = str(cluster["name"]), str(user["name"])
        certificate = x509.load_pem_x509_certificate(base64.b64decode(user["user"]["client-certificate-data"]))
    except OSError as error:
        raise UsageError(f"{path} can't be read: {error.strerror}. {wrong}.") from None
    except (YAMLError, UnicodeDecodeError, ValueError, KeyError, TypeError):
        raise UsageError(f"{path} is no kubeconfig for one cluster. {wrong}.") from None
    if (ended := certificate.not_valid_after_utc) < datetime.now(UTC):
        raise UsageError(f"{path} was good until {ended:%Y-%m-%d %H:%M} UTC. {wrong}.")
    known = {f"{world.fleet.fleet}-{one}": one for one in world.fleet.clusters}
    if name not in known:
        raise UsageError(
            f"{path} is for {name}, which is no cluster of {world.path.name}: {', '.join(known)}. {wrong}."
        )
    return Login(path, known[name], whose, text)
