"""Security groups as a firewall: read by the real nft, and what each kind of rule becomes."""

import subprocess
from typing import Any

import pytest

from local.network.groups import ruleset


def rule(protocol: str, ports: list[int] | None, **whom: str) -> dict[str, Any]:
    return {"protocol": protocol, "ports": ports, "cidr": None, "group": None, **whom}


NETWORK: dict[str, Any] = {
    "interfaces": [
        {"address": "10.1.0.5", "groups": ["sg-1", "sg-2"]},
        {"address": "10.1.0.6", "groups": ["sg-2"]},
        {"address": "10.1.0.7", "groups": []},
    ],
    "endpoints": [{"named": "sts", "region": "us-west-2", "addresses": ["10.1.0.8", "10.1.0.9"]}],
    "groups": {
        "sg-1": {"in": [rule("tcp", [2379, 2380], group="sg-2")], "out": []},
        "sg-2": {
            "in": [rule("udp", [8472, 8472], cidr="10.1.0.0/18"), rule("icmp", [3, 4], cidr="10.0.0.0/8")],
            "out": [rule("-1", None, cidr="0.0.0.0/0"), rule("tcp", [443, 443])],
        },
    },
}


@pytest.fixture(scope="module")
def made() -> str:
    return ruleset(NETWORK, "m", "h")


def test_the_kernel_takes_it(made: str) -> None:
    command = ["unshare", "--map-root-user", "--net", "nft", "-f", "-"]
    # Twice: it replaces itself.
    for text in (made, made + made):
        done = subprocess.run(command, input=text, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    "line",
    [
        "ip saddr @sg_2 tcp dport 2379-2380 accept",
        "ip saddr 10.1.0.0/18 udp dport 8472 accept",
        "ip saddr 10.0.0.0/8 icmp type 3 accept",
        "ip daddr 0.0.0.0/0 return",
        "set sg_2 { type ipv4_addr; elements = { 10.1.0.5, 10.1.0.6 }; }",
        "ct original ip daddr 10.1.0.7 accept",
        "ip daddr { 10.1.0.8, 10.1.0.9 } tcp dport 443 dnat to 169.254.169.254",
    ],
)
def test_it_has_a_line(made: str, line: str) -> None:
    assert line in made


def test_all_groups_of_an_interface_count_and_a_rule_of_ipv6_alone_is_none(made: str) -> None:
    (chain,) = [one for one in made.splitlines() if one.strip().startswith("chain in_") and "2379" in one]
    assert "udp dport 8472" in chain
    assert chain.rstrip().endswith("counter drop; }")
    assert "tcp dport 443 return" not in made
