"""Teams' storage in S3: a folder of their own in every fleet bucket, and buckets that the fleet file adds.

A team's pods use it as the service account `storage` of the team's namespace, for which the cluster's issuer vouches.
"""

from collections.abc import Iterator

from .buckets import bucket_arn, key_alias
from .model import Fleet, TeamBucket

Wrong = tuple[tuple[str | int, ...], str, str]
# In a fleet bucket, before the team's name.
FOLDER = "teams"
ACCOUNT = "storage"
_TEAM = "team-"


def namespace(team: str) -> str:
    """The team's, in every cluster."""
    return f"{_TEAM}{team}"


def team_of(space: str) -> str:
    """Whose a namespace is; empty for what is no team's."""
    return space.removeprefix(_TEAM) if space.startswith(_TEAM) else ""


def subject(team: str) -> str:
    """Whom a token of the team's service account is about."""
    return f"system:serviceaccount:{namespace(team)}:{ACCOUNT}"


def regions(fleet: Fleet) -> list[str]:
    """Those that have a fleet bucket in S3."""
    return sorted(name for name, region in fleet.regions.items() if region.cloud == "aws")


def bucket_arns(fleet: Fleet) -> list[str]:
    """The fleet buckets, one a region."""
    return [bucket_arn(fleet, region) for region in regions(fleet)]


def key_aliases(fleet: Fleet) -> list[str]:
    """Of the keys that encrypt fleet buckets. By them a role names a key before it is made, in whichever stack."""
    return [key_alias(fleet, region) for region in regions(fleet)]


def wrong(fleet: Fleet) -> Iterator[Wrong]:
    """Every problem with its entry."""
    for name, team in fleet.teams.items():
        for n, bucket in enumerate(team.buckets):
            entry = ("teams", name, "buckets", n)
            if fleet.aws is None:
                what = f"team {name} has the bucket {bucket.name}, and the fleet names no aws account"
                remedy = "Remove it: such buckets are S3's alone. Or add aws: {account_id: …} at the top"
                yield entry, what, remedy
                continue
            yield from ((entry, *found) for found in _problems(fleet, name, bucket))
            if bucket.name in [other.name for other in team.buckets[:n]]:
                yield entry, f"bucket {bucket.name} of team {name} stands twice", "Remove one of them"


def _problems(fleet: Fleet, team: str, bucket: TeamBucket) -> Iterator[tuple[str, str]]:
    assert fleet.aws is not None
    account, state = fleet.aws.account_id, fleet.state.backend if fleet.state else ""
    if bucket.name.startswith(f"{fleet.fleet}-") and bucket.name.endswith(f"-{account}"):
        what = f"bucket {bucket.name} of team {team} is called like the fleet's own, which hold bundles and backups"
        yield what, f"Remove it: pods of {team} have {FOLDER}/{team}/ in each fleet bucket"
    elif state.removeprefix("s3://").partition("/")[0].partition("?")[0] == bucket.name:
        yield f"bucket {bucket.name} of team {team} holds the fleet's state", "Remove it: no pod may see the state"
    if bucket.key and bucket.key.split(":")[4] != account:
        what = f"the key of bucket {bucket.name} of team {team} is of account {bucket.key.split(':')[4]}"
        yield what, f"Name a key of the fleet's account, {account}"
