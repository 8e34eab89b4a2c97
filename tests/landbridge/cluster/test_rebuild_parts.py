"""What a rebuild is decided from: how far it is, which keys fit, and whether the lost API still answers."""

import datetime
import json
import ssl
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread
from types import SimpleNamespace
from typing import Any

import pytest

from components.control_plane.pki import Generations
from components.control_plane.rotation import all_generations
from fleet.rebuilds import Origin
from landbridge.clouds.aws.cloud import Aws
from landbridge.clouds.cloud import CloudError
from landbridge.cluster.rebuild import answers
from landbridge.cluster.rebuild_state import Standing, stage, unfit
from landbridge.cluster.surviving_copies import Keys, keys, understood
from landbridge.errors import LandbridgeError, UsageError
from local.providers import tls
from tests.landbridge.cluster.test_rebuild import EAST, KEPT, ONCE, SECRET, WEST
from tests.support.pki import _key


def test_a_region_that_is_changed_half_way_is_refused() -> None:
    origin = Origin(lost=WEST, region=EAST, secret="s", snapshot="x", issuer="i", generations=ONCE)
    with pytest.raises(UsageError, match="rebuild of main in us-east-1 was begun and is not finished"):
        stage("main", "eu-west-1", origin, Standing(WEST), aside=False)
    finished = origin.model_copy(update={"restored": datetime.datetime.now(datetime.UTC)})
    assert stage("main", "eu-west-1", finished, Standing(EAST), aside=True) == "begin", "it is lost once more"


def test_keys_of_a_rotation_under_way_are_enough() -> None:
    keys = Keys(SECRET, "https://old", {**ONCE, "kubernetes": (1, 2)})
    at = {**all_generations({}), "kubernetes": Generations((1, 2), 1)}
    before = Standing(generations=at)
    assert list(unfit(before, "1.36.2", at, keys)) == []
    assert list(unfit(before, "1.36.2", {**at, "kubernetes": Generations((1, 2), 2)}, keys)) == []
    assert list(unfit(before, "1.36.2", {**at, "kubernetes": Generations((3,), 3)}, keys))


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", json.dumps({**KEPT, "service_accounts": {"1": "key"}, "encryption": []})]
)
def test_a_secret_of_another_shape_is_told(text: str) -> None:
    with pytest.raises(LandbridgeError, match="does not hold a cluster's keys"):
        understood(SECRET, text)


def test_keys_that_can_t_be_read_leave_all_as_it_was() -> None:
    def refused(_name: str) -> str:
        raise CloudError("Secret s cannot be read. You need a role")

    with pytest.raises(LandbridgeError, match=r"Nothing was changed: the copied keys .* You need a role"):
        keys(SimpleNamespace(secret=refused), SECRET)


@pytest.mark.parametrize(
    ("told", "parted"), [({"PrimaryRegion": WEST}, True), ({"PrimaryRegion": EAST}, False), ({}, False)]
)
def test_only_a_replica_is_parted_from_its_primary_region_s(told: dict[str, str], parted: bool) -> None:
    asked: list[str] = []
    manager = SimpleNamespace(
        describe_secret=lambda **_: told, stop_replication_to_replica=lambda **named: asked.append(named["SecretId"])
    )
    assert Aws(lambda _: manager, EAST).adopt(SECRET) is parted
    assert asked == ([SECRET] if parted else [])


class Refusing(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_error(500)

    def log_message(self, *_: Any) -> None:
        pass


def authority(folder: Path, name: str) -> tuple[str, Path]:
    """A certificate that vouches for itself and for 127.0.0.1, and a file with it and its key."""
    key = str(_key(algorithm="ECDSA")["privateKeyPem"])
    subject = {"subject": {"commonName": name}, "ipAddresses": ["127.0.0.1"], "isCaCertificate": True}
    uses = {"validityPeriodHours": 1, "allowedUses": ["cert_signing", "digital_signature", "server_auth"]}
    crt = str(tls._self_signed({"privateKeyPem": key, **subject, **uses})[1]["certPem"])
    (folder / name).write_text(crt + key)
    return crt, folder / name


@pytest.fixture
def server(tmp_path: Path) -> Iterator[tuple[str, str]]:
    crt, file = authority(tmp_path, "ours")
    made = HTTPServer(("127.0.0.1", 0), Refusing)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(file)
    made.socket = context.wrap_socket(made.socket, server_side=True)
    Thread(target=made.serve_forever, daemon=True).start()
    yield f"https://127.0.0.1:{made.server_port}", crt
    made.shutdown()
    made.server_close()


def test_only_an_api_of_the_same_authority_counts_as_alive(server: tuple[str, str], tmp_path: Path) -> None:
    url, crt = server
    assert answers(url, crt), "whatever it says"
    assert not answers(url, authority(tmp_path, "other")[0])
    assert not answers("https://127.0.0.1:1", crt)
