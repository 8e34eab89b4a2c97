"""A pool's bundle in the fleet bucket: its files, and last the signed manifest that names them. The same everywhere."""

from abc import ABC, abstractmethod
from collections.abc import Callable

import pulumi
import pulumi_tls as tls

from components.boot import people
from components.boot.hosts import NOTHING, Shown
from components.boot.people import Authority
from components.control_plane.publishing import Signed, publish
from fleet.buckets import bucket_name
from fleet.model import Fleet

from .bundle import bundle
from .spec import PoolSpec

# An object's tags, by its name.
Tags = Callable[[str], dict[str, str]]


def store_region(fleet: Fleet, spec: PoolSpec) -> str:
    """Whose fleet bucket holds the bundle: the pool's own region's, and for a site the cluster's home."""
    return fleet.clusters[spec.cluster].region if spec.site else spec.place


class Publishing(ABC):
    """`signing` is the pool's own key: what signs for the control plane stays in the cluster's stack.

    What its bucket and its secrets store are made of, each cloud's own class says.
    """

    def __init__(self, fleet: Fleet, spec: PoolSpec, key_arn: pulumi.Input[str], parent: pulumi.Resource) -> None:
        self.fleet, self.spec, self.key_arn, self.parent = fleet, spec, key_arn, parent
        self.bucket = bucket_name(fleet, store_region(fleet, spec))
        self.signing = tls.PrivateKey("manifests", algorithm="ED25519", opts=pulumi.ResourceOptions(parent=parent))

    @property
    def verify_key(self) -> pulumi.Output[str]:
        """As the boot stub takes it: the body of a public key's PEM is base64 of its DER form."""
        pem: pulumi.Output[str] = self.signing.public_key_pem
        return pem.apply(lambda text: "".join(text.strip().splitlines()[1:-1]))

    def publish(
        self,
        authority: pulumi.Input[str],
        people_authority: pulumi.Input[str],
        shown: Shown,
        tags: Tags,
    ) -> pulumi.Resource:
        """The pool's bundle; gives the manifest. `shown` is what its machines show to people's clients, all alike."""
        given = pulumi.Output.all(authority, people_authority, shown.certificate)
        files = given.apply(lambda inputs: bundle(self._vouched(inputs[1], inputs[2]), inputs[0]).files)
        secret = None if shown is NOTHING else shown.keys
        return self.lay(self.spec.prefix, files, tags, secret=secret)

    def _vouched(self, line: str, shown: str) -> PoolSpec:
        """A site's host has no right in any cloud, and so no way to the list."""
        vouching = people.authority(self.fleet, store_region(self.fleet, self.spec), line)
        vouching = Authority(line) if vouching and self.spec.site else vouching
        return self.spec._replace(vouching=vouching, shown=shown)

    def lay(
        self,
        prefix: str,
        files: pulumi.Output[dict[str, str]],
        tags: Tags,
        suffix: str = "",
        secret: pulumi.Output[dict[str, str]] | None = None,
    ) -> pulumi.Resource:
        """Files and their manifest below a prefix, and keys, if any, in a secret of that name; gives the manifest."""
        own = pulumi.ResourceOptions(parent=self.parent)
        keys = pulumi.Output.from_input(dict[str, str]()) if secret is None else secret
        number = "" if secret is None else self._store_keys(prefix, secret, tags, own)
        given = Signed(self.spec.name, prefix, files, keys, self.signing.private_key_pem)

        def lay(
            what: str, key: pulumi.Output[str], content: pulumi.Output[str], opts: pulumi.ResourceOptions
        ) -> pulumi.Resource:
            return self._object(f"{what}{suffix}", key, content, tags, opts)

        return publish(given, number, lay, own)

    @abstractmethod
    def _store_keys(
        self, prefix: str, keys: pulumi.Output[dict[str, str]], tags: Tags, own: pulumi.ResourceOptions
    ) -> pulumi.Output[str]:
        """Keeps them in the region's secrets store; gives their version there."""

    @abstractmethod
    def _object(
        self,
        name: str,
        key: pulumi.Output[str],
        content: pulumi.Output[str],
        tags: Tags,
        opts: pulumi.ResourceOptions,
    ) -> pulumi.Resource:
        """An object of the fleet bucket."""
