"""What each variant is for: its kernel's modules, its programs, and that these speak what bundles ask of them."""

import json
import shlex
from typing import Any

import pytest
from conftest import found
from testinfra.host import Host

MODULES = {
    "gateway": ("esp4", "xfrm_interface", "xfrm_user", "nf_tables", "gcm"),
    "laptop": ("tun", "vxlan", "nf_tables", "nft_masq", "nft_fib_ipv4"),
    "cpu": ("overlay", "br_netfilter", "vxlan", "nf_tables", "nfsv4"),
    "gpu": ("overlay", "br_netfilter", "vxlan", "nf_tables", "nfsv4"),
}
PROGRAMS = {
    "gateway": ("swanctl", "charon-systemd", "vtysh", "nft", "networkctl", "ip", "keepalived", "unbound", "conntrack"),
    "laptop": ("openvpn", "nft", "runc"),
    "cpu": ("runc", "conntrack", "iptables", "mount.nfs4"),
    "gpu": ("runc", "conntrack", "iptables", "mount.nfs4", "nvidia-ctk", "nvidia-cdi-hook", "nvidia-container-runtime"),
}
# What components/links/on_machine/gateway_install.py tries before it touches a gateway.
PROBES = (
    "ip link add probe type xfrm if_id 1",
    "ip xfrm state add src 192.0.2.1 dst 192.0.2.2 proto esp spi 0x100 "
    f"mode tunnel aead 'rfc4106(gcm(aes))' 0x{'00' * 36} 128",
)


def test_modules_of_its_purpose_are_there(host: Host, made: dict[str, Any]) -> None:
    names = found(host, f"find /usr/lib/modules/{made['kernel']} -name '*.ko*' -printf '%f\\n'")
    there = {name.partition(".ko")[0].replace("-", "_") for name in names}
    assert set(MODULES.get(made["variant"], ())) - there == set()


def test_programs_of_its_purpose_are_there(host: Host, made: dict[str, Any]) -> None:
    assert [name for name in PROGRAMS.get(made["variant"], ()) if not host.exists(name)] == []


def test_openvpn_is_new_enough(host: Host, made: dict[str, Any]) -> None:
    """As laptops_ready.py asks: TLS 1.3 alone and tls-crypt-v2."""
    if made["variant"] != "laptop":
        pytest.skip("serves no laptops")
    version = host.run("openvpn --version").stdout.split()[1]
    assert tuple(map(int, version.split(".")[:2])) >= (2, 6)


def test_strongswan_has_what_the_policy_asks_for(host: Host, made: dict[str, Any]) -> None:
    if made["variant"] != "gateway":
        pytest.skip("no gateway")
    plugins = set(found(host, "ls /usr/lib/ipsec/plugins"))
    needed = ("openssl", "vici", "kernel-netlink", "socket-default")
    assert {f"libstrongswan-{name}.so" for name in needed} <= plugins


def test_containers_are_those_of_the_bill(host: Host, made: dict[str, Any], asleep: None) -> None:
    folder = host.file("/var/lib/landbridge/containers/list.json")
    listed = json.loads(folder.content_string) if folder.exists else []
    assert [{"name": one["name"], "digest": one["digest"]} for one in listed] == made.get("containers", [])
    for one in listed:
        assert host.file(f"/var/lib/landbridge/containers/{one['file']}").size > 0, one["name"]


def test_the_driver_is_that_of_the_bill(host: Host, made: dict[str, Any]) -> None:
    """Its modules, open ones, and for the kernel that there is; without a driver there are none."""
    if made["variant"] != "gpu":
        pytest.skip("no machine with GPUs")
    if made["driver"] is None:
        assert found(host, f"find /usr/lib/modules/{made['kernel']} -name 'nvidia.ko*'") == []
        pytest.skip("driverless")
    for module in ("nvidia", "nvidia-uvm"):
        modinfo = dict(
            line.split(":", 1) for line in found(host, f"modinfo -k {made['kernel']} {module}") if ":" in line
        )
        assert (modinfo["version"].strip(), modinfo["license"].strip()) == (made["driver"], "Dual MIT/GPL"), module


def test_the_toolkit_says_its_version(host: Host, bill: dict[str, Any], made: dict[str, Any]) -> None:
    if made["variant"] != "gpu":
        pytest.skip("no machine with GPUs")
    versions = {one["name"]: one["version"] for one in bill["components"] if one["type"] == "application"}
    assert host.check_output("nvidia-ctk --version").endswith(versions["nvidia-ctk"])


@pytest.mark.usefixtures("running")
def test_the_kernel_takes_tunnels(host: Host, made: dict[str, Any]) -> None:
    if made["variant"] != "gateway":
        pytest.skip("no gateway")
    for probe in PROBES:
        done = host.run(f"unshare --net sh -c {shlex.quote(probe)}")
        assert done.rc == 0, done.stderr
