"""The autoscaler's identity in Azure: its rights as the local Azure judges them, for all that the service does."""

import asyncio
import uuid
from collections.abc import Callable, Iterator
from typing import Any

import pulumi
import pytest
from azure.core.exceptions import HttpResponseError
from azure.mgmt.authorization import AuthorizationManagementClient
from azure.mgmt.compute import ComputeManagementClient
from azure.mgmt.msi import ManagedServiceIdentityClient

from components.addons.azure import autoscaler_role as role
from components.addons.azure.addons import AutoscalerIdentity
from components.addons.azure.autoscaler_role import Grant
from components.addons.azure.pod_role import AUDIENCE
from components.pools.names import Names
from fleet import issuers
from fleet.loader import load
from fleet.model import Fleet, Pool
from services.autoscaler.azure.answers import Place
from services.autoscaler.azure.cloud import Azure
from tests.components.network.test_specs import VARIANTS
from tests.local.azure.conftest import azure, group  # noqa: F401
from tests.local.azure.support import SUBSCRIPTION, LocalAzure
from tests.services.autoscaler.azure.bed import REGION, SET, Bed, laid

CLUSTER = "main"


@pytest.fixture(scope="module")
def fleet() -> Fleet:
    """With pools of its cluster in Azure: on two zones, and on all."""
    found = load(VARIANTS / "azure-beside.yaml")
    shape: dict[str, Any] = {
        "kind": "gpu",
        "region": REGION,
        "instance_type": "Standard_ND96isr_H100_v5",
        "gpus": 8,
        "max": 4,
    }
    zones = found.regions[REGION].zones[:2]
    south = Pool(cluster=CLUSTER, owner=found.owner, zones=zones, **shape)
    spare = south.model_copy(update={"kind": "cpu", "gpus": 0, "instance_type": "Standard_D8s_v5", "zones": None})
    return found.model_copy(update={"pools": {**found.pools, "south-gpu": south, "spare": spare}})


def test_it_may_change_the_scale_sets_of_its_own_pools_and_nothing_else(fleet: Fleet) -> None:
    assert fleet.azure is not None
    about = f"/subscriptions/{fleet.azure.subscription_id}"
    place = f"{about}/resourceGroups/{fleet.fleet}-{REGION}"
    names = Names(fleet)
    own = [name for pool in ("south-gpu", "spare") for name in names.groups(pool)]
    assert len(own) == 3
    found = role.grants(fleet, CLUSTER)
    assert [(one.role, one.scope) for one in found if one.role != "pool"] == [
        ("subscription", about),
        ("region", place),
    ]
    assert [one.scope for one in found if one.role == "pool"] == [
        f"{place}/providers/{role.SETS}/{name}" for name in own
    ]
    writes = [
        action for kind in ("subscription", "region") for action in role.ROLES[kind] if not action.endswith("/read")
    ]
    assert writes == []
    assert not [action for actions in role.ROLES.values() for action in actions if "*" in action]
    assert len({role.assignment_id(fleet, CLUSTER, one) for one in found}) == len(found)
    assert role.federation(fleet, CLUSTER)["issuer"] == issuers.url(fleet, CLUSTER)


@pytest.fixture
def bed(azure: LocalAzure, group: str) -> Iterator[Bed]:  # noqa: F811
    yield from laid(azure, group)


def granted(bed: Bed) -> Any:
    """A client of an identity with the role's rights, in the bed's group and to one of its scale sets."""
    made = bed.azure.client(ManagedServiceIdentityClient).user_assigned_identities
    identity = made.create_or_update(bed.group, "autoscaler", {"location": REGION})
    about = f"/subscriptions/{SUBSCRIPTION}"
    place = f"{about}/resourceGroups/{bed.group}"
    roles = bed.azure.client(AuthorizationManagementClient)
    for grant in (
        Grant("subscription", about),
        Grant("region", place),
        Grant("pool", f"{place}/providers/{role.SETS}/{SET}"),
    ):
        told = {"roleName": f"{bed.group} {grant.role}", "roleType": "CustomRole", "assignableScopes": [about]}
        permissions = [{"actions": role.ROLES[grant.role]}]
        kind = roles.role_definitions.create_or_update(
            about, str(uuid.uuid4()), {"properties": {**told, "permissions": permissions}}
        )
        who = {"roleDefinitionId": kind.id, "principalId": identity.principal_id, "principalType": "ServicePrincipal"}
        roles.role_assignments.create(grant.scope, str(uuid.uuid4()), {"properties": who})
    token = bed.azure.own("token", {"identity": identity.id, "resource": "https://management.azure.com/"}, "POST")
    return bed.azure.client(ComputeManagementClient, token=token["access_token"])


def test_its_rights_are_enough_for_all_that_it_does_and_for_no_other_scale_set(bed: Bed) -> None:
    client = granted(bed)
    bed.region.cloud = own = Azure(REGION, "main", Place(SUBSCRIPTION, bed.group), client)
    bed.azure.own("capacity", [{"location": REGION, "most": 1, "leaves_failed": True}])
    bed.grow(2)
    (machine,) = bed.running(1)
    assert [one.sentence[:16] for one in bed.region.groups[SET].refused] == ["AllocationFailed"]
    assert own.size(SET) == 1
    assert own.end(SET, [machine]) == {}
    acts: tuple[Callable[[], Any], ...] = (
        lambda: client.virtual_machine_scale_sets.begin_update(bed.group, "other", {"sku": {"capacity": 1}}),
        lambda: client.virtual_machine_scale_sets.begin_delete(bed.group, SET),
        lambda: client.virtual_machine_scale_set_vms.begin_restart(bed.group, SET, "0"),
    )
    for act in acts:
        with pytest.raises(HttpResponseError, match="AuthorizationFailed"):
            act()


class Mocks(pulumi.runtime.Mocks):
    """Resources by type and name, with outputs that name them."""

    def __init__(self) -> None:
        self.made = dict[tuple[str, str], dict[str, Any]]()

    def new_resource(self, args: pulumi.runtime.MockResourceArgs) -> tuple[str, dict[str, Any]]:
        kind = args.typ.rpartition(":")[2]
        self.made[kind, args.name] = args.inputs
        known = {"name": args.inputs.get("resourceName"), "clientId": "the client", "principalId": "the principal"}
        return f"{kind} {args.name}", {**args.inputs, **known}

    def call(self, _: pulumi.runtime.MockCallArgs) -> dict[str, Any]:
        return {}


def test_the_identity_has_each_right_once_and_takes_tokens_of_the_autoscaler_s_account_alone(fleet: Fleet) -> None:
    mocks, found = Mocks(), list[Any]()

    async def program() -> None:
        pulumi.runtime.set_mocks(mocks, project="landbridge", stack="addons")
        made = AutoscalerIdentity("autoscaler-azure", {"fleet": fleet, "cluster": CLUSTER})
        found.append(await made.client_id.future())
        await pulumi.runtime.stack.wait_for_rpcs()

    asyncio.run(program())
    assert found == ["the client"]
    identity = mocks.made["UserAssignedIdentity", "autoscaler"]
    assert (identity["resourceName"], identity["resourceGroupName"]) == (
        "azure-beside-main-addons-autoscaler",
        f"azure-beside-{REGION}",
    )
    trusted = mocks.made["FederatedIdentityCredential", "autoscaler"]
    assert trusted["subject"] == "system:serviceaccount:kube-system:cluster-autoscaler"
    assert (trusted["issuer"], trusted["audiences"]) == (issuers.url(fleet, CLUSTER), [AUDIENCE])
    given = [one for (kind, _), one in mocks.made.items() if kind == "RoleAssignment"]
    assert {(one["scope"], one["roleDefinitionId"]) for one in given} == {
        (grant.scope, role.definition_id(fleet, CLUSTER, grant.role)) for grant in role.grants(fleet, CLUSTER)
    }
    assert {one["principalId"] for one in given} == {"the principal"}
