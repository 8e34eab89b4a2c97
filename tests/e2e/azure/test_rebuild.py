"""A region of Azure is lost: its cluster is rebuilt in another one of Azure from what was copied there.

What is decided and in which order is the same on every cloud, and tests/e2e/test_rebuild.py has it. Here is what is
each cloud's own: copies of snapshots in an account, keys out of a vault, names that are unique in the world, disks.
"""

import base64
import json
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from fleet import issuers, rebuilds
from fleet.buckets import resource_group, vault_name
from fleet.world import current
from landbridge.local.enter import ROOT
from tests.e2e.test_rebuild import backed_up, furnished, kubectl, payload
from tests.e2e.worlds import IN_AZURE
from tests.support.cloud import Cloud

pytestmark = [pytest.mark.cloud, pytest.mark.timeout(1800)]
HOME, SECOND = "southcentralus", "westus3"
MOVED = IN_AZURE.replace(
    f"region: {HOME}, kubernetes: 1.36.2, copies: {SECOND}", f"region: {SECOND}, kubernetes: 1.36.2"
)
# Nothing answers that is in the region's group: not to ARM, nor its account and vault.
OUTAGE = [{"outage": f"test-{HOME}"}]
FAULTS = """\
import json, sys, urllib.request
call = urllib.request.Request("http://127.0.0.1:5003/landbridge-api/faults", sys.argv[1].encode(), method="PUT")
urllib.request.urlopen(call).read()
"""
KEYS = """\
import sys
from azure.keyvault.secrets import SecretClient
from landbridge.clouds.azure.sign_in import credential
print(SecretClient(f"https://{sys.argv[1]}.vault.azure.net", credential()).get_secret(sys.argv[2]).value)
"""
MACHINES = "providers/Microsoft.Compute/virtualMachines"


@dataclass
class Story:
    """What was seen before the region was lost, and what the commands said."""

    cloud: Cloud
    folder: Path
    token: str
    refused: str
    refused_alive: str
    rebuilt: dict[str, Any]


def faults(cloud: Cloud, planned: list[dict[str, Any]]) -> None:
    cloud.inside(sys.executable, "-c", FAULTS, json.dumps(planned))


def end_machines(cloud: Cloud) -> None:
    """All of the home region, as their building burns."""
    fleet = current(cloud.fleet).fleet
    assert fleet.azure is not None
    group = f"/subscriptions/{fleet.azure.subscription_id}/resourceGroups/{resource_group(fleet, HOME)}"
    there = [one["id"] for one in cloud.azure("GET", f"{group}/{MACHINES}", version="2024-11-01")["value"]]
    assert len(there) == 5
    for machine in there:
        cloud.azure("DELETE", machine, version="2024-11-01")


@pytest.fixture(scope="module")
def story(in_azure: Cloud) -> Story:
    return lived(in_azure, in_azure.fleet.parent)


def lived(cloud: Cloud, folder: Path) -> Story:
    """All that happens, in order."""
    token = furnished(cloud, folder)
    made = backed_up(cloud)
    assert made["copy"]["region"] == SECOND

    cloud.fleet.write_text(MOVED)
    cloud.plan()
    alive = cloud.run("cluster", "rebuild", "main", "--local", "--yes", code=2).stderr
    end_machines(cloud)
    faults(cloud, OUTAGE)
    refused = cloud.run("up", "main", "--local", "--yes", code=1)
    begun = time.monotonic()
    rebuilt = cloud.report("cluster", "rebuild", "main", "--local", "--yes")
    # For whoever runs it with -s, and beside a failure.
    sys.stdout.write(f"rebuilt in {time.monotonic() - begun:.1f} s, by its own clock {rebuilt['seconds']} s\n")
    assert made["revision"] == rebuilt["revision"]
    return Story(cloud, folder, token, refused.stdout + refused.stderr, alive, rebuilt)


def test_an_up_does_not_move_it_nor_is_it_rebuilt_beside_itself(story: Story) -> None:
    told = " ".join(story.refused.split())
    assert f"its control plane stands in {HOME} and would have to move to {SECOND}" in told
    assert f"main in {HOME} still answers" in story.refused_alive


def test_everything_up_to_the_snapshot_is_there_with_its_secrets_and_scale_down_is_frozen(story: Story) -> None:
    names = kubectl(story.cloud, "get", "configmaps", "--output=name")
    assert "configmap/before" in names
    assert "configmap/after" not in names
    found = json.loads(kubectl(story.cloud, "get", "secret", "sealed", "--output=json"))
    assert found["data"] == {"word": "b3BlbnNlc2FtZQ=="}
    assert story.rebuilt["origin"]["snapshot"].startswith(f"copies/{HOME}/main/main/")
    assert story.rebuilt["frozen"]


def test_certificates_and_tokens_of_old_are_good(story: Story) -> None:
    """By a kubeconfig of old, less its address: it knows only the former authority."""
    config = json.loads((story.folder / "alice.kubeconfig").read_text().replace(f"{HOME}.test", f"{SECOND}.test"))
    new = kubectl(story.cloud, "create", "token", "robot").strip()
    certificate = config["users"][0]["user"]
    robot = "system:serviceaccount:default:robot"
    for user, name in ((certificate, "alice"), ({"token": story.token}, robot), ({"token": new}, robot)):
        config["users"][0]["user"] = user
        file = story.folder / "moved.kubeconfig"
        file.write_text(json.dumps(config))
        told = story.cloud.inside(
            str(ROOT / ".landbridge/bin/kubectl"), f"--kubeconfig={file}", "auth", "whoami", "--output=json"
        )
        assert json.loads(told)["status"]["userInfo"]["username"] == name
    fleet = current(story.cloud.fleet).fleet
    assert payload(new)["iss"] == issuers.url(fleet, "main")
    assert payload(story.token)["iss"] == story.rebuilt["origin"]["issuer"] != payload(new)["iss"]


def test_nothing_is_left_to_do_and_a_checkout_without_its_origin_is_refused(story: Story) -> None:
    (found,) = story.cloud.report("up", "main", "--local", "--yes", "--full", "--expect-no-changes")["stacks"]
    assert found["result"] == "unchanged"
    assert "seconds" not in story.cloud.report("cluster", "rebuild", "main", "--local", "--yes")
    path = rebuilds.rebuilds_path(story.cloud.fleet)
    text = path.read_text()
    path.unlink()
    try:
        done = story.cloud.run("preview", "main", "--local", code=1)
        assert "fleet.rebuilt.yaml does not say so" in " ".join((done.stdout + done.stderr).split())
    finally:
        path.write_text(text)


def test_the_state_holds_no_recovered_key_in_the_open(story: Story) -> None:
    text = (story.cloud.home / "local/test/state/.pulumi/stacks/landbridge/main.json").read_text()
    vault = vault_name(current(story.cloud.fleet).fleet, SECOND)
    secret = story.rebuilt["origin"]["secret"].replace("/", "--")
    kept = json.loads(story.cloud.inside(sys.executable, "-c", KEYS, vault, secret))
    pairs = [
        pair for numbered in (*kept["authorities"].values(), kept["service_accounts"]) for pair in numbered.values()
    ]
    secrets = [*kept["encryption"].values(), *(pair["key"].splitlines()[1] for pair in pairs)]
    assert len(secrets) == 7
    assert not [secret for secret in secrets if secret in text or base64.b64encode(secret.encode()).decode() in text]
    assert "PRIVATE KEY" not in text
    assert pairs[0]["crt"].splitlines()[1] in text, "what is public can be read"


def test_what_is_left_in_the_lost_region_is_destroyed_when_it_is_back_and_the_cluster_does_not_notice(
    story: Story,
) -> None:
    faults(story.cloud, [])
    gone = story.cloud.report("destroy", f"main-lost-{HOME}", "--local", "--yes", "--ignore-protect")
    assert [stack["result"] for stack in gone["stacks"]] == ["done"]
    assert len([note for note in gone["notes"] if "kept, with its data" in note]) == 6
    (found,) = story.cloud.report("preview", "main", "--local", "--refresh", "--expect-no-changes")["stacks"]
    assert found["result"] == "unchanged"
    assert "configmap/before" in kubectl(story.cloud, "get", "configmaps", "--output=name")
    story.cloud.run("cluster", "status", "main", "--local")
