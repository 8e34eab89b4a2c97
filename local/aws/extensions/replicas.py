"""Secrets that are kept in further regions as well: each replica under a key of its own region, and read only.

Secrets Manager user guide, "Create AWS Secrets Manager secret replicas" and "Promote a replica secret to a standalone
secret". moto forgets a replica's key, lets its labels be moved, and can't promote it.
"""

import copy
import json
from typing import Any

from moto.kms.models import kms_backends
from moto.secretsmanager.exceptions import (
    InvalidParameterException,
    OperationNotPermittedOnReplica,
    ResourceExistsException,
    SecretNotFoundException,
)
from moto.secretsmanager.models import FakeSecret, ReplicaSecret, SecretsManagerBackend
from moto.secretsmanager.responses import SecretsManagerResponse

from .patching import add, override

DEFAULT_KEY = SecretsManagerBackend.DEFAULT_KMS_KEY_ALIAS


def install() -> None:
    """Puts keys, refusals and the promotion into Secrets Manager."""
    _keep_keys()
    _refuse()
    _promote()


def _keep_keys() -> None:
    @override(FakeSecret, "create_replicas")
    def create_replicas(
        self: Any, original: Any, replica_regions: list[dict[str, str]], force_overwrite: Any
    ) -> list[ReplicaSecret]:
        before = {replica.region: replica for replica in getattr(self, "replicas", ())}
        for wish in replica_regions:
            there = before.get(wish["Region"])
            if there and there.has_replica:
                raise InvalidParameterException(f"Secret is already replicated to region {there.region}.")
            if there:
                self.replicas.remove(there)
        made = []
        for wish in replica_regions:
            key = wish.get("KmsKeyId") or DEFAULT_KEY
            if _usable(self.account_id, wish["Region"], key):
                made += original([wish], force_overwrite)
            elif wish["Region"] == self.region:
                raise InvalidParameterException("Invalid replica region.")
            else:
                message = f"Replication failed: KMS key {key} can't be used in region {wish['Region']}."
                made.append(ReplicaSecret(self, wish["Region"], "Failed", message))
            made[-1].config["KmsKeyId"] = key
            if not made[-1].has_replica and "already exists" in made[-1].message:
                made[-1].config["StatusMessage"] = (
                    f"Replication failed: Secret name {self.name} already exists in region {wish['Region']}."
                )
        return made

    @override(ReplicaSecret, "to_dict")
    def to_dict(self: Any, original: Any) -> dict[str, Any]:
        description: dict[str, Any] = original()
        description.pop("KmsKeyId", None)
        return description | ({"KmsKeyId": self.kms_key_id} if self.kms_key_id else {})

    # What moto asks of every secret, and whoever judges a call: a replica has its primary's policy.
    more: Any = ReplicaSecret
    more.kms_key_id = property(lambda self: None if self.config["KmsKeyId"] == DEFAULT_KEY else self.config["KmsKeyId"])
    more.policy = property(lambda self: self.source.policy)


def _usable(account: str, region: str, key: str) -> bool:
    """Whether a key is there, and in the region itself: Secrets Manager uses no other."""
    if key in (DEFAULT_KEY, DEFAULT_KEY.removeprefix("alias/")):
        return True
    if key.startswith("arn:") and key.split(":")[3] != region:
        return False
    backend = kms_backends[account][region]
    name = key.rpartition(":")[2].removeprefix("key/")
    found = backend.keys.get(backend.get_key_id_from_alias(name) if name.startswith("alias/") else name)
    return found is not None and found.key_state == "Enabled"


def _refuse() -> None:
    @override(SecretsManagerBackend, "delete_secret")
    def delete_secret(self: Any, original: Any, secret_id: str, *args: Any, **given: Any) -> Any:
        secret = self.secrets.get(secret_id)
        if isinstance(secret, FakeSecret) and secret.replicas:
            regions = ", ".join(sorted(replica.region for replica in secret.replicas))
            raise InvalidParameterException(
                f"You can't delete secret {secret.arn} that still has replica regions [{regions}]."
            )
        return original(secret_id, *args, **given)

    @override(SecretsManagerBackend, "update_secret_version_stage")
    def update_secret_version_stage(self: Any, original: Any, secret_id: str, *args: Any, **given: Any) -> Any:
        if isinstance(self.secrets.get(secret_id), ReplicaSecret):
            raise OperationNotPermittedOnReplica
        return original(secret_id, *args, **given)

    @override(SecretsManagerBackend, "create_secret")
    def create_secret(self: Any, original: Any, name: str, *args: Any, **given: Any) -> Any:
        if isinstance(self.secrets.get(name), ReplicaSecret):
            raise ResourceExistsException(f"The operation failed because the secret {name} already exists.")
        return original(name, *args, **given)


def _promote() -> None:
    @add(SecretsManagerResponse)
    def stop_replication_to_replica(self: Any) -> str:
        return json.dumps({"ARN": promoted(self.backend.secrets, self._get_param("SecretId"))})


def promoted(secrets: Any, name: str) -> str:
    """Makes a replica a secret of its own; its ARN, which stays."""
    replica = secrets.get(name)
    if replica is None:
        raise SecretNotFoundException()
    if not isinstance(replica, ReplicaSecret):
        raise InvalidParameterException(f"Secret {replica.arn} is not a replica secret.")
    made: FakeSecret = copy.copy(replica.source)
    # What the two had in common until now: from here on each has its own.
    made.versions, made.tags = copy.deepcopy(made.versions), copy.deepcopy(made.tags)
    made.arn, made.region, made.kms_key_id, made.replicas = replica.arn, replica.region, replica.kms_key_id, []
    replica.source.replicas.remove(replica)
    dict.pop(secrets, replica.arn)
    secrets[made.name] = made
    return str(made.arn)
