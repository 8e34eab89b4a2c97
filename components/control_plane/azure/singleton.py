"""A machine that is always one, on Azure: the bundle that its signature names, and the virtual machine itself.

What comes after one, takes over its interface, its disks and its bundle.
"""

import base64
import hashlib
import json
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import pulumi
import pulumi_azure_native as azure
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat, load_pem_public_key

from components.azure.assignment import Assignment, assigned
from components.boot.azure.profile import DIAGNOSTICS, TRUSTED, os_disk, os_profile
from components.boot.user_data import user_data
from components.preview import VERIFY_KEY, known_in_preview
from components.storage.azure.spec import CONTAINER
from components.tags import KUBERNETES
from fleet.rolling import keeps

from .. import publishing
from ..publishing import Signed
from .roles import Grant

# Stands in for a life that a preview can't know yet.
NO_LIFE = "0" * 8


class Store(NamedTuple):
    """Where a bundle lies: in an account's container, its keys in a secret of a vault. `group` is theirs.

    `tags` are the secret's.
    """

    group: str
    bucket: str
    vault: str
    secret: pulumi.Input[str]
    tags: dict[str, str]


def publish(
    name: str, given: Signed, store: Store, child: pulumi.ResourceOptions, protected: pulumi.ResourceOptions
) -> tuple[pulumi.Resource, pulumi.Resource]:
    """`protected` are the secret's options. Gives the secret and the manifest's blob."""
    text = given.keys.apply(json.dumps)
    current = secret(name, store.group, store.vault, store.secret, text, store.tags, protected)
    number = current.properties.secret_uri_with_version.apply(version_of)

    def lay(
        what: str, key: pulumi.Output[str], content: pulumi.Output[str], opts: pulumi.ResourceOptions
    ) -> azure.storage.Blob:
        return blob(f"{name}-{what}", store.bucket, store.group, key, content, opts)

    return current, publishing.publish(given, number, lay, child)


def blob(
    name: str,
    account: str,
    group: str,
    key: pulumi.Output[str],
    content: pulumi.Output[str],
    opts: pulumi.ResourceOptions,
) -> azure.storage.Blob:
    return azure.storage.Blob(
        name,
        account_name=account,
        container_name=CONTAINER,
        resource_group_name=group,
        blob_name=key,
        type="Block",
        content_type="application/json",
        source=content.apply(pulumi.StringAsset),
        # Another content is another blob to Pulumi. A machine that boots just then finds none, and asks again.
        opts=pulumi.ResourceOptions.merge(opts, pulumi.ResourceOptions(delete_before_replace=True)),
    )


def version_of(uri: str | None) -> str:
    """Of a secret: the last part of its address, which a preview may not know. Raises ValueError else."""
    if not uri and not pulumi.runtime.is_dry_run():
        raise ValueError("Azure did not say which version of the secret it keeps")
    return (uri or "").rpartition("/")[2]


def secret(
    name: str,
    group: str,
    vault: str,
    place: pulumi.Input[str],
    text: pulumi.Input[str],
    tags: dict[str, str],
    opts: pulumi.ResourceOptions,
) -> azure.keyvault.Secret:
    """`place` is its name, such as `vaulted` makes it."""
    return azure.keyvault.Secret(
        name,
        secret_name=place,
        vault_name=vault,
        resource_group_name=group,
        properties={"content_type": "application/json", "value": text},
        tags=tags,
        opts=opts,
    )


def vaulted(place: str) -> str:
    """A vault's names have no slash."""
    return place.replace("/", "--")


def secret_name(prefix: str, life: str) -> str:
    """Of the secret with a bundle's keys, which its life ends."""
    return vaulted(f"{prefix}/{life}")


def life(public: str) -> str:
    """Tells a life of what has this public key from any other one: a vault keeps the names of what was deleted."""
    return hashlib.sha256(public.strip().encode()).hexdigest()[:8]


def identity(
    name: str, named: str, group: str, region: str, tags: dict[str, str], child: pulumi.ResourceOptions
) -> azure.managedidentity.UserAssignedIdentity:
    return azure.managedidentity.UserAssignedIdentity(
        name, resource_name_=named, resource_group_name=group, location=region, tags=tags, opts=child
    )


def granted(
    name: str,
    found: Iterable[Grant],
    key: Callable[[str], Grant],
    life_output: pulumi.Output[str],
    whose: azure.managedidentity.UserAssignedIdentity,
    parent: pulumi.Resource,
    secret: pulumi.Resource,
) -> list[pulumi.Resource]:
    """What an identity may do, and last that it may read its secret: `key` says so for the secret of a life."""

    def assign(grant: Grant, scope: pulumi.Input[str], *after: pulumi.Resource) -> pulumi.Resource:
        assignment = Assignment(grant.name, grant.role, scope, grant.condition)
        return assigned(f"{name}-{grant.what}", assignment, whose, parent, *after)

    # Named by what is known before it is made: policies judge scopes.
    scope = known_in_preview(life_output, NO_LIFE).apply(lambda life: key(life).scope)
    return [*(assign(grant, grant.scope) for grant in found), assign(key(""), scope, secret)]


def script(
    region: str, bucket: str, prefix: str, verify_key: pulumi.Output[str], vault: str, life_output: pulumi.Output[str]
) -> pulumi.Output[str]:
    """The boot stub, which a preview knows, too."""
    known = pulumi.Output.all(known_in_preview(verify_key, VERIFY_KEY), known_in_preview(life_output, NO_LIFE))
    return known.apply(lambda both: user_data(region, bucket, prefix, both[0], vault, both[1]))


class One(NamedTuple):
    """What a machine is started from. `disks` are ids of its data disks by LUN; `image` as `imageReference` has it.

    `admin_key` is a public line of SSH: Azure makes no account without one.
    """

    named: str
    host_name: str
    machine: str
    group: str
    region: str
    zone: str
    image: dict[str, str]
    kubernetes: str
    size: str
    identity_id: pulumi.Input[str]
    interface_id: pulumi.Input[str]
    disks: dict[int, pulumi.Input[str]]
    root_gib: int
    script: pulumi.Output[str]
    admin_key: pulumi.Input[str]
    tags: dict[str, str]


def virtual_machine(
    name: str, one: One, child: pulumi.ResourceOptions, ready: list[pulumi.Resource]
) -> azure.compute.VirtualMachine:
    """Started once all of `ready` are there. Made anew only where the run is told so, for this machine alone."""
    script = one.script.apply(lambda text: base64.b64encode(text.encode()).decode())
    disks: list[Any] = [
        {
            "lun": lun,
            "create_option": "Attach",
            "managed_disk": {"id": id_},
            "caching": "None",
            "delete_option": "Detach",
        }
        for lun, id_ in one.disks.items()
    ]
    return azure.compute.VirtualMachine(
        name,
        vm_name=one.named,
        resource_group_name=one.group,
        location=one.region,
        zones=[one.zone],
        hardware_profile={"vm_size": one.size},
        identity={"type": "UserAssigned", "user_assigned_identities": [one.identity_id]},
        network_profile={
            "network_interfaces": [{"id": one.interface_id, "primary": True, "delete_option": "Detach"}],
        },
        os_profile={"computer_name": one.host_name, **os_profile(script, one.admin_key)},
        security_profile=TRUSTED,
        storage_profile={
            "image_reference": one.image,
            "os_disk": {**os_disk(one.root_gib), "delete_option": "Delete"},
            "data_disks": disks,
        },
        diagnostics_profile=DIAGNOSTICS,
        # What runs is asked of the cloud, also while a machine does not answer.
        tags={**one.tags, KUBERNETES: one.kubernetes},
        opts=pulumi.ResourceOptions(
            parent=child.parent,
            depends_on=ready,
            ignore_changes=keeps(one.machine),
            # Its name, its interface and its disks are free only then.
            delete_before_replace=True,
        ),
    )


def login_line(public_pem: str) -> str:
    """A public key as SSH writes it."""
    return load_pem_public_key(public_pem.encode()).public_bytes(Encoding.OpenSSH, PublicFormat.OpenSSH).decode()
