"""A team's state in Pulumi Cloud: whose stacks they are, its own encryption, and credentials by Pulumi ESC.

The engine is the real one, and speaks to a small service in the form of Pulumi's.
"""

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from landbridge.places import Place
from landbridge.up import orphans
from tests.support import pulumi_service
from tests.support.pulumi_service import Service

from .state_bed import Team, engine, make, resource, up

STATE = "{backend: https://pulumi.example.com, secrets: default, organization: example}"


@pytest.fixture
def service() -> Iterator[Service]:
    with pulumi_service.served() as one:
        yield one


@pytest.fixture
def team(tmp_path: Path) -> Team:
    made = make(tmp_path, STATE)
    made.program()
    return made


@pytest.fixture
def place(team: Team, service: Service) -> Place:
    """The fleet's, but for where the service really listens."""
    given = team.place
    assert given.environment["PULUMI_BACKEND_URL"] == given.backend == "https://pulumi.example.com"
    own = {
        "PULUMI_BACKEND_URL": service.url,
        "PULUMI_ACCESS_TOKEN": pulumi_service.TOKEN,
        "PULUMI_HOME": str(team.home / "pulumi"),
    }
    return replace(given, backend=service.url, environment={**given.environment, **own})


def test_stacks_are_the_organization_s_and_read_from_each_other(team: Team, place: Place, service: Service) -> None:
    one, two = engine(place, "one"), engine(place, "two")
    one.found()
    settings = team.folder / "Pulumi.one.yaml"
    settings.write_text((settings.read_text() if settings.exists() else "") + "environment: [fleet/credentials]\n")
    service.environment["EXAMPLE_KEY"] = "0123456789"
    up(one)
    assert resource(one, "Stack")["outputs"]["credentials"] is True, "what ESC has is in the program's environment"
    assert [json.loads(text) for text in service.opened] == [{"imports": ["fleet/credentials"]}]
    up(two)
    assert [*service.stacks] == ["example/landbridge/one", "example/landbridge/two"]
    assert resource(two, "Stack")["outputs"] == {"heard": "hello"}
    assert resource(two, "StackReference")["id"] == "example/landbridge/one"

    assert service.encrypted
    kept = json.dumps(service.stacks)
    assert "hush-hush" not in kept
    assert "0123456789" not in kept + one.log.read_text()

    two.rename("three")
    service.stacks["alice/landbridge/four"] = service.stacks["example/landbridge/one"]
    assert sorted(orphans.every(place, one.command)) == ["one", "three"], "alice's own is none of the fleet's"
    assert engine(place, "five").state() is None
