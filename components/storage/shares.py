"""The shares of a region as plain data: what every place mounts under the same names."""

from typing import Any, NamedTuple

from fleet.model import Fleet
from fleet.shares import HOMES, home_path

from .site.nfs_spec import HOME_MODE


class ShareSpec(NamedTuple):
    """A directory of the file system, made with this owner and mode when it is first mounted."""

    name: str
    path: str
    uid: int
    gid: int
    mode: str


class SharesSpec(NamedTuple):
    """All shares of a region lie on one file system. `homes` are people's, by their names."""

    backups: bool
    shares: tuple[ShareSpec, ...]
    homes: tuple[ShareSpec, ...]


def shares_spec(fleet: Fleet) -> SharesSpec:
    shares = sorted(fleet.storage.shares.items())
    return SharesSpec(
        backups=fleet.storage.backups,
        shares=tuple(ShareSpec(name, s.path, s.uid, s.gid, s.mode) for name, s in shares),
        homes=_homes(fleet),
    )


def _homes(fleet: Fleet) -> tuple[ShareSpec, ...]:
    """Root is squashed, so nobody could make a folder in share `homes`: EFS makes each when it is first mounted."""
    if HOMES not in fleet.storage.shares:
        return ()
    return tuple(
        ShareSpec(name, home_path(fleet, name), person.uid, fleet.teams[person.team].gid, HOME_MODE)
        for name, person in sorted(fleet.people.items())
    )


def arn_prefix(fleet: Fleet, region: str) -> str:
    """What the ARN of every file system of the region begins with."""
    assert fleet.aws is not None
    return f"arn:aws:elasticfilesystem:{region}:{fleet.aws.account_id}:file-system/"


def shares_policy(arn: str) -> dict[str, Any]:
    """Clients mount over TLS and through a mount target, so the security group decides who can; root is squashed.

    Root access is for principals whose own policy grants it. The resource is named, because EFS adds it where it is
    left out, and then every `up` sees a difference: hashicorp/terraform-provider-aws issue 32077.
    """
    return {
        "Version": "2012-10-17",
        "Statement": [
            {
                "Sid": "MountTargets",
                "Effect": "Allow",
                "Principal": {"AWS": "*"},
                "Action": ["elasticfilesystem:ClientMount", "elasticfilesystem:ClientWrite"],
                "Resource": arn,
                "Condition": {"Bool": {"elasticfilesystem:AccessedViaMountTarget": "true"}},
            },
            {
                "Sid": "TlsOnly",
                "Effect": "Deny",
                "Principal": {"AWS": "*"},
                "Action": "*",
                "Resource": arn,
                "Condition": {"Bool": {"aws:SecureTransport": "false"}},
            },
        ],
    }
