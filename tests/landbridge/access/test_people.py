"""People's access on a real API: what a certificate is worth, for how long, and that removing ends it at once."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from cryptography import x509
from cryptography.x509.oid import NameOID

from landbridge.access import exec_credential, people, rbac
from landbridge.access.credential_cache import CredentialCache
from landbridge.cluster import bootstrap, freeze, kubeconfig_exec
from landbridge.cluster.kube import Kube, KubeError
from landbridge.cluster.session import Session
from landbridge.errors import LandbridgeError, UsageError
from landbridge.places import Place
from tests.landbridge.bed import ROOT, Bed

ADMIN = ("landbridge-admin", "landbridge:admins")


class Secrets:
    """The secrets manager, with the cluster's two credentials."""

    def __init__(self, bed: Bed) -> None:
        admin = bed.signed(*ADMIN)
        glass = bed.break_glass
        self.held = {
            bed.info.admin_secret: {"crt": admin.crt, "key": admin.key},
            bed.info.break_glass_secret: {"crt": glass.crt, "key": glass.key},
        }
        self.read: list[str] = []

    def __call__(self, service: str) -> "Secrets":
        assert service == "secretsmanager"
        return self

    def get_secret_value(self, **given: Any) -> dict[str, str]:
        self.read.append(given["SecretId"])
        return {"SecretString": json.dumps(self.held[given["SecretId"]])}


@pytest.fixture(scope="module")
def session(bed: Bed) -> Session:
    """The cluster after its birth."""
    made = Session(bed.world, Place("local", ROOT, "", "", ROOT), bed.info, bed.around)
    made.__dict__.update(of=Secrets(bed), remote=bed.remote)
    return made


@pytest.fixture(scope="module")
def born(session: Session) -> Session:
    told: list[str] = []
    bootstrap.until_ready(session, session.admin, 240, told.append)
    bootstrap.bind(session, session.admin, told.append)
    return session


def can(kube: Kube, *words: str) -> bool:
    return kube.run("auth", "can-i", *words).out.strip() == "yes"


def test_birth_uses_break_glass_once_and_never_again(session: Session, born: Session) -> None:
    secrets: Any = session.of
    assert secrets.read.count(session.info.break_glass_secret) == 1
    told: list[str] = []
    bootstrap.bind(session, session.admin, told.append)
    assert secrets.read.count(session.info.break_glass_secret) == 1
    assert told == []
    assert can(born.admin, "*", "*")
    spaces = {one["metadata"]["name"] for one in born.admin.get("namespaces")["items"]}
    assert {"team-platform", "team-research"} <= spaces


def test_a_cluster_that_never_answers_is_told_with_every_machines_boot(session: Session, bed: Bed) -> None:
    bed.boxes["main-api-1"].sh("echo '2026 boot: stopped at keys: digest' > /var/log/landbridge-boot.log")
    nowhere = Kube(session.admin.config.replace(bed.info.endpoint, "https://127.0.0.1:1"), bed.around)
    with pytest.raises(LandbridgeError, match=r"main-api-1: 2026 boot: stopped at keys: digest") as error:
        bootstrap.until_ready(session, nowhere, 0, lambda _line: None)
    assert str(error.value).count("\n  main-") == len(bed.info.machines)


def test_a_person_edits_in_their_teams_namespace_and_only_looks_elsewhere(born: Session, bed: Bed) -> None:
    credential, expires = people.grant(born.admin, bed.world.fleet, "bob", 8)
    hours = (expires - datetime.now(UTC)) / timedelta(hours=1)
    assert 7.5 < hours <= 8.1
    certificate = x509.load_pem_x509_certificate(credential.crt.encode())
    names = {attribute.oid: attribute.value for attribute in certificate.subject}
    assert names[NameOID.COMMON_NAME] == "bob"
    assert names[NameOID.ORGANIZATION_NAME] == "landbridge:team:research"
    bob = bed.kube(None, credential)
    assert can(bob, "create", "pods", "--namespace=team-research")
    assert can(bob, "list", "nodes")
    for forbidden in (
        ("get", "secrets", "--namespace=kube-system"),
        ("create", "pods", "--namespace=team-platform"),
        ("*", "*"),
    ):
        assert not can(bob, *forbidden)


def test_removing_ends_a_certificates_worth_at_once(born: Session, bed: Bed) -> None:
    credential, _ = people.grant(born.admin, bed.world.fleet, "bob", 8)
    bob = bed.kube(None, credential)
    bob.get("nodes")
    assert people.remove(born.admin, "bob") == 2
    with pytest.raises(KubeError) as refused:
        bob.get("nodes")
    assert refused.value.forbidden
    assert people.remove(born.admin, "bob") == 0
    (listed,) = [one for one in people.listed(born.admin, bed.world.fleet) if one.person == "bob"]
    assert (listed.bound, listed.expires, listed.team) == (False, None, "research")


def test_the_owner_team_administers_and_the_list_says_so(born: Session, bed: Bed) -> None:
    credential, expires = people.grant(born.admin, bed.world.fleet, "alice", 1)
    assert can(bed.kube(None, credential), "*", "*")
    (alice,) = [one for one in people.listed(born.admin, bed.world.fleet) if one.person == "alice"]
    assert alice.rights == ("cluster-admin in the whole cluster",)
    assert alice.expires == expires


def test_who_changes_teams_keeps_no_right_of_the_old_one(born: Session, bed: Bed) -> None:
    fleet = bed.world.fleet
    people.grant(born.admin, fleet, "alice", 1)
    moved = fleet.people["alice"].model_copy(update={"team": "research"})
    elsewhere = fleet.model_copy(update={"people": {**fleet.people, "alice": moved}})
    credential, _ = people.grant(born.admin, elsewhere, "alice", 1)
    alice = bed.kube(None, credential)
    assert not can(alice, "*", "*")
    assert can(alice, "create", "pods", "--namespace=team-research")


def test_somebody_bound_who_left_the_fleet_file_is_listed(born: Session, bed: Bed) -> None:
    fleet = bed.world.fleet
    born.admin.apply(rbac.person(fleet, "bob", datetime.now(UTC).isoformat()))
    without = fleet.model_copy(update={"people": {"alice": fleet.people["alice"]}})
    (bob,) = [one for one in people.listed(born.admin, without) if one.person == "bob"]
    assert bob.bound
    assert not bob.known


@pytest.mark.parametrize(
    ("person", "hours", "why"),
    [("carol", 8, "carol is nobody of the fleet"), ("bob", 0, "--hours 0"), ("bob", 999, "--hours 999")],
)
def test_what_can_not_be_granted_is_refused_before_the_api_is_asked(
    bed: Bed, person: str, hours: float, why: str
) -> None:
    with pytest.raises(UsageError, match=why):
        people.check(bed.world.fleet, person, hours)


def test_freezing_scale_down_is_a_config_map_that_goes_by_hand(born: Session) -> None:
    assert freeze.frozen(born.admin) is None
    freeze.freeze(born.admin, "a drill")
    told = freeze.frozen(born.admin)
    assert told
    assert told["why"] == "a drill"
    freeze.release(born.admin)
    assert freeze.frozen(born.admin) is None


@pytest.mark.parametrize(("person", "who"), [(None, "landbridge-admin"), ("bob", "bob")])
def test_kubectl_asks_for_a_credential_of_an_hour(
    born: Session, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, person: str | None, who: str
) -> None:
    """Real kubectl, inside the cluster's network, starts our command, which has what was signed a moment ago."""
    issued = exec_credential.issue(born, person)
    crt = x509.load_pem_x509_certificate(issued.crt.encode())
    (name,) = crt.subject.get_attributes_for_oid(NameOID.COMMON_NAME)
    assert name.value == who
    assert timedelta(minutes=50) < issued.expires - datetime.now(UTC) <= timedelta(hours=1)
    monkeypatch.setenv("LANDBRIDGE_HOME", str(tmp_path))
    meant = kubeconfig_exec.Meant(born.world.path, "main", local=False)
    words = kubeconfig_exec.call(meant, person)["args"]
    kept = CredentialCache(tmp_path, words[words.index("credential") + 1 :])
    kept.write(exec_credential.document(issued), issued.expires.timestamp(), None)
    config = kubeconfig_exec.config(born.info, meant, "example-main", person)
    assert "PRIVATE KEY" not in json.dumps(config)
    kube = Kube(json.dumps(config), born.around)
    told = json.loads(kube.done("auth", "whoami", "--output=json"))
    assert told["status"]["userInfo"]["username"] == who
    assert can(kube, "delete", "nodes") == (person is None)
