"""Network security groups as a firewall: read by the real nft, and what each kind of rule becomes."""

import subprocess
from typing import Any

import pytest

from local.network.rules import ruleset

ANYBODY: dict[str, Any] = {"prefixes": ["*"], "groups": [], "ports": []}


def rule(access: str, protocol: str, source: Any, target: Any) -> dict[str, Any]:
    sides = {"source": {**ANYBODY, **source}, "target": {**ANYBODY, **target}}
    return {"access": access, "protocol": protocol, **sides}


RULES = [
    rule("Allow", "Tcp", {"prefixes": ["10.1.0.0/24", "10.1.0.5"]}, {"ports": [[443, 443], [80, 90], [85, 91]]}),
    rule("Deny", "*", {"prefixes": ["VirtualNetwork"]}, {"prefixes": ["10.1.0.9"], "ports": [[53, 53]]}),
    rule("Allow", "Icmp", {"prefixes": ["Internet"]}, {}),
    rule("Allow", "Udp", {"groups": ["/web"], "prefixes": []}, {}),
    rule("Allow", "*", {"prefixes": ["AzureLoadBalancer"]}, {}),
    rule("Allow", "*", {"prefixes": ["GatewayManager"]}, {"ports": [[1, 1]]}),
    rule("Allow", "*", {"prefixes": ["2001:db8::/32"]}, {"ports": [[2, 2]]}),
]
OUT = [
    rule("Deny", "Tcp", {"ports": [[1000, 1000]]}, {"prefixes": ["Storage.WestEurope"], "ports": [[2000, 2000]]}),
    rule("Allow", "*", {}, {"prefixes": ["Internet"]}),
    rule("Allow", "*", {}, {"prefixes": ["AzureLoadBalancer"], "ports": [[3, 3]]}),
]
PEER = {"to": "azure-b", "cidrs": ["10.2.0.0/16"], "open": True, "forwarded": False, "wire": "a b"}
VNET: dict[str, Any] = {
    "cidrs": ["10.1.0.0/16"],
    "interfaces": [
        {"address": "10.1.0.4", "groups": ["/s", "/n"], "within": ["/web"]},
        {"address": "10.1.0.5", "groups": [], "within": []},
        {"address": "10.1.0.6", "groups": ["/s"], "within": []},
    ],
    "endpoints": [{"addresses": ["10.1.0.6"]}],
    "peers": [PEER],
    "groups": {"/s": {"in": RULES, "out": OUT}, "/n": {"in": [], "out": []}},
}
CARDS = ("m", "g", "p")


@pytest.fixture(scope="module")
def made() -> str:
    return ruleset(VNET, ["10.9.0.0/20"], ["10.1.0.4"], CARDS)


def test_the_kernel_takes_it(made: str) -> None:
    command = ["unshare", "--map-root-user", "--net", "nft", "-f", "-"]
    # Twice: it replaces itself.
    for text in (made, made + made):
        done = subprocess.run(command, input=text, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    "line",
    [
        "ip saddr { 10.1.0.0/24 } meta l4proto tcp th dport { 80-91, 443 } return",
        "ip saddr @virtual_network ip daddr { 10.1.0.9/32 } meta l4proto { tcp, udp } th dport { 53 } counter drop",
        "ip saddr != @virtual_network ip saddr != 168.63.129.16 ip protocol icmp return",
        "meta l4proto udp return",
        "ip saddr 168.63.129.16 return",
        "ct original ip daddr 168.63.129.16 meta l4proto tcp th sport { 1000 } ct original proto-dst { 2000 } counter drop",
        "ct original ip daddr != @virtual_network return",
        "set virtual_network { type ipv4_addr; flags interval; elements = { 10.1.0.0/16, 10.2.0.0/16, 10.9.0.0/20 }; }",
        "ip daddr { 10.1.0.6 } tcp dport 443 dnat to 168.63.129.16",
        "ip saddr != { 10.2.0.0/16 } counter drop",
    ],
)
def test_it_has_a_line(made: str, line: str) -> None:
    assert line in made


@pytest.mark.parametrize("port", [1, 2, 3])
def test_a_rule_for_nobody_here_is_none(made: str, port: int) -> None:
    assert f"dport {{ {port} }}" not in made


def test_a_group_s_last_word_is_no_and_both_groups_are_asked_each_in_its_turn(made: str) -> None:
    chains = [one.strip() for one in made.splitlines() if one.strip().startswith("chain ")]
    assert all(one.endswith("counter drop; }") for one in chains if one.startswith("chain group_"))
    two = [one for one in chains if one.count("jump") == 2]
    (outwards, inwards) = (
        next(one.partition("{")[2].split() for one in two if one.startswith(f"chain {way}_")) for way in ("out", "in")
    )
    names = [[word for word in words if word.startswith("group_")] for words in (inwards, outwards)]
    assert inwards[-2] == "accept;", "what both let in"
    assert "accept;" not in outwards, "what both let out is judged where it goes"
    by_length = {one.split()[1]: len(one) for one in chains}
    lengths = [[by_length[name.rstrip(";")] for name in found] for found in names]
    # The subnet's has rules, and is the first on the way in and the last on the way out.
    assert (lengths[0] == sorted(lengths[0], reverse=True), lengths[1] == sorted(lengths[1])) == (True, True)


def test_a_peering_that_takes_what_others_sent_drops_nothing() -> None:
    assert "ip saddr != {" not in ruleset({**VNET, "peers": [{**PEER, "forwarded": True}]}, [], [], CARDS)


def test_a_peer_that_is_not_open_is_not_of_the_network() -> None:
    text = ruleset({**VNET, "peers": [{**PEER, "open": False}]}, [], [], CARDS)
    assert "elements = { 10.1.0.0/16 };" in text
