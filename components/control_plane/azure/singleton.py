"""A machine that is always one, on Azure: the bundle that its signature names, and the virtual machine itself.

What comes after one, takes over its interface, its disks and its bundle.
"""

import base64
import hashlib
import json
from typing import Any, NamedTuple

import pulumi
import pulumi_azure_native as azure
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat, load_pem_public_key

from components.boot.azure.profile import DIAGNOSTICS, TRUSTED, os_disk, os_profile
from components.boot.user_data import signed_object
from components.storage.azure.spec import CONTAINER
from components.tags import KUBERNETES
from fleet.rolling import keeps

from ..bundle import Bundle, digests, manifest, version


class Published(NamedTuple):
    """Where a bundle lies: in an account's container, its keys in a secret of a vault. `group` is theirs.

    `title` is the machine's in descriptions; `tags` are the secret's. `files` are made without private keys, so that no
    mistake can put one into the container; `signing` is the PEM of what signs the manifest.
    """

    title: str
    group: str
    bucket: str
    prefix: str
    vault: str
    secret: pulumi.Input[str]
    tags: dict[str, str]
    files: pulumi.Output[dict[str, str]]
    keys: pulumi.Output[dict[str, str]]
    signing: pulumi.Input[str]


def publish(
    name: str, given: Published, child: pulumi.ResourceOptions, kept: pulumi.ResourceOptions
) -> tuple[pulumi.Resource, pulumi.Resource]:
    """Puts files into the container and keys into the secret, and last the signed manifest that names both.

    `kept` are the secret's options. Gives the secret and the manifest's blob.
    """
    told = pulumi.Output.all(files=given.files, keys=given.keys).apply(
        lambda made: digests(Bundle(given.title, made["files"], made["keys"]))
    )
    open_told = pulumi.Output.unsecret(told)
    current = secret(name, given.group, given.vault, given.secret, given.keys.apply(json.dumps), given.tags, kept)
    number = current.properties.secret_uri_with_version.apply(version_of)
    body = _blob(
        name, "files", open_told.apply(lambda t: f"{version(t)}.json"), given.files.apply(json.dumps), given, child
    )
    text = pulumi.Output.all(open_told, number).apply(lambda both: manifest(given.prefix, *both))
    signed = pulumi.Output.all(given.signing, text).apply(lambda both: signed_object(*both))
    sealed_text: pulumi.Output[str] = pulumi.Output.unsecret(signed)
    after = pulumi.ResourceOptions(parent=child.parent, depends_on=[body])
    return current, _blob(name, "manifest", "manifest.json", sealed_text, given, after)


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


def life(public: str) -> str:
    """Tells a life of what has this public key from any other one: a vault keeps the names of what was deleted."""
    return hashlib.sha256(public.strip().encode()).hexdigest()[:8]


def _blob(
    whose: str,
    what: str,
    key: pulumi.Input[str],
    content: pulumi.Output[str],
    given: Published,
    opts: pulumi.ResourceOptions,
) -> azure.storage.Blob:
    return azure.storage.Blob(
        f"{whose}-{what}",
        account_name=given.bucket,
        container_name=CONTAINER,
        resource_group_name=given.group,
        blob_name=pulumi.Output.concat(given.prefix, "/", key),
        type="Block",
        content_type="application/json",
        source=content.apply(pulumi.StringAsset),
        # Another content is another blob to Pulumi. A machine that boots just then finds none, and asks again.
        opts=pulumi.ResourceOptions.merge(opts, pulumi.ResourceOptions(delete_before_replace=True)),
    )


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
