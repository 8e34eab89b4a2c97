"""The shares of a region as plain data: what every place mounts under the same names."""

from typing import Any, NamedTuple

from fleet.model import Fleet


class ShareSpec(NamedTuple):
    """A directory of the file system, made with this owner and mode when it is first mounted."""

    name: str
    path: str
    uid: int
    gid: int
    mode: str


class SharesSpec(NamedTuple):
    """All shares of a region lie on one file system."""

    backups: bool
    shares: tuple[ShareSpec, ...]


def shares_spec(fleet: Fleet) -> SharesSpec:
    shares = sorted(fleet.storage.shares.items())
    return SharesSpec(
        backups=fleet.storage.backups,
        shares=tuple(ShareSpec(name, s.path, s.uid, s.gid, s.mode) for name, s in shares),
    )


def shares_policy() -> dict[str, Any]:
    """Clients mount over TLS and through a mount target, so the security group decides who can.

    No resource is named: the policy is part of the file system.
    """
    actions = [f"elasticfilesystem:{action}" for action in ("ClientMount", "ClientWrite", "ClientRootAccess")]
    return {
        "Version": "2012-10-17",
        "Statement": [
            {
                "Sid": "MountTargets",
                "Effect": "Allow",
                "Principal": {"AWS": "*"},
                "Action": actions,
                "Condition": {"Bool": {"elasticfilesystem:AccessedViaMountTarget": "true"}},
            },
            {
                "Sid": "TlsOnly",
                "Effect": "Deny",
                "Principal": {"AWS": "*"},
                "Action": "*",
                "Condition": {"Bool": {"aws:SecureTransport": "false"}},
            },
        ],
    }
