"""Machines' scripts on Azure: what they ask the metadata service and Blob for, against the local Azure's real HTTP."""

import http.server
import json
import os
import socket
import subprocess
import threading
import time
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import api_azure
import disk as disk_module
import disks_azure
import machine
import pytest
from azure.mgmt.msi import ManagedServiceIdentityClient

from components.control_plane.units import SETTINGS, cloud_files
from tests.local.azure.support import SUBSCRIPTION, LocalAzure, served
from tests.local.azure.test_blobs import CONTRIBUTOR, Account


@pytest.fixture(scope="module")
def local_azure(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalAzure]:
    yield from served(tmp_path_factory.mktemp("azure"))


class Imds(http.server.BaseHTTPRequestHandler):
    """The metadata service of one machine. `refuses` are statuses that it answers first."""

    azure: LocalAzure
    identity = ""
    refuses: list[int] = []  # noqa: RUF012  (set by each test)
    asked: list[str] = []  # noqa: RUF012

    def do_GET(self) -> None:
        self.asked.append(self.path)
        place, query = urlsplit(self.path).path, parse_qs(urlsplit(self.path).query)
        if self.refuses:
            self.answer(self.refuses.pop(0), {})
        elif self.headers.get("Metadata") != "true":
            self.answer(400, {"error": "Bad request. Required metadata header not specified"})
        elif place == "/metadata/identity/oauth2/token" and query["api-version"] == ["2018-02-01"]:
            asked = {"identity": self.identity, "resource": query["resource"][0]}
            self.answer(200, self.azure.own("token", asked, "POST"))
        elif place == "/metadata/instance" and query["api-version"] == ["2021-02-01"]:
            self.answer(200, {"compute": {"name": "main-etcd-1"}, "network": {}})
        else:
            self.answer(404, {})

    def answer(self, status: int, body: Any) -> None:
        self.send_response(status)
        self.end_headers()
        self.wfile.write(json.dumps(body).encode())

    def log_message(self, *_: Any) -> None: ...


@pytest.fixture
def account(local_azure: LocalAzure, monkeypatch: pytest.MonkeyPatch) -> Iterator[Account]:
    """A fleet's account, which a machine may write; the machine's own metadata service leads its identity's tokens."""
    group = f"/subscriptions/{SUBSCRIPTION}/resourceGroups/test-{uuid.uuid4().hex[:8]}"
    local_azure.put(group, {"location": "southcentralus"})
    client = local_azure.client(ManagedServiceIdentityClient)
    told = {"location": "southcentralus"}
    identity = client.user_assigned_identities.create_or_update(group.rpartition("/")[2], "machine", told)
    account = Account(local_azure, group)
    account.assign(identity.principal_id, CONTRIBUTOR)
    imds = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Imds)
    threading.Thread(target=imds.serve_forever, daemon=True).start()
    for name, value in (("azure", local_azure), ("identity", identity.id), ("refuses", []), ("asked", [])):
        monkeypatch.setattr(Imds, name, value, raising=False)
    plain = socket.create_connection

    def there(address: tuple[str, int], *rest: Any, **more: Any) -> socket.socket:
        ports = {80: imds.server_port, 443: local_azure.tls}
        return plain(("127.0.0.1", ports.get(address[1], address[1])), *rest, **more)

    monkeypatch.setattr(socket, "create_connection", there)
    monkeypatch.setattr(machine.time, "sleep", lambda _: None)
    monkeypatch.setenv("SSL_CERT_FILE", str(local_azure.authority))
    monkeypatch.setenv("no_proxy", "*")
    yield account
    imds.shutdown()
    imds.server_close()


def metadata(blob: Any) -> dict[str, str]:
    """Python's library sends names of headers in its own case, which Azure keeps and does not heed."""
    return {name.lower(): value for name, value in blob.get_blob_properties().metadata.items()}


def test_a_blob_is_put_read_and_listed_by_the_machine_s_identity(account: Account, tmp_path: Path) -> None:
    one, file = api_azure.Azure(), tmp_path / "x"
    file.write_bytes(b"snapshot")
    one.upload(account.name, "backups/main/main/2026-01-01T001500Z-7.db", file, {"revision": "7"})
    one.put(account.name, "backups/main/main/2026-01-01T001500Z-7.copied", b"{}")
    prefix = "backups/main/main/"
    assert one.keys(account.name, prefix, f"{prefix}2026-01-01T001500Z-7.d") == [f"{prefix}2026-01-01T001500Z-7.db"]
    assert one.keys(account.name, prefix, f"{prefix}2026-01-02") == []
    found = account.fleet().get_blob_client(f"{prefix}2026-01-01T001500Z-7.db")
    assert found.download_blob().readall() == b"snapshot"
    assert metadata(found) == {"revision": "7"}
    assert len(Imds.asked) == 1, "a token is kept"


def test_a_blob_is_read_again_when_it_is_another_one(account: Account) -> None:
    one = api_azure.Azure()
    with pytest.raises(machine.Refused) as refused:
        one.newer(account.name, "ssh/revoked", "")
    assert refused.value.status == 404
    one.put(account.name, "ssh/revoked", b"first")
    assert one.newer(account.name, "ssh/revoked", "") == "first"
    etag = one.headers["ETag"]
    assert one.newer(account.name, "ssh/revoked", etag) is None
    one.put(account.name, "ssh/revoked", b"second")
    assert one.newer(account.name, "ssh/revoked", etag) == "second"


def test_a_large_file_goes_in_blocks(account: Account, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(api_azure, "PART_BYTES", 1000)
    file = tmp_path / "x"
    file.write_bytes(os.urandom(2500))
    api_azure.Azure().upload(account.name, "audit/a b", file, {"lines": "3"})
    found = account.fleet().get_blob_client("audit/a b")
    assert found.download_blob().readall() == file.read_bytes()
    assert metadata(found) == {"lines": "3"}
    assert [block.size for block in found.get_block_list()[0]] == [1000, 1000, 500]


def test_a_list_of_many_pages_is_read_to_its_end(account: Account, monkeypatch: pytest.MonkeyPatch) -> None:
    one = api_azure.Azure()
    for number in range(5):
        one.put(account.name, f"x/{number}", b"")
    plain = one.blob
    monkeypatch.setattr(one, "blob", lambda method, place, query: plain(method, place, {**query, "maxresults": "2"}))
    assert one.keys(account.name, "x/", "x/0") == ["x/1", "x/2", "x/3", "x/4"]


def test_what_no_role_allows_is_refused_once(account: Account) -> None:
    other = Account(account.azure, account.id.partition("/providers/")[0])
    with pytest.raises(machine.Refused, match=f"PUT https://{other.name}.blob.core.windows.net/fleet/x: 403 "):
        api_azure.Azure().put(other.name, "x", b"")


def test_a_token_is_kept_until_it_ends_soon(account: Account) -> None:
    one = api_azure.Azure()
    first, asked = one.token(api_azure.STORAGE), len(Imds.asked)
    assert (one.token(api_azure.STORAGE), len(Imds.asked)) == (first, asked)
    one.tokens[api_azure.STORAGE] = "old", time.time() + machine.EARLY_SECONDS - 1
    assert one.token(api_azure.STORAGE) != "old"


def test_a_call_that_azure_puts_off_or_fails_is_made_again_and_one_that_it_refuses_is_not(
    account: Account, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, statuses = api_azure.Azure(), [429, 503]
    one.token(api_azure.STORAGE)

    def send(method: str, url: str, *_: Any) -> tuple[bytes, dict[str, str]]:
        if statuses:
            raise machine.Refused(statuses.pop(0), url)
        return method.encode(), {}

    monkeypatch.setattr(api_azure, "send", send)
    assert one.blob("GET", "https://x") == b"GET"
    statuses[:] = [403, 429]
    with pytest.raises(machine.Refused):
        one.blob("GET", "https://x")
    assert statuses == [429]


def test_metadata_that_fail_for_a_moment_are_asked_for_again(account: Account) -> None:
    Imds.refuses = [410, 429, 500]
    assert api_azure.instance()["compute"]["name"] == "main-etcd-1"
    Imds.refuses, asked = [404], len(Imds.asked)
    assert api_azure.instance()["compute"]["name"] == "main-etcd-1"
    assert (asked, len(Imds.asked)) == (4, 6)
    Imds.refuses = [400]
    with pytest.raises(machine.Refused):
        api_azure.instance()


def test_a_disk_is_known_by_its_number(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(disks_azure, "PLACES", (f"{tmp_path}/scsi/lun{{}}", f"{tmp_path}/nvme/{{}}"))
    monkeypatch.setattr(disks_azure, "DEVICE_SECONDS", 0.05)
    monkeypatch.setattr(disk_module, "LOOK_SECONDS", 0.01)
    (one,) = disks_azure.disks({"disks": [{"name": "etcd-events", "lun": 1}]})
    with pytest.raises(disk_module.NotYet, match=f"still so after 0 s: waits for {tmp_path}/scsi/lun1 or"):
        one.device()
    (tmp_path / "nvme").mkdir()
    (tmp_path / "nvme/1").touch()
    assert one.device() == tmp_path / "nvme/1"


def test_a_bundle_names_its_cloud_and_scripts_speak_to_it(tmp_path: Path) -> None:
    """With the files of a machine in Azure alone, under the machine's own Python."""
    for path, text in cloud_files("azure").items():
        (tmp_path / Path(path).name).write_text(text)
    script = (
        f"import machine\nplain = machine.Path\nmachine.Path = lambda name: plain(name.replace('{SETTINGS}', '.'))\n"
    )
    script += "from cloud import cloud; print(type(cloud('southcentralus')).__name__)"
    done = subprocess.run(["/usr/bin/python3", "-c", script], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.stdout == "Azure\n", done.stderr
