"""What the local Azure answers beside Azure's own calls, below /landbridge-api/, over plain HTTP on loopback.

For tests: inventory, faults, pace, finish (ends all operations), machines, power, quotas, skus, capacity, evict, used
(what a share holds), announce and withdraw (of events). For the machines service: keep, changes (waits for one), world,
ill, token and attested (what IMDS hands out), tunnels (how those of a connection are). For who copies what is kept:
flush, pause and resume (local.worlds.control).
"""

import json
import logging
import time
from collections.abc import Callable
from typing import Any

from werkzeug.wrappers import Request as Incoming
from werkzeug.wrappers import Response

from local import changes

from . import directories, faults, identities, tokens
from .application import Application, json_response
from .attestation import Attestation
from .compute import limits
from .compute import own_api as compute
from .errors import ArmError
from .kinds import World
from .resources import connections, file_shares, watchers
from .world import world

PREFIX = "/landbridge-api/"
log = logging.getLogger("local.azure")
# Method and name → what answers, with the world and the request's body. ValueError, TypeError and KeyError are the
# caller's mistakes.
ANSWERS: dict[tuple[str, str], Callable[[World, bytes], Any]] = {
    ("GET", "inventory"): lambda world, _: inventory(world),
    ("GET", "faults"): lambda *_: faults.listing(),
    ("PUT", "faults"): lambda _, body: faults.put(body),
    ("POST", "token"): lambda world, body: token(world, **json.loads(body)),
    ("PUT", "tunnels"): lambda world, body: connections.set_tunnels(world, *json.loads(body)),
    ("PUT", "used"): lambda world, body: file_shares.use(world, *json.loads(body)),
    ("POST", "ends"): lambda world, body: connections.tell(world, json.loads(body)),
    ("POST", "finish"): lambda world, _: world.operations.finish(),
    ("PUT", "pace"): lambda world, body: pace(world, **json.loads(body)),
    ("GET", "world"): lambda known, _: world(known),
    ("POST", "keep"): lambda world, _: keep(world),
    ("POST", "ill"): lambda world, body: ill(world, *json.loads(body)),
    **compute.ANSWERS,
}
# Calls that change nothing, though no GET.
QUIET = ("token", "attested", "keep", "ends", "events")


def inventory(world: World) -> dict[str, list[str]]:
    """All that somebody made, by type: for tests that compare before with after. What Azure makes is not in it."""
    world.operations.settle_due()
    found: dict[str, list[str]] = {}
    for one in world.store.all():
        if not watchers.is_azures(one):
            found.setdefault(one.id.type, []).append(one.id.text)
    if made := [one["id"] for one in world.store.groups.values() if one["name"] != watchers.GROUP]:
        found["Microsoft.Resources/resourceGroups"] = made
    return {type_: sorted(ids) for type_, ids in sorted(found.items())}


def pace(world: World, seconds: float = 0.0, by_type: dict[str, float] | None = None) -> dict[str, Any]:
    """How long operations take from now on."""
    world.operations.pace_seconds = float(seconds)
    world.operations.paces = {type_.lower(): float(took) for type_, took in (by_type or {}).items()}
    return {"seconds": seconds, "by_type": by_type or {}}


def token(
    world: World, identity: str, resource: str, client_id: str = "", object_id: str = "", msi_res_id: str = ""
) -> dict[str, Any]:
    """As a machine's 169.254.169.254/metadata/identity/oauth2/token answers (IMDS, "Get a token using HTTP").

    `identity` is the id of a user-assigned identity, or of a machine or scale set that has some; the rest picks one.
    """
    principal = identities.of(world, identity, client_id, object_id=object_id, named=msi_res_id)
    made = tokens.give(principal.id, resource, principal.client, directories.of(identity))
    at = int(time.time())
    return {
        "access_token": made["access_token"],
        "client_id": principal.client,
        "expires_in": str(made["expires_in"]),
        "expires_on": str(at + made["expires_in"]),
        "ext_expires_in": str(made["ext_expires_in"]),
        "not_before": str(at),
        "resource": resource,
        "token_type": "Bearer",
    }


def keep(world: World) -> None:
    """From now on somebody makes machines of what is written."""
    world.kept = True


def ill(world: World, vm_id: str, why: str) -> None:
    """A machine ended by itself: it is stopped, and keeps its hardware until somebody deallocates it."""
    log.info("%s: %s", vm_id, why)
    for one in limits.machines(world):
        if one.properties.get("vmId") == vm_id:
            one.state["power"] = "stopped"
            one.changed()


class OwnApi:
    """A WSGI application beside `Application`, over the same world."""

    def __init__(self, application: Application, attestation: Attestation) -> None:
        self.world, self.lock = application.world, application.lock
        self.attestation = attestation
        self.answers = {**ANSWERS, ("POST", "attested"): self.attested}

    def __call__(self, environ: Any, start_response: Any) -> Any:
        return self.answer(Incoming(environ))(environ, start_response)

    def attested(self, world: World, body: bytes) -> dict[str, str]:
        """A signed document about a machine."""
        return self.attestation.document(world, **json.loads(body))

    def answer(self, incoming: Incoming) -> Response:
        method, name = incoming.method, incoming.path.removeprefix(PREFIX)
        body = incoming.get_data()
        try:
            if (method, name) == ("POST", "changes"):  # waits, and so holds up nobody
                return json_response(200, changes.await_change(*json.loads(body)))
            if (method, name) not in self.answers:
                return json_response(404, f"the local Azure has no {method} {incoming.path}")
            with self.lock:
                answer = json_response(200, self.answers[method, name](self.world, body))
            if method != "GET" and name not in QUIET:
                changes.changed()
            return answer
        except ArmError as error:
            return json_response(error.status, {"error": error.code, "error_description": error.message})
        except (KeyError, TypeError, ValueError) as error:
            return json_response(400, f"{name}: {error}")
        except Exception as error:
            log.exception("%s failed", name)
            return json_response(500, f"{name}: {type(error).__name__}: {error}")
