"""Assignments of roles on the real engine, whose definitions Azure does not know everywhere yet."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.local.azure.support import SUBSCRIPTION, served
from tests.local.providers.azure.project import Project, plugins
from tests.support.cloud import ROOT

pytestmark = pytest.mark.cloud
TYPE = "Microsoft.Authorization/roleAssignments"
GUIDS = {"definition": "00000000-0000-4000-8000-0000000000d1", "assignment": "00000000-0000-4000-8000-0000000000a1"}
SCOPE = f"/subscriptions/{SUBSCRIPTION}"
PROGRAM = f"""\
import sys
sys.path.insert(0, {str(ROOT)!r})
from components.azure import assignment
from components.azure.assignment import Assignment, assigned
assignment.WAIT_SECONDS, assignment.MOST_WAITS = 0.1, 3

class Part(pulumi.ComponentResource):
    def __init__(self):
        super().__init__("test:Part", "part", None, pulumi.ResourceOptions(providers=[here]))
        child = pulumi.ResourceOptions(parent=self)
        group = az.resources.ResourceGroup("g", resource_group_name="one", opts=child)
        identity = az.managedidentity.UserAssignedIdentity(
            "i", resource_group_name=group.name, resource_name_="one", opts=child)
        role = az.authorization.RoleDefinition(
            "r", role_definition_id={GUIDS["definition"]!r}, role_name="looks", role_type="CustomRole", scope={SCOPE!r},
            assignable_scopes=[{SCOPE!r}], permissions=[{{"actions": ["*/read"], "not_actions": []}}], opts=child)
        name = {SCOPE!r} + "/providers/Microsoft.Authorization/roleDefinitions/" + {GUIDS["definition"]!r}
        assigned("looks", Assignment({GUIDS["assignment"]!r}, name, {SCOPE!r}), identity, self, role)

Part()
"""


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Project]:
    for azure in served(tmp_path / "azure"):
        for made in plugins(azure):
            yield Project(tmp_path / "project", made)


def refuse(project: Project, code: str, times: int) -> None:
    match = {"method": "PUT", "type": TYPE}
    project.made.azure.own("faults", [{"match": match, "status": 400, "code": code, "times": times}])


def test_a_role_that_is_not_known_everywhere_yet_is_waited_for_and_nothing_else_is(project: Project) -> None:
    project.program(PROGRAM)
    refuse(project, "AuthorizationFailed", 1)
    assert "AuthorizationFailed" in project.up(code=1)
    refuse(project, "RoleDefinitionDoesNotExist", 9)
    assert "RoleDefinitionDoesNotExist" in project.up(code=1)
    assert project.made.azure.own("faults")[0]["times"] == 9 - 4, "asked once, and thrice more"
    refuse(project, "RoleDefinitionDoesNotExist", 2)
    told = project.up()
    assert "+ 1 created" in told
    assert "looks: Azure does not know its role everywhere yet" in told
    project.up("--refresh", "--expect-no-changes")
