"""What the commands ask of a cloud, in one region: machines of one, secrets, the fleet bucket, images."""

from collections.abc import Mapping, Sequence
from typing import Protocol

from landbridge.cluster.info import ClusterInfo, MachineInfo
from landbridge.errors import LandbridgeError
from landbridge.etcd.store import URL_SECONDS, Snapshot
from landbridge.remote_execution import Instance


class CloudError(LandbridgeError):
    """The cloud refused or did not answer. The text says what was asked, why not, and what to do."""


class Bucket(Protocol):
    """A region's fleet bucket; keys are those of its objects. All raise CloudError."""

    def where(self, key: str) -> str:
        """The object as people write it down."""

    def get_url(self, key: str, seconds: int = URL_SECONDS) -> str:
        """An address that is good for so long, and for machines, too."""

    def read(self, key: str) -> bytes | None:
        """None where there is no such object."""

    def exists(self, key: str) -> bool: ...

    def put(self, key: str, data: bytes) -> None: ...

    def read_with_etag(self, key: str) -> tuple[bytes, str]:
        """An object with its ETag; both are empty where there is none."""

    def put_over(self, key: str, data: bytes, etag: str, kind: str) -> bool:
        """Only in place of the object with that ETag, or where there is none: then it is empty. False: somebody else
        was quicker. `kind` is its content type.
        """

    def delete(self, key: str) -> None:
        """Also where there is none."""

    def listed(self, prefix: str) -> list[Snapshot]: ...


class Cloud(Protocol):
    """All raise CloudError.

    `successor`: who starts a machine's successor, for people. `heals`: whether a machine of one that ended comes back
    by itself.
    """

    successor: str
    heals: bool

    def bucket(self, name: str) -> Bucket: ...

    def secret(self, name: str) -> str:
        """What it holds."""

    def has_secret(self, name: str) -> bool:
        """Whether there is such a secret; what it holds is not read."""

    def secrets(self, prefix: str) -> list[str]:
        """Names of those that begin so."""

    def adopt(self, name: str) -> bool:
        """Makes a secret that another region's service keeps a copy in the region's own; False where it is that."""

    def machines(self, info: ClusterInfo) -> Mapping[str, Instance]:
        """What stands behind the names of a cluster's machines just now; nothing behind one that does not run."""

    def replace(self, info: ClusterInfo, machine: str, instance: str) -> None:
        """Ends a machine of one, if any instance of it is there, so that a successor starts with the newest of all."""

    def end(self, info: ClusterInfo, machines: Sequence[str]) -> None:
        """Ends machines behind everybody's back, as a drill does: who starts successors is not told."""

    def revive(self, info: ClusterInfo, machine: str) -> None:
        """Starts the successor of a machine that has ended, where the cloud does not by itself."""

    def unbalanced(self, info: ClusterInfo, machine: MachineInfo) -> str:
        """Why the API's balancer sends a machine nothing; empty if it does."""

    def probes(self, info: ClusterInfo) -> set[str]:
        """The paths that the API's balancer asks for on API machines."""

    def image(self, fleet: str, kubernetes: str) -> str:
        """What machines with this Kubernetes start from now; empty if nobody has set it."""

    def channel(self, fleet: str, kubernetes: str) -> str:
        """What names that image, for people."""
