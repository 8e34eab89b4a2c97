"""What one person may look at: operators all, people what is their team's."""

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from fleet import records
from fleet.buckets import bucket_name
from fleet.world import World
from landbridge.access.person import OPERATOR, Person
from landbridge.access.team_folder.opened import at_home
from landbridge.clouds.cloud import Bucket, CloudError
from landbridge.cluster import session as sessions
from landbridge.places import Place

from .api import Api
from .audit_log import AuditLog
from .looking import Looking
from .records import Records


def looking(person: Person, hours: float, days: float) -> Looking:
    """`hours` are of the audit log, where the recorder has nothing."""
    now, blind = datetime.now(UTC), dict[str, None]()
    log = None
    if person.session is None:
        blind["the audit log, which is for operators"] = None
    else:
        log = AuditLog(person.session.bucket, person.session.info, [(now - timedelta(hours=hours), now)])
    # What does not answer soon is told as that: the records have most of it.
    return Looking(Api(replace(person.kube, hasty=True), blind), log, of_person(person, days))


def of_person(person: Person, days: float) -> Records:
    """Those that they may read."""
    if person.name == OPERATOR:
        return of_operator(person.world, person.place, person.cluster, person.team, days)
    return _records(lambda: at_home(person), person.cluster, person.team, days)


def without_cluster(world: World, place: Place, cluster: str, days: float, why: str) -> Looking:
    """For operators, of a cluster that is not up."""
    blind = {f"the cluster's API: {why}": None}
    return Looking(Api(None, blind), None, of_operator(world, place, cluster, "", days))


def without_entry(world: World, place: Place, cluster: str, days: float) -> Looking | None:
    """For operators, of a cluster that the fleet file has no more; None where no region's bucket knows of one."""
    blind: dict[str, None] = {f"the cluster's API: {world.path.name} has {cluster} no more": None}
    for region in world.fleet.regions:

        def opened(region: str = region) -> Bucket:
            return _bucket(world, place, region)

        found = _records(opened, cluster, "", days)
        try:
            if found.keys:
                return Looking(Api(None, blind), None, found)
        except CloudError as error:
            blind[f"the bucket of {region}: {error}"] = None
    return None


def of_operator(world: World, place: Place, cluster: str, team: str, days: float) -> Records:
    """All, or what is one team's."""

    def opened() -> Bucket:
        return _bucket(world, place, world.fleet.clusters[cluster].region)

    return _records(opened, cluster, team, days)


def _bucket(world: World, place: Place, region: str) -> Bucket:
    return sessions.cloud_in(world, place, region).bucket(bucket_name(world.fleet, region))


def _records(opened: Callable[[], Bucket], cluster: str, team: str, days: float) -> Records:
    now = datetime.now(UTC)
    return Records(opened, records.folder(cluster, team), now - timedelta(days=days), now)
