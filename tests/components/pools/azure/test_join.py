"""Machines of Azure among the rules of joining, and what Azure is asked of them."""

import json
from collections.abc import Collection
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import parse_qsl

import pytest

from tests.components.pools.joining_bed import SERVING, TABLE, WEST, attested, key, node, request, wish
from tests.components.pools.joining_stand_ins import ONE, Api

import api_aws  # isort: skip
import arm_azure  # isort: skip
import cluster_token  # isort: skip
import instances  # isort: skip
import instances_azure  # isort: skip
import join_rules  # isort: skip
import join_service  # isort: skip
import machine  # isort: skip
import web_identity_aws  # isort: skip
from instances_aws import Ec2  # isort: skip

SOUTH, POOL, SET = "southcentralus", "south-gpu", "example-south-gpu-1"
NODE, OTHER, AWAY, NEW = (f"{SET}-00000{sign}" for sign in "0123")
VM, VM2 = ("02aab8a4-74ef-476e-8182-f6d2ba4166a6", "12aab8a4-74ef-476e-8182-f6d2ba4166a6")
PLACE = "/subscriptions/s/resourceGroups/example-southcentralus"
AZURE = {"subscription": "s", "tenant": "t", "places": {SOUTH: PLACE}}
GPU = {"place": SOUTH, "site": False, "groups": [SET], "hosts": {}, "gpus": 8, "cloud": "azure"}
CPU = {**GPU, "groups": ["example-south-cpu-all"], "gpus": 0}
WITH = {
    **TABLE,
    "regions": {**TABLE["regions"], SOUTH: [SET, "example-south-cpu-all"]},
    "pools": {**TABLE["pools"], POOL: GPU, "south-cpu": CPU},
    "azure": AZURE,
}
KEY = key()
KNOWN = {
    NODE: join_rules.Instance(NODE, "running", SET, "10.131.4.7", VM),
    OTHER: join_rules.Instance(OTHER, "shutting-down", SET, "10.131.4.8", VM2),
    NEW: join_rules.Instance(NEW, "running", SET, "", VM2),
}


def look(name: str, regions: Collection[str]) -> Any:
    assert set(regions) == {SOUTH} or SOUTH not in regions, "its own region alone is asked"
    return KNOWN.get(name) if SOUTH in regions else None


def judge(spec: dict[str, Any], age: float = 1000) -> join_rules.Verdict:
    facts = join_rules.Facts(join_rules.pools_of(WITH), WITH["lans"], (), look, {}.get, age)
    return join_rules.judge(spec, facts)


def pem(*arguments: Any) -> str:
    return request(*arguments, made=KEY)


def vouched(pool: str = POOL, name: str = NODE, vm: Any = VM) -> dict[str, Any]:
    found = attested(pool, name)
    return {**found, "extra": {**found["extra"], **({"landbridge.dev/vm": [vm]} if vm is not None else {})}}


GOOD = {
    "one that Azure vouches for": wish(pem(NODE), **vouched()),
    "its own renewal": wish(pem(NODE), **node(NODE)),
    "its server's": wish(pem(NODE, [NODE], ["10.131.4.7"]), SERVING, **node(NODE)),
}


@pytest.mark.parametrize("case", GOOD)
def test_a_machine_of_a_scale_set_gets_its_certificates(case: str) -> None:
    assert judge(GOOD[case]) == ("approve", f"{NODE} runs in pool {POOL}")


BAD: dict[str, tuple[dict[str, Any], str]] = {
    "another machine's number": (wish(pem(NODE), **vouched(vm=VM2)), "another machine than the one that Azure"),
    "no number": (wish(pem(NODE), **vouched(vm=None)), "not come from an attested token"),
    "an empty number": (wish(pem(NODE), **vouched(vm="")), "not come from an attested token"),
    "two numbers": (
        wish(pem(NODE), **{**vouched(), "extra": {**vouched()["extra"], "landbridge.dev/vm": [VM, VM2]}}),
        "not come from an attested token",
    ),
    "another pool of Azure": (wish(pem(NODE), **vouched("south-cpu")), "no scale set of south-cpu has a machine"),
    "a pool of AWS": (wish(pem(NODE), **vouched("west-gpu")), f"pool west-gpu has no machine named {NODE}"),
    "an instance of AWS with a number": (wish(pem(ONE), **vouched("west-gpu", ONE)), "pool west-gpu has no machine"),
    "an instance of AWS in a pool of Azure": (wish(pem(ONE), **vouched(POOL, ONE)), "no scale set of south-gpu"),
    "a name of no set": (
        wish(pem("example-south-gpu-2-000000"), **vouched(name="example-south-gpu-2-000000")),
        "no scale set of south-gpu has a machine",
    ),
    "another one's name": (wish(pem(OTHER), **vouched()), f"system:node:{NODE}, and nobody else"),
    "one that ends": (wish(pem(OTHER), **vouched(name=OTHER, vm=VM2)), "is shutting-down, not running"),
    "one that Azure does not know": (wish(pem(AWAY), **vouched(name=AWAY)), f"no instance {AWAY} in {SOUTH}"),
    "another address": (wish(pem(NODE, [NODE], ["10.131.4.8"]), SERVING, **node(NODE)), "IP 10.131.4.7, and nothing"),
    "a node of no set": (wish(pem("south-000000"), **node("south-000000")), "no pool has a machine"),
}


@pytest.mark.parametrize("case", BAD)
def test_all_else_is_denied_with_its_reason(case: str) -> None:
    spec, words = BAD[case]
    verdict = judge(spec)
    assert verdict.kind == "deny"
    assert words in verdict.why


def test_a_server_whose_address_is_not_known_yet_waits() -> None:
    assert judge(wish(pem(NEW, [NEW], ["10.131.4.9"]), SERVING, **node(NEW))).kind == "wait"


class Arm:
    """Resource Manager's answers by path; machines come in pages of one."""

    def __init__(self, **machines: tuple[str, str]) -> None:
        self.machines, self.asked, self.status = machines, list[str](), 0

    def __call__(self, path: str) -> Any:
        self.asked.append(path)
        if self.status:
            raise machine.Refused(self.status, "no")
        place, _, query = path.partition("?")
        known = list(self.machines.items())
        if place.endswith("/networkInterfaces"):
            assert "api-version=2018-10-01" in query
            return {"value": [card for number, _ in known for card in self.cards(place, number[1:])]}
        start = int(query.rpartition("skip=")[2]) if "skip=" in query else 0
        value = [
            {
                "instanceId": number[1:],
                "properties": {
                    "vmId": vm.upper(),
                    "provisioningState": state,
                    "osProfile": {"computerName": f"{SET}-00000{number[1:].upper()}"},
                },
            }
            for number, (vm, state) in known[start : start + 1]
        ]
        more = {"nextLink": f"{place}?{query.partition('&')[0]}&skip={start + 1}"} if start + 1 < len(known) else {}
        return {"value": value, **more}

    def cards(self, place: str, number: str) -> list[Any]:
        owner = {"id": f"{place.removesuffix('/networkInterfaces')}/virtualMachines/{number}"}
        return [
            {
                "properties": {
                    "primary": primary,
                    "virtualMachine": owner,
                    "ipConfigurations": [{"properties": {"privateIPAddress": f"10.131.{n}.{int(number, 36)}"}}],
                }
            }
            for n, primary in enumerate((False, True, False))
        ]


def test_a_region_s_sets_are_listed_in_pages_with_numbers_and_addresses() -> None:
    arm = Arm(_0=(VM, "Succeeded"), _a=(VM2, "Deleting"), _2=(VM2, "Creating"))
    found = instances_azure.ScaleSets([SET], PLACE, arm).all()
    assert [(one.id, one.state, one.group, one.address, one.vm) for one in found] == [
        (f"{SET}-000000", "running", SET, "10.131.1.0", VM),
        (f"{SET}-00000a", "shutting-down", SET, "10.131.1.10", VM2),
        (f"{SET}-000002", "running", SET, "10.131.1.2", VM2),
    ]
    assert len(arm.asked) == 4


def test_only_the_sets_of_those_that_are_asked_for_are_listed() -> None:
    arm = Arm(_0=(VM, "Succeeded"))
    sets = instances_azure.ScaleSets([SET, "example-south-cpu-all"], PLACE, arm)
    assert [one.id for one in sets.some([NODE, "somebody-else-000000"])] == [NODE]
    assert all(f"/virtualMachineScaleSets/{SET}/" in path for path in arm.asked)
    assert [sets.names(name) for name in (NODE, ONE, "host-1.lab", "example-south-gpu-2-000000")] == [
        True,
        False,
        False,
        False,
    ]


def test_a_machine_by_itself_is_looked_at_with_its_card_and_is_gone_when_azure_has_none() -> None:
    alone, card = "example-south-laptops-vpn-1", f"{PLACE}/providers/Microsoft.Network/networkInterfaces/vpn-1"
    name = f"{alone}-00ab12"
    told: dict[str, Any] = {
        f"{PLACE}/providers/Microsoft.Compute/virtualMachines/{alone}": {
            "properties": {
                "provisioningState": "Succeeded",
                "vmId": VM.upper(),
                "osProfile": {"computerName": name},
                "networkProfile": {"networkInterfaces": [{"id": card}]},
            }
        },
        card: {"properties": {"ipConfigurations": [{"properties": {"privateIPAddress": "10.131.9.4"}}]}},
    }
    asked: list[str] = []

    def get(path: str) -> Any:
        asked.append(path.partition("?")[0])
        if asked[-1] not in told:
            raise machine.Refused(404, "not found")
        return told[asked[-1]]

    sets = instances_azure.ScaleSets([SET, alone], PLACE, get, [alone])
    assert sets.names(name)
    assert sets.some([name]) == [join_rules.Instance(name, "running", alone, "10.131.9.4", VM)]
    assert asked == list(told)
    # Its successor is called otherwise, and so the one before is gone.
    told[asked[0]]["properties"]["osProfile"]["computerName"] = f"{alone}-00ab13"
    assert [one.id for one in sets.some([name])] == [f"{alone}-00ab13"]
    told.clear()
    assert sets.some([name]) == []


def test_a_set_that_is_gone_has_no_machines_and_one_that_may_not_be_seen_tells_nothing(clock: Any) -> None:
    arm = Arm(_0=(VM, "Succeeded"))
    region = instances.Region(SOUTH, instances_azure.ScaleSets([SET], PLACE, arm))
    region.step()
    assert isinstance(region.look(NODE), join_rules.Instance)
    arm.status = 403
    clock(200)
    region.step()
    assert isinstance(region.look(NODE), join_rules.Unsure)
    arm.status = 404
    seen = []
    for _ in range(5):
        clock(61)
        region.step()
        seen.append(region.gone(NODE, 120))
    assert seen == [False, False, True, True, True], "two answers, two minutes apart"


def test_each_region_s_own_cloud_is_asked() -> None:
    found = join_service.sources(WITH, Api())  # type: ignore[arg-type]
    assert {name: type(one) for name, one in found.items()} == {
        WEST: Ec2,
        "us-east-1": Ec2,
        SOUTH: instances_azure.ScaleSets,
    }


def test_the_clusters_own_token_is_given_to_entra_and_its_answer_to_resource_manager(
    monkeypatch: pytest.MonkeyPatch, clock: Any
) -> None:
    sent: list[Any] = []

    def send(method: str, url: str, headers: Any, body: Any) -> tuple[bytes, dict[str, str]]:
        sent.append((method, url, dict(headers), body.data.decode()))
        told = {"access_token": "ENTRA", "expires_in": 3600} if "oauth2" in url else {"value": []}
        return json.dumps(told).encode(), {}

    monkeypatch.setattr(arm_azure, "send", send)
    api = Api(**{cluster_token.TOKEN: {"status": {"token": "OURS"}}})
    arm = arm_azure.Arm(api, "t")  # type: ignore[arg-type]
    with pytest.raises(machine.Refused):  # the add-ons have not named the identity yet
        arm.get("/x?api-version=1")
    api.things[arm_azure.IDENTITY] = {"data": {"client-id": "C"}}
    arm.get("/x?api-version=1")
    arm.get(f"{arm_azure.ARM}/y")
    assert [(method, url) for method, url, _, _ in sent] == [
        ("POST", "https://login.microsoftonline.com/t/oauth2/v2.0/token"),
        ("GET", "https://management.azure.com/x?api-version=1"),
        ("GET", "https://management.azure.com/y"),
    ]
    assert "client_id=C" in sent[0][3]
    assert "client_assertion=OURS" in sent[0][3]
    assert sent[1][2]["Authorization"] == "Bearer ENTRA"
    clock(3400)
    arm.get("/z")
    assert sent[3][1].endswith("/oauth2/v2.0/token"), "another one before it ends"


def test_a_token_whose_identity_is_another_by_now_is_dropped(monkeypatch: pytest.MonkeyPatch) -> None:
    gone: set[str] = set()
    api = Api(
        **{cluster_token.TOKEN: {"status": {"token": "OURS"}}, arm_azure.IDENTITY: {"data": {"client-id": "old"}}}
    )

    def send(_: str, url: str, headers: Any, body: Any) -> tuple[bytes, dict[str, str]]:
        if "oauth2" in url:
            client = dict(parse_qsl(body.data.decode()))["client_id"]
            return json.dumps({"access_token": client, "expires_in": 86400}).encode(), {}
        if (token := headers["Authorization"].removeprefix("Bearer ")) in gone:
            raise machine.Refused(403, f"{token} may not")
        return b"{}", {}

    monkeypatch.setattr(arm_azure, "send", send)
    arm = arm_azure.Arm(api, "t")  # type: ignore[arg-type]
    assert arm.get("/x") == {}
    gone.add("old")
    api.things[arm_azure.IDENTITY] = {"data": {"client-id": "new"}}
    with pytest.raises(machine.Refused, match="old may not"):
        arm.get("/x")
    assert arm.get("/x") == {}


ANSWER = """<AssumeRoleWithWebIdentityResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/">
<AssumeRoleWithWebIdentityResult><Credentials><AccessKeyId>{0}</AccessKeyId><SecretAccessKey>S</SecretAccessKey>
<SessionToken>T</SessionToken><Expiration>{1}</Expiration></Credentials></AssumeRoleWithWebIdentityResult>
</AssumeRoleWithWebIdentityResponse>"""


def test_at_home_in_azure_ec2_is_asked_as_the_role_that_takes_the_cluster_s_token(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    keys, gone, sent = ["AKIA1", "AKIA2"], set[str](), list[Any]()

    def sts(_: str, url: str, headers: Any, body: Any) -> tuple[bytes, dict[str, str]]:
        sent.append((url, dict(parse_qsl(body.data.decode())), "authorization" in headers))
        ends = datetime.now(UTC) + timedelta(hours=1)
        return ANSWER.format(keys[len(sent) - 1], f"{ends:%FT%TZ}").encode(), {}

    def ec2(_: str, url: str, headers: Any, body: Any) -> tuple[bytes, dict[str, str]]:
        assert (url, headers["x-amz-security-token"]) == ("https://ec2.us-east-1.amazonaws.com/", "T")
        if any(key in headers["authorization"] for key in gone):
            raise machine.Refused(401, "AuthFailure")
        return b"<DescribeInstancesResponse><reservationSet/></DescribeInstancesResponse>", {}

    monkeypatch.setattr(web_identity_aws, "send", sts)
    monkeypatch.setattr(api_aws, "send", ec2)
    api = Api(**{cluster_token.TOKEN: {"status": {"token": "OURS"}}})
    told = {**WITH, "aws": {"role": "arn:aws:iam::123456789012:role/looks"}}
    source = join_service.sources(told, api)["us-east-1"]  # type: ignore[arg-type]
    assert source.all() == []
    assert source.all() == []
    (only,) = sent
    assert only[0] == "https://sts.us-east-1.amazonaws.com/"
    assert (only[1]["RoleArn"], only[1]["WebIdentityToken"]) == (told["aws"]["role"], "OURS")
    assert not only[2], "STS is asked without a signature"
    # The role was made anew: keys of the former one are dropped at once, not in an hour.
    gone.add("AKIA1")
    with pytest.raises(machine.Refused):
        source.all()
    assert source.all() == []
    assert len(sent) == 2
