"""What Azure's activity log shows, in the forms of its schema."""

import json
from typing import Any

import pytest

from evidence.azure.machines import of_entry
from evidence.judge import judge
from evidence.observation import Observation, moment

AT = "2026-11-28T10:00:00.1234567Z"
SET = "/subscriptions/s/resourceGroups/Lab/providers/Microsoft.Compute/virtualMachineScaleSets/gpu"
NODES = {f"{SET}/virtualMachines/{n}".lower(): f"gpu-{n}" for n in range(3)}
COMPUTE = "Microsoft.Compute"


def entry(operation: str, of: str, status: str = "Accepted", **properties: Any) -> dict[str, Any]:
    return {
        "category": {"value": "Administrative"},
        "caller": "ann@example.com",
        "eventTimestamp": AT,
        "operationName": {"value": f"{COMPUTE}/{operation}", "localizedValue": "Delete a machine"},
        "resourceId": of,
        "status": {"value": status, "localizedValue": status},
        **({"properties": properties} if properties else {}),
    }


def named(*numbers: str) -> str:
    return json.dumps({"instanceIds": list(numbers)})


DELETE, SEVERAL = "virtualMachineScaleSets/virtualMachines/delete", "virtualMachineScaleSets/delete/action"
CASES = {
    "one": (entry(DELETE, f"{SET}/virtualMachines/1"), ["gpu-1"]),
    "in another case": (entry(DELETE, f"{SET}/virtualMachines/1".upper()), ["gpu-1"]),
    "several": (entry(SEVERAL, SET, requestbody=named("0", "2")), ["gpu-0", "gpu-2"]),
    "all": (entry("virtualMachineScaleSets/deallocate/action", SET), ["gpu-0", "gpu-1", "gpu-2"]),
    "a star": (entry(SEVERAL, SET, requestbody=named("*")), ["gpu-0", "gpu-1", "gpu-2"]),
    "a body that is none": (entry(SEVERAL, SET, requestbody="…"), ["gpu-0", "gpu-1", "gpu-2"]),
    "another set": (entry(SEVERAL, f"{SET}-b", requestbody=named("0")), []),
    "refused": (entry(DELETE, f"{SET}/virtualMachines/1", "Failed"), []),
    "a read of its console": (entry("virtualMachines/retrieveBootDiagnosticsData/action", SET), []),
}


@pytest.mark.parametrize("name", CASES)
def test_who_ended_a_machine_is_told_of_its_node(name: str) -> None:
    told, nodes = CASES[name]
    found = of_entry(told, NODES)
    assert sorted(one.about for one in found) == [f"node/{node}" for node in nodes]
    for one in found:
        assert (one.source, one.code, one.at) == ("Azure", "machine-ended", moment(AT))
        assert one.text.endswith(" by ann@example.com")
        assert one.facts == {"machine": one.about.replace("node/gpu-", "gpu_"), "user": "ann@example.com"}


def test_what_azure_saw_by_itself_is_a_failure_and_what_a_user_did_is_not_told_twice() -> None:
    def health(cause: str, status: str = "Unavailable") -> list[Observation]:
        more = {"title": "Disk disconnected", "details": "It can't reach its disk.", "cause": cause}
        told = entry("healthevent", f"{SET}/virtualMachines/0", "Active", currentHealthStatus=status, **more)
        return of_entry({**told, "category": {"value": "ResourceHealth"}}, NODES)

    (one,) = health("PlatformInitiated")
    assert (one.code, one.text) == ("machine-failed", "Disk disconnected; It can't reach its disk.")
    assert one.facts == {"machine": "gpu_0"}, "nobody wanted it"
    assert health("UserInitiated") == health("PlatformInitiated", "Available") == []


def test_the_cause_is_the_end_of_the_machine_and_names_who_wanted_it() -> None:
    (ended,) = of_entry(CASES["one"][0], NODES)
    silent = Observation(ended.at + 40, "node controller", "node/gpu-1", "node-silent")
    marked = Observation(ended.at + 340, "API server", "pod/team-a/train-0", "taint-manager", "m", "u")
    verdict = judge([silent, ended, marked])
    assert (verdict.code, verdict.source) == ("machine-ended", "ann@example.com")
    assert f"{COMPUTE}/{DELETE} by ann@example.com" in verdict.sentence
