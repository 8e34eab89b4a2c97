"""The provider's settings: those that the local cloud honours, and what a change of them means."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..codec import UNKNOWN, Properties
from ..servicer import ProviderError
from .kubeconfig import Access, parse

HONOURED = {
    "kubeconfig",
    "context",
    "cluster",
    "clusterIdentifier",
    "namespace",
    "enableServerSideApply",
    "enablePatchForce",
    "enableConfigMapMutable",
    "enableSecretMutable",
    "upsertExistingObjects",
    "deleteUnreachable",
    "suppressDeprecationWarnings",
    "suppressHelmHookWarnings",
    "version",
}
SIGNATURE = "4dabf18193072939515e22adb298388d"  # sdk/python/lib/pulumi/runtime/rpc.py
WHERE = ("kubeconfig", "context", "cluster")


@dataclass(frozen=True)
class Settings:
    """`access` is None while the cluster's kubeconfig is not known, in a preview before its first update."""

    access: Access | None
    namespace: str = ""
    force: bool = False
    mutable_config_maps: bool = False
    mutable_secrets: bool = False
    upsert: bool = False
    delete_unreachable: bool = False
    quiet: bool = False


def plain(config: Mapping[str, Any]) -> Properties:
    """Without the engine's marks of what is secret; and a kubeconfig in JSON is text all the same."""
    bare = {
        key: value["value"] if isinstance(value, dict) and SIGNATURE in value else value
        for key, value in config.items()
    }
    given = bare.get("kubeconfig")
    return {**bare, "kubeconfig": json.dumps(given)} if isinstance(given, dict) else bare


def settings(config: Mapping[str, Any]) -> Settings:
    """Raises ProviderError for what is not honoured."""
    config = plain(config)
    if strange := sorted(key for key in config.keys() - HONOURED if config[key] not in (None, False)):
        raise ProviderError(f"the local cloud does not know the setting {', '.join(strange)}: leave it out")
    if config.get("enableServerSideApply") is False:
        raise ProviderError("the local cloud knows server-side apply only: leave enableServerSideApply out")
    if UNKNOWN in (config.get(name) for name in (*WHERE, "namespace")):
        access = None
    elif not config.get("kubeconfig"):
        # No KUBECONFIG, no ~/.kube: they would lead out of the local cloud.
        raise ProviderError("the provider has no kubeconfig: give it the cluster's, as `landbridge kubeconfig` has it")
    else:
        access = parse(str(config["kubeconfig"]), str(config.get("context") or ""), str(config.get("cluster") or ""))
    return Settings(
        access=access,
        namespace=str(config.get("namespace") or (access.namespace if access else "")),
        force=bool(config.get("enablePatchForce")),
        mutable_config_maps=bool(config.get("enableConfigMapMutable")),
        mutable_secrets=bool(config.get("enableSecretMutable")),
        upsert=bool(config.get("upsertExistingObjects")),
        delete_unreachable=bool(config.get("deleteUnreachable")),
        quiet=bool(config.get("suppressDeprecationWarnings")),
    )


def replaces(olds: Mapping[str, Any], news: Mapping[str, Any], changed: Mapping[str, str]) -> list[str]:
    """The changed settings that make it another cluster, whose objects must be made anew: the official rules."""
    if olds.get("clusterIdentifier") and news.get("clusterIdentifier"):
        return ["clusterIdentifier"] if "clusterIdentifier" in changed else []
    if unknown := [name for name in WHERE if news.get(name) == UNKNOWN]:
        return unknown
    try:
        old, new = _server(olds), _server(news)
    except ProviderError:
        return []  # the new one is told by Configure
    return [name for name in WHERE if name in changed] if old != new else []


def _server(config: Mapping[str, Any]) -> tuple[str, str, str]:
    config = plain(config)
    access = parse(
        str(config.get("kubeconfig") or ""), str(config.get("context") or ""), str(config.get("cluster") or "")
    )
    return access.server, access.server_name, access.authority
