"""Who is told of which alarm, by the real Alertmanager with the add-on's configuration."""

import contextlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from components.addons.monitoring import alertmanager
from components.addons.spec import AddOnsSpec
from fleet.monitoring_model import Monitoring, Receiver
from tests.support.apiserver import HERE, free_port
from tests.support.mail import mails
from tests.support.prometheus import Answering, Json, answering, post, ready, running
from tests.support.waiting import eventually

RECEIVERS = {
    "on-call": Receiver(kind="pagerduty", severities=["page"]),
    "channel": Receiver(kind="slack", owners=["operators"]),
    "research": Receiver(kind="webhook", owners=["research"]),
    # Whatever a name may be, it is a receiver's own.
    "nobody": Receiver(kind="webhook", owners=["platform"]),
    "witness": Receiver(kind="webhook", severities=["page"], owners=["operators"], watchdog=True),
}
# Names of alarms → labels. The place that is cut off and a node there are told of once.
ALARMS: dict[str, dict[str, str]] = {
    "Watchdog": {"severity": "none", "owner": "operators"},
    "DiskFull": {"severity": "ticket", "owner": "operators"},
    "ApiDown": {"severity": "page", "owner": "operators"},
    "PodCrashes": {"severity": "ticket", "owner": "team", "namespace": "team-research"},
    "OthersCrash": {"severity": "ticket", "owner": "team", "namespace": "team-platform"},
    "PlaceCutOff": {"severity": "page", "owner": "operators", "place": "lab"},
    "NodeDown": {"severity": "page", "owner": "operators", "place": "lab"},
    "LinkDown": {"severity": "page", "owner": "operators", "place": "lab", "link": "lab/us-west-2"},
}
KEY = "0123456789abcdef0123456789abcdef"


class Standing(NamedTuple):
    people: Answering
    port: int

    def heard(self, path: str) -> list[Json]:
        return [body for at, body in self.people.heard if at == path]

    def alarms(self, path: str) -> set[str]:
        """Names of those that a webhook was told of."""
        return {alert["labels"]["alertname"] for body in self.heard(path) for alert in body["alerts"]}


@contextlib.contextmanager
def managing(folder: Path, config: Json, **environment: str) -> Iterator[int]:
    """Its port. Receivers' secrets lie in the folder."""
    file, port = folder / "config.yaml", free_port()
    file.write_text(json.dumps(config).replace(alertmanager.SECRETS, str(folder)))
    words = [
        f"--config.file={file}",
        f"--storage.path={folder}/data",
        f"--web.listen-address={HERE}:{port}",
        "--cluster.listen-address=",
    ]
    with running("alertmanager", folder / "log", *words, **environment):
        ready(port)
        yield port


@pytest.fixture(scope="module")
def standing(tmp_path_factory: pytest.TempPathFactory, example: AddOnsSpec) -> Iterator[Standing]:
    folder = tmp_path_factory.mktemp("alertmanager")
    fleet = example.fleet.model_copy(update={"monitoring": Monitoring(receivers=RECEIVERS)})
    config = alertmanager.config(example._replace(fleet=fleet))
    config["route"]["group_wait"] = "1s"
    with answering() as people:
        url = f"http://{HERE}:{people.port}"
        for name in ("channel", "research", "witness"):
            (folder / name).write_text(f"{url}/{name}\n")
        (folder / "on-call").write_text(KEY)
        config["global"] = {"pagerduty_url": f"{url}/on-call"}
        with managing(folder, config) as port:
            told = [
                {"labels": {"alertname": name, "cluster": "main", **labels}, "annotations": {"summary": f"{name}!"}}
                for name, labels in ALARMS.items()
            ]
            post(port, "/api/v2/alerts", told)
            yield Standing(people, port)


def test_a_team_hears_of_its_own_and_operators_of_theirs(standing: Standing) -> None:
    eventually(lambda: standing.alarms("/research"), 30)
    eventually(lambda: {"ApiDown", "PlaceCutOff"} <= standing.alarms("/witness"), 30)
    assert standing.alarms("/research") == {"PodCrashes"}


def test_only_who_asks_for_it_hears_that_alarms_work(standing: Standing) -> None:
    eventually(lambda: "Watchdog" in standing.alarms("/witness"), 30)
    others = [body for path, body in standing.people.heard if path != "/witness"]
    assert "Watchdog" not in json.dumps(others)


def test_of_a_place_that_is_cut_off_one_thing_is_told(standing: Standing) -> None:
    eventually(lambda: "PlaceCutOff" in standing.alarms("/witness"), 30)
    said = json.dumps(standing.people.heard)
    assert "NodeDown" not in said
    assert "LinkDown" not in said


def test_the_other_services_are_told_in_their_own_forms(standing: Standing) -> None:
    eventually(lambda: len(standing.heard("/on-call")) >= 2 and standing.heard("/channel"), 30)
    paged = standing.heard("/on-call")
    assert {one["routing_key"] for one in paged} == {KEY}
    assert "DiskFull" not in json.dumps(paged), "nobody is woken by a ticket"
    said = json.dumps(standing.heard("/channel"))
    assert "DiskFull!" in said
    assert "PodCrashes" not in said


@pytest.mark.parametrize("password", [True, False])
def test_mail_is_taken_by_servers_with_passwords_and_without(
    tmp_path: Path, example: AddOnsSpec, *, password: bool
) -> None:
    sender, to = "alarms@example.com", "lab@example.com"
    with mails(tmp_path, (sender, KEY) if password else None) as server:
        lab = Receiver(kind="email", sender=sender, to=to, server=f"{HERE}:{server.port}", password=password)
        fleet = example.fleet.model_copy(update={"monitoring": Monitoring(receivers={"lab": lab})})
        config = alertmanager.config(example._replace(fleet=fleet))
        config["route"]["group_wait"] = "0s"
        (tmp_path / "lab").write_text(f"{KEY}\n" if password else "")
        with managing(tmp_path, config, SSL_CERT_FILE=f"{tmp_path}/authority.pem") as port:
            post(port, "/api/v2/alerts", [{"labels": {"alertname": "DiskFull", "severity": "ticket"}}])
            ((*envelope, letter),) = eventually(lambda: server.taken, 30)
    assert envelope == [sender, to]
    assert "DiskFull" in letter["Subject"]


def test_no_secret_is_in_the_configuration(example: AddOnsSpec) -> None:
    told = [one for one in alertmanager.config(example)["receivers"] if one["name"] != alertmanager.NOBODY]
    assert len(told) == 4
    for receiver in told:
        ((_, (how,)),) = [(kind, found) for kind, found in receiver.items() if kind != "name"]
        assert f"{alertmanager.SECRETS}/{receiver['name']}" in how.values()


def test_its_configuration_replaces_it(example: AddOnsSpec) -> None:
    def noted(of: AddOnsSpec) -> str:
        (made,) = [one for one in alertmanager.manifests(of) if one["kind"] == "StatefulSet"]
        return json.dumps(made["spec"]["template"]["metadata"])

    fleet = example.fleet.model_copy(update={"monitoring": Monitoring(receivers=RECEIVERS)})
    assert noted(example) != noted(example._replace(fleet=fleet))


def test_without_receivers_there_is_none(example: AddOnsSpec) -> None:
    fleet = example.fleet.model_copy(update={"monitoring": Monitoring()})
    assert not alertmanager.wanted(example._replace(fleet=fleet))
