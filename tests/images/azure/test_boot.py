"""What an image does at its first start in Azure: script by user data or disc, once, and its word to the host."""

import base64
import importlib.util
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import ModuleType
from typing import Any
from xml.etree import ElementTree

import pytest

BOOT = Path(__file__).parents[3] / "images/files/all/usr/local/lib/landbridge/boot.py"
DISC = """<?xml version="1.0" encoding="utf-8"?>
<ns0:Environment xmlns:ns0="http://schemas.dmtf.org/ovf/environment/1" xmlns:ns1="http://schemas.microsoft.com/windowsazure">
 <ns1:ProvisioningSection><ns1:Version>1.0</ns1:Version><ns1:LinuxProvisioningConfigurationSet>
  <ns1:HostName>one</ns1:HostName><ns1:CustomData>DATA</ns1:CustomData>
 </ns1:LinuxProvisioningConfigurationSet></ns1:ProvisioningSection>
</ns0:Environment>
"""
GOAL = """<?xml version="1.0" encoding="utf-8"?>
<GoalState><Version>2012-11-30</Version><Incarnation>3</Incarnation><Container><ContainerId>box</ContainerId>
<RoleInstanceList><RoleInstance><InstanceId>box.one</InstanceId></RoleInstance></RoleInstanceList></Container></GoalState>
"""


class Host(ThreadingHTTPServer):
    """What answers a machine at its two addresses. `ill`: so many calls to the host fail first."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.machine, self.user_data, self.ill = "vm-1", "", 0
        self.said: list[bytes] = []


class Handler(BaseHTTPRequestHandler):
    server: Host

    def do_GET(self) -> None:
        if "/metadata/" in self.path and self.headers["Metadata"] == "true":
            return self.say(self.server.machine if "/vmId?" in self.path else self.server.user_data)
        if self.path == "/machine/?comp=goalstate" and self.headers["x-ms-version"] == "2012-11-30":
            self.server.ill -= 1
            return self.say(GOAL) if self.server.ill < 0 else self.send_error(503)
        return self.send_error(400)

    def do_POST(self) -> None:
        self.server.said.append(self.rfile.read(int(self.headers["Content-Length"])))
        self.say("")

    def say(self, text: str) -> None:
        self.send_response(200)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text.encode())

    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture
def host() -> Iterator[Host]:
    with Host() as host:
        threading.Thread(target=host.serve_forever, args=(0.05,), daemon=True).start()
        yield host
        host.shutdown()


@pytest.fixture
def boot(host: Host, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The image's own program, on a machine of Azure that has a folder for its disk."""
    spec = importlib.util.spec_from_file_location("boot", BOOT)
    assert spec
    assert spec.loader
    boot = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(boot)
    for name in ("VENDOR", "ASSET"):
        monkeypatch.setattr(boot, name, tmp_path / name)
    (tmp_path / "VENDOR").write_text("Microsoft Corporation\n")
    (tmp_path / "ASSET").write_text("7783-7084-3265-9085-8269-3286-77\n")
    for name in ("DONE", "REPORTED", "SCRIPT"):
        monkeypatch.setattr(boot, name, tmp_path / "lib" / name)
    at = f"http://127.0.0.1:{host.server_port}"
    monkeypatch.setattr(boot, "COMPUTE", boot.COMPUTE.replace("http://169.254.169.254", at))
    monkeypatch.setattr(boot, "HOST", boot.HOST.replace("http://168.63.129.16", at))
    monkeypatch.setattr(boot, "DISC", tmp_path / "no-disc")
    monkeypatch.setattr(boot, "MOUNTED", tmp_path / "mounted")
    return boot


def script(folder: Path, end: str = "") -> str:
    return base64.b64encode(f"#!/bin/sh\necho ran >> {folder}/ran\n{end}".encode()).decode()


def ran(folder: Path) -> int:
    return len((folder / "ran").read_text().split()) if (folder / "ran").exists() else 0


def test_a_script_runs_once_for_each_machine_and_the_host_hears_it_first(
    boot: ModuleType, host: Host, tmp_path: Path
) -> None:
    host.user_data, host.ill = script(tmp_path), 1
    assert boot.main() == 0
    assert ran(tmp_path) == 1
    (said,) = host.said
    found = {one.tag: one.text for one in ElementTree.fromstring(said).iter()}
    told = (found["GoalStateIncarnation"], found["ContainerId"], found["InstanceId"], found["State"])
    assert told == ("3", "box", "box.one", "Ready")
    assert boot.main() == 0
    assert (ran(tmp_path), len(host.said)) == (1, 1), "it is the same machine"
    host.machine = "vm-2"
    assert boot.main() == 0
    assert (ran(tmp_path), len(host.said)) == (2, 2), "one made of its disk is another"


def test_a_script_that_fails_is_tried_again_without_a_disc(boot: ModuleType, host: Host, tmp_path: Path) -> None:
    host.user_data = script(tmp_path, f"test -e {tmp_path}/well")
    assert boot.main() == 1
    host.user_data = ""
    (tmp_path / "well").touch()
    assert boot.main() == 0
    assert (ran(tmp_path), len(host.said)) == (2, 1), "what it was told at first is kept"


def test_a_machine_that_was_told_nothing_yet_says_nothing(boot: ModuleType, host: Host) -> None:
    with pytest.raises(SystemExit, match="no-disc can't be mounted: nothing was told; tried again"):
        boot.main()
    assert host.said == []


def test_custom_data_is_read_off_the_disc_as_the_host_writes_it(boot: ModuleType) -> None:
    told = base64.b64encode(b"#!/bin/sh\n").decode()
    assert boot.custom_data(DISC.replace("DATA", told).encode()) == "#!/bin/sh\n"
    assert boot.custom_data(DISC.replace("<ns1:CustomData>DATA</ns1:CustomData>", "").encode()) == ""


def test_a_machine_of_another_hyper_v_asks_no_azure(boot: ModuleType, host: Host, tmp_path: Path) -> None:
    (tmp_path / "ASSET").write_text("none\n")
    host.user_data = script(tmp_path)
    assert boot.main() == 0
    assert (ran(tmp_path), host.said) == (0, [])
