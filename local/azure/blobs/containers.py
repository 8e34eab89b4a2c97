"""Containers, as the blobs' own service makes and deletes them: the same resources that ARM has."""

from html import escape

from werkzeug.wrappers import Response

from .. import directories, ids
from ..errors import ArmError, conflict
from ..kinds import Write
from ..resources.blob_services import check_container, settle_container
from ..store import Resource
from . import sas
from .grants import DELEGATE
from .request import Ask, answer, changed, web_time, xml
from .writing import parsed

PUBLIC = {"blob": "Blob", "container": "Container"}


def create(ask: Ask) -> Response:
    ask.grant.require_container("write", ask.container_id)
    if ask.world.store.find(ask.container_id):
        raise conflict("ContainerAlreadyExists", "The specified container already exists.")
    public = ask.headers.get("x-ms-blob-public-access")
    properties = {"publicAccess": PUBLIC.get(public or "", "None"), "metadata": ask.metadata()}
    check_container(ask.world, ask.account.id.name, ask.container, properties)
    made = Resource(ids.parse(ask.container_id), {"properties": properties})
    settle_container(Write(ask.world, made, None, {}))
    ask.world.store.put(made)
    return _response(201, made)


def properties(ask: Ask) -> Response:
    ask.grant.require_container("read", ask.container_id)
    return _response(200, ask.place)


def set_metadata(ask: Ask) -> Response:
    ask.grant.require_container("write", ask.container_id)
    place = ask.place
    place.properties["metadata"] = ask.metadata()
    place.changed()
    return _response(200, place)


def delete(ask: Ask) -> Response:
    ask.grant.require_container("delete", ask.container_id)
    ask.world.store.drop(ask.place)
    return answer(202)


def _response(status: int, container: Resource) -> Response:
    headers: dict[str, str | None] = {
        "ETag": f'"{container.etag}"',
        "Last-Modified": web_time(changed(container)),
        "x-ms-lease-status": "unlocked",
        "x-ms-lease-state": "available",
        "x-ms-has-immutability-policy": "false",
        "x-ms-has-legal-hold": "false",
    }
    public = str(container.properties.get("publicAccess", "None")).lower()
    headers["x-ms-blob-public-access"] = public if public in PUBLIC else None
    headers |= {f"x-ms-meta-{name}": value for name, value in (container.properties.get("metadata") or {}).items()}
    return answer(status, b"", headers)


def delegation_key(ask: Ask) -> Response:
    if not ask.grant.principal:
        raise ArmError(403, "AuthenticationFailed", "Only a principal of the directory gets a user delegation key.")
    ask.grant.require_action(DELEGATE, ask.account.id.text)
    fields = {node.tag: node.text or "" for node in parsed(ask.body)}
    version, tenant = ask.headers["x-ms-version"], directories.of(ask.account.id.text)
    key = sas.delegation(ask.grant.principal, tenant, fields.get("Start", ""), fields.get("Expiry", ""), version)
    inside = "".join(f"<{name}>{escape(value)}</{name}>" for name, value in key.items())
    return xml(f"<UserDelegationKey>{inside}</UserDelegationKey>")
