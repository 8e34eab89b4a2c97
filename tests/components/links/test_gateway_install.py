"""A gateway's folder comes onto a machine whole, or the files of before stay: in a scratch root, with commands played."""

import importlib.util
import shutil
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from components.links.gateway import ipsec
from components.links.gateway.files import whole
from components.links.gateway.spec import GatewaySpec

from .bed import PAIR, gateways

import gateway_install  # isort: skip
from gateway_install import Failed  # isort: skip

Up = Callable[[Path], set[str]]


class Machine:
    """Commands are noted; one that begins with `broken` fails."""

    def __init__(self, root: Path, broken: str = "") -> None:
        self.root, self.broken = root, broken
        self.ran: list[str] = []

    def run(self, command: Sequence[str]) -> str:
        line = " ".join(command)
        self.ran.append(line)
        return "no" if self.broken and line.startswith(self.broken) else ""

    def install(self, folder: Path, up: Up = lambda _: set()) -> list[str]:
        return gateway_install.install(folder, self.root, self.run, up, seconds=0.05)

    @property
    def acted(self) -> list[str]:
        """What was run besides probes and checks."""
        return [line for line in self.ran if not line.startswith(("unshare", "nft --check", "vtysh"))]


def written(folder: Path, spec: GatewaySpec) -> Path:
    shutil.rmtree(folder, ignore_errors=True)
    for path, text in whole(spec, {end.tunnel.name: "a-key" for end in spec.ends}).items():
        file = folder / path.lstrip("/")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    return folder


def all_of(root: Path) -> dict[str, str]:
    files = (path for path in root.rglob("*") if path.is_file())
    return {str(f.relative_to(root)): f.read_text() for f in files if gateway_install.BEFORE not in str(f)}


@pytest.fixture
def spec() -> GatewaySpec:
    return gateways()[0]


@pytest.fixture
def folder(tmp_path: Path, spec: GatewaySpec) -> Path:
    return written(tmp_path / "folder", spec)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A machine with FRR's own file, which somebody reads by its group."""
    file = tmp_path / "root/etc/frr/frr.conf"
    file.parent.mkdir(parents=True)
    file.write_text("! of the package")
    file.chmod(0o640)
    return tmp_path / "root"


def test_it_comes_whole_and_keys_are_root_s_alone(folder: Path, root: Path) -> None:
    machine = Machine(root)
    assert "etc/frr/frr.conf" in machine.install(folder)
    assert all_of(root) == all_of(folder)
    assert (root / ipsec.SECRETS.lstrip("/")).stat().st_mode & 0o777 == 0o600
    assert (root / "etc/frr/frr.conf").stat().st_mode & 0o777 == 0o640
    order = ("sysctl", "networkctl reload", "nft --file", "systemctl restart strongswan", "swanctl --load-all")
    order += ("systemctl reload frr", "systemctl daemon-reload", "systemctl enable --now")
    at = [next(n for n, line in enumerate(machine.acted) if line.startswith(begins)) for begins in order]
    assert at == sorted(at)
    assert len(machine.acted) == len(set(machine.acted)), "nothing twice"


def test_run_again_it_does_nothing(folder: Path, root: Path) -> None:
    Machine(root).install(folder)
    again = Machine(root)
    assert again.install(folder) == []
    assert again.acted == []


def test_only_what_changed_is_acted_on(folder: Path, root: Path, spec: GatewaySpec) -> None:
    Machine(root).install(folder)
    (root / "etc/sysctl.d/60-landbridge.conf").write_text("net.ipv4.ip_forward = 0")
    machine = Machine(root)
    assert machine.install(folder) == ["etc/sysctl.d/60-landbridge.conf"]
    assert [line.split()[0] for line in machine.acted] == ["sysctl", "systemctl"]


def test_a_tunnel_that_left_the_plan_leaves_the_machine(folder: Path, root: Path, spec: GatewaySpec) -> None:
    Machine(root).install(folder)
    gone = spec.ends[-1]
    machine = Machine(root)
    changed = machine.install(written(folder, spec._replace(ends=spec.ends[:-1])), lambda _: {gone.name})
    assert f"etc/swanctl/conf.d/{gone.name}.conf" in changed
    assert all_of(root) == all_of(folder)
    assert f"ip link delete {gone.device}" in machine.ran


@pytest.mark.parametrize("broken", ["swanctl", "systemctl reload frr", "nft --file", "systemctl enable"])
def test_where_a_daemon_refuses_the_files_of_before_come_back(
    folder: Path, root: Path, spec: GatewaySpec, broken: str
) -> None:
    Machine(root).install(folder)
    before = all_of(root)
    machine = Machine(root, broken)
    with pytest.raises(Failed, match="The files of before are back"):
        machine.install(written(folder, spec._replace(asn=65099, address="192.0.2.11")))
    assert all_of(root) == before


def test_on_a_new_machine_nothing_is_left_of_a_failed_install(folder: Path, root: Path) -> None:
    with pytest.raises(Failed, match="`swanctl --load-all --noprompt`: no"):
        Machine(root, "swanctl").install(folder)
    assert all_of(root) == {"etc/frr/frr.conf": "! of the package"}


def test_a_tunnel_that_was_up_has_to_come_back(folder: Path, root: Path, spec: GatewaySpec) -> None:
    Machine(root).install(folder)
    before = all_of(root)
    asked: list[int] = []

    def up(_: Path) -> set[str]:
        asked.append(1)
        return {"us-west-2-1"} if len(asked) == 1 else set()

    with pytest.raises(Failed, match=r"us-west-2-1 is not up, and was before"):
        Machine(root).install(written(folder, spec._replace(asn=65099)), up)
    assert all_of(root) == before
    Machine(root).install(folder, lambda _: {"us-west-2-1"})
    assert all_of(root) == all_of(folder)


@pytest.mark.parametrize(
    ("broken", "words"),
    [
        ("unshare --net sh -c ip link", r"this kernel has no XFRM interfaces .*: no"),
        ("unshare --net sh -c ip xfrm", "this kernel has no ESP with AES-GCM"),
        ("nft --check", r"nft refuses etc/nftables.d/landbridge.nft: no"),
        ("vtysh --dryrun", r"vtysh refuses etc/frr/frr.conf: no"),
    ],
)
def test_what_a_machine_lacks_is_said_before_anything_is_touched(
    folder: Path, root: Path, broken: str, words: str
) -> None:
    before, machine = all_of(root), Machine(root, broken)
    with pytest.raises(Failed, match=words):
        machine.install(folder)
    assert (all_of(root), machine.acted) == (before, [])


def test_a_program_that_is_missing_is_named_with_its_package(
    folder: Path, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shutil, "which", lambda name: None if name == "vtysh" else name)
    with pytest.raises(Failed, match=r"no vtysh \(package frr\)"):
        Machine(root).install(folder)


def test_one_of_a_pair_wants_keepalived_and_the_lan_s_address(
    tmp_path: Path, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = written(tmp_path / "paired", gateways("attic", attic=PAIR)[0])
    machine = Machine(root)
    machine.install(folder)
    at = [machine.acted.index(f"systemctl {what}") for what in ("daemon-reload", "restart landbridge-pair")]
    assert at == sorted(at)
    with pytest.raises(Failed, match="no"):
        Machine(root, sys.executable).install(folder)
    monkeypatch.setattr(shutil, "which", lambda name: None if name == "keepalived" else name)
    with pytest.raises(Failed, match=r"no keepalived \(package keepalived\)"):
        Machine(root).install(folder)


def test_one_that_is_of_no_pair_any_more_leaves_the_next_hop(tmp_path: Path, root: Path) -> None:
    spec = gateways("attic", attic=PAIR)[0]
    Machine(root).install(written(tmp_path / "paired", spec))
    machine = Machine(root)
    changed = machine.install(written(tmp_path / "paired", spec._replace(pair=None)))
    assert "etc/keepalived/landbridge.conf" in changed
    assert "systemctl stop landbridge-pair" in machine.acted
    assert "systemctl restart landbridge-pair" not in machine.acted


def test_a_folder_that_is_none_is_refused(tmp_path: Path, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(Failed, match="landbridge site gateway"):
        Machine(root).install(tmp_path)


@pytest.fixture(autouse=True)
def programs(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if all were installed."""
    monkeypatch.setattr(shutil, "which", lambda name: f"/usr/sbin/{name}")


def test_where_the_script_lies_its_folder_begins(folder: Path) -> None:
    file = folder / "usr/local/lib/landbridge/gateway_install.py"
    found = importlib.util.spec_from_file_location("installed_from", file)
    assert found
    assert found.loader
    module = importlib.util.module_from_spec(found)
    found.loader.exec_module(module)
    assert folder == module.FOLDER
    assert gateway_install.listed(Path("/nowhere")) == []


def test_a_disk_that_takes_no_more_leaves_all_as_it_was(
    folder: Path, root: Path, spec: GatewaySpec, monkeypatch: pytest.MonkeyPatch
) -> None:
    Machine(root).install(folder)
    before, put, count = all_of(root), gateway_install._put, [0]

    def full(source: Path, target: Path) -> None:
        if str(source).startswith(str(folder)):
            count[0] += 1
            if count[0] > 2:
                raise OSError(28, "No space left on device")
        put(source, target)

    monkeypatch.setattr(gateway_install, "_put", full)
    with pytest.raises(Failed, match=r"No space left on device.* The files of before are back"):
        Machine(root).install(written(folder, spec._replace(asn=65099)))
    assert all_of(root) == before
    monkeypatch.setattr(gateway_install, "keep", lambda *_: full(folder / "x", root / "x"))
    with pytest.raises(Failed, match=r"can't be kept, and nothing was changed"):
        Machine(root).install(folder / ".")
    assert all_of(root) == before
