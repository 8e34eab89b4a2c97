"""Balancers' tables: pure words for nft, which the kernel takes."""

import subprocess
from typing import Any

import pytest

from local import namespace
from local.network.spread import ruleset


def rule(*to: tuple[str, int], protocol: str = "tcp", port: int = 80, name: str = "r", **more: Any) -> dict[str, Any]:
    told = {"id": name, "address": "10.1.1.50", "port": port, "protocol": protocol, "sticky": False}
    return {**told, "to": list(to), **more}


MACHINES = (("10.1.1.10", 8080), ("10.1.1.11", 8080))


def test_a_flow_is_hashed_by_all_that_tells_it_apart_and_a_sticky_one_by_its_ends() -> None:
    assert "jhash ip saddr . ip daddr . tcp sport . tcp dport mod 2" in ruleset([rule(*MACHINES)])
    assert "jhash ip saddr . ip daddr mod 2" in ruleset([rule(*MACHINES, sticky=True)])


def test_what_has_no_machine_is_lost_and_no_balancer_no_table() -> None:
    told = ruleset([rule()])
    assert "ip daddr { 10.1.1.50 } drop" in told
    assert "dnat to" not in told
    assert ruleset([]).splitlines() == ["table ip balancers", "delete table ip balancers"]


@pytest.mark.parametrize(
    "told",
    [
        [],
        [rule()],
        [rule(*MACHINES), rule(MACHINES[0], protocol="udp", name="u")],
        [rule(*MACHINES, protocol="all", port=0)],
    ],
)
def test_the_kernel_takes_it_and_takes_it_again(told: list[dict[str, Any]]) -> None:
    argv = ["unshare", *namespace.usable_mode().make, "nft", "-f", "-"]
    done = subprocess.run(
        argv,
        input=ruleset(told) * 2,
        capture_output=True,
        text=True,
        check=False,
        env={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin"},
    )
    assert (done.returncode, done.stderr) == (0, "")
