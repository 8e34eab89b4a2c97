"""Credentials by Pulumi ESC: of a whole command, by `pulumi env run`, and in stacks' settings. Engine and ESC's client
are the real ones, and speak to a small service in the form of Pulumi's.
"""

import json
import os
from collections.abc import Iterator
from typing import Any

import pytest

from landbridge import places
from landbridge.errors import UsageError
from tests.support import pulumi_service
from tests.support.pulumi_service import TOKEN, Service

from . import state_bed
from .state_bed import LANDBRIDGE, Team, make

STATE = "{backend: https://pulumi.example.com, secrets: default, organization: example}"
NAME, VARIABLE = "example/fleet/credentials", "AWS_SESSION_TOKEN"
PROGRAM = """\
import pulumi
from fleet.world import current
from stacks import engine_calls
engine_calls.begin()
pulumi.export("domain", current().fleet.domain)
"""


@pytest.fixture
def service() -> Iterator[Service]:
    with pulumi_service.served() as one:
        yield one


def up(team: Team, service: Service, token: str) -> dict[str, Any]:
    """What a run tells of its only stack."""
    service.environment[VARIABLE] = token
    words = ["env", "run", NAME, "--", LANDBRIDGE, "up", "--yes", "--json"]
    own = {"PULUMI_BACKEND_URL": service.url, "PULUMI_ACCESS_TOKEN": TOKEN, "PULUMI_CONFIG_PASSPHRASE": "ours"}
    done = team.run("pulumi", *words, **own)
    assert done.returncode == 0, done.stdout + done.stderr
    (stack,) = json.loads(done.stdout)["stacks"]
    return dict(stack)


def test_a_run_with_new_credentials_leaves_out_what_nothing_has_changed_for(
    service: Service, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(state_bed, "PROGRAM", PROGRAM)
    team = make(tmp_path_factory.mktemp("esc"))
    team.program()
    assert up(team, service, "one-of-an-hour")["outputs"] == {"domain": "small.example.com"}
    first, second = up(team, service, "two-of-an-hour"), up(team, service, "three-of-an-hour")
    assert service.opened == [NAME] * 3
    assert second["engine"] is False, (first, second)


def test_our_own_calls_have_what_settings_name(
    service: Service, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    team = make(tmp_path_factory.mktemp("esc"), STATE)
    (team.folder / "Pulumi.us-west-2.yaml").write_text("environment: [fleet/credentials]\n")
    service.environment[VARIABLE] = "0123456789"
    monkeypatch.setattr(places, "written_whole", lambda _: service.url)
    for name, value in {"PULUMI_HOME": str(team.home), "PULUMI_ACCESS_TOKEN": TOKEN, VARIABLE: "mine"}.items():
        monkeypatch.setenv(name, value)
    place = team.place
    assert (place.environments.named, service.opened) == ({"us-west-2"}, [NAME])
    assert os.environ[VARIABLE] == "0123456789"
    assert VARIABLE not in place.environment, "each engine opens its own stack's"

    monkeypatch.setenv("PULUMI_ACCESS_TOKEN", "another")
    with pytest.raises(UsageError, match=rf"^environment {NAME} of Pulumi ESC, .* can't be opened: .*`pulumi login`"):
        assert team.place
