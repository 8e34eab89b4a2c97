"""What `landbridge doctor` finds where no cloud is asked, and how its looks are taken."""

import json
import shutil
import time
from collections import namedtuple
from collections.abc import Iterator
from pathlib import Path

import pytest
from botocore.exceptions import EndpointConnectionError
from click.testing import CliRunner, Result

import installation
from landbridge import places
from landbridge.cluster.kube import Kube
from landbridge.commands import landbridge
from landbridge.doctor import checks, clusters, files, local_cloud, set_up
from landbridge.doctor.finding import Finding
from landbridge.doctor.subject import Patient
from landbridge.local import enter
from landbridge.pki import certificates
from local.saved_worlds import MARK
from tests.landbridge.pki import test_certificates
from tests.support.cloud import TWO_REGIONS

GIB = 1024**3
Usage = namedtuple("Usage", "total used free")


@pytest.fixture
def fleet(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for module in (enter, places):
        monkeypatch.setattr(module, "HOME", tmp_path / "home")
    monkeypatch.setattr(enter, "LOCAL_HOME", tmp_path / "home/local")
    path = tmp_path / "fleet.yaml"
    path.write_text(TWO_REGIONS)
    asked("plan", path, "--write")
    return path


def asked(command: str, path: Path, *options: str) -> Result:
    return CliRunner().invoke(landbridge, [command, "--fleet", str(path), *options], standalone_mode=False)


def found(path: Path, *options: str) -> list[Finding]:
    result = asked("doctor", path, "--json", *options)
    assert result.exception is None, result.exception
    told = json.loads(result.stdout)
    assert (result.return_value, told["well"]) == ((1, False) if told["findings"] else (0, True))
    return [Finding(**one) for one in told["findings"]]


def test_a_mistake_in_the_fleet_file_has_its_line(fleet: Path) -> None:
    fleet.write_text(TWO_REGIONS.replace("zones: [a]}", "zones: [a], colour: red}"))
    first = found(fleet, "--local")[0]
    assert (first.area, first.severity) == ("fleet file", "broken")
    assert first.what.startswith("fleet.yaml:8: ")
    assert "colour" in first.what


@pytest.mark.parametrize(
    ("spoil", "what"),
    [
        (lambda path: path.with_name("fleet.lock.yaml").unlink(), "the fleet has no ledger yet"),
        (lambda path: path.write_text(TWO_REGIONS.replace("  lab:", "  attic:")), "not in the ledger"),
    ],
    ids=["missing", "stale"],
)
def test_a_ledger_that_does_not_fit_is_written_by_what_it_says(fleet: Path, spoil: object, what: str) -> None:
    assert callable(spoil)
    spoil(fleet)
    broken = [one for one in found(fleet, "--local") if one.severity == "broken"]
    assert broken
    assert all(one.area == "fleet file" for one in broken)
    assert any(what in one.what for one in broken)
    assert {one.remedy for one in broken} == {"Run `landbridge plan --write` and commit the ledger"}
    asked("plan", fleet, "--write")
    assert not [one for one in found(fleet, "--local") if one.severity == "broken"]


def test_real_clouds_need_a_place_for_state(fleet: Path) -> None:
    (one,) = [one for one in found(fleet) if one.severity == "broken"]
    assert (
        one.what == "fleet.yaml: `state` is missing: real clouds need a place for Pulumi's state that the team shares, "
        "and a key for the secrets in it"
    )
    assert one.remedy.startswith("Add `state: {backend: s3://BUCKET")


def test_what_is_taken_and_should_be_known_comes_last(fleet: Path) -> None:
    fleet.write_text(TWO_REGIONS + "clusters:\n  main: {region: us-west-2, kubernetes: 1.36.2}\n")
    asked("plan", fleet, "--write")
    told = found(fleet, "--local")
    assert [one.severity for one in told] == ["soon", "soon"]
    assert "does not outlive that zone" in told[0].what
    assert told[1] == Finding("local cloud", "soon", "there is none yet", f"`landbridge up --local --fleet {fleet}`")


@pytest.mark.parametrize(("free_gib", "severity"), [(0.1, "broken"), (1.0, "soon"), (3.0, None)])
def test_room_for_state_and_logs(monkeypatch: pytest.MonkeyPatch, free_gib: float, severity: str | None) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda _: Usage(9 * GIB, 0, int(free_gib * GIB)))
    assert [one.severity for one in set_up._folder()] == ([severity] if severity else [])


def test_programs_that_are_missing_are_named_with_their_packages(fleet: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(fleet.parent))
    monkeypatch.setattr(installation, "BIN", fleet.parent / "bin")
    told = {one.what: one.remedy for one in set_up._programs(Patient(fleet, home=fleet.parent))}
    assert told["Pulumi is missing: it is neither in .landbridge/bin nor on the PATH"] == "Run `make setup`."
    assert told["kubectl is missing: it is neither in .landbridge/bin nor on the PATH"] == "Run `make setup`."
    (programs,) = [what for what in told if "unshare" in what]
    assert told[programs] == "Install curl iproute2 openssl util-linux"


def test_packages_other_than_the_pinned_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    here = {"one": "1.0", "two": "2.1", "both": "3.6"}

    def version(name: str) -> str:
        if name not in here:
            raise set_up.metadata.PackageNotFoundError(name)
        return here[name]

    monkeypatch.setattr(set_up.metadata, "version", version)
    lock = "one==1.0 \\\n    --hash=x\ntwo==2.0 \\\nfar==1 ; sys_platform == 'win32' \\\n"
    lock += "both==3.6 ; python_full_version < '3.12' \\\nboth==3.7 ; python_full_version >= '3.12' \\\nlost==4 \\\n"
    assert set_up.differing(lock) == ["two is 2.1, pinned is 2.0", "lost is missing"]


def test_a_world_of_another_program_says_how_to_drop_it(fleet: Path) -> None:
    home = fleet.parent / "home/local"
    home.mkdir(parents=True)
    (home / MARK).write_text(json.dumps({"form": 0, "generation": "x"}))
    (one,) = local_cloud.look(Patient(fleet, home=home))
    assert (one.severity, one.remedy) == ("broken", "`landbridge local forget` drops it, with all that stands in it")
    assert "has form 0" in one.what


def test_a_local_cloud_that_was_stopped_comes_back_by_what_it_says(fleet: Path) -> None:
    home = fleet.parent / "home/local"
    home.mkdir(parents=True)
    (home / MARK).write_text(json.dumps({"form": local_cloud.standing.FORM, "generation": "x"}))
    (home / "cloud.log").write_text("… local cloud ready, life 1\n… local cloud ended: it was told to\n")
    (one,) = local_cloud.look(Patient(fleet, home=home))
    assert one.what == "it is not up: it ended because it was told to"
    assert one.remedy.startswith("`landbridge local start`")


def test_a_look_that_hangs_holds_nobody_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(enter, "HOME", tmp_path)

    def hangs() -> Iterator[Finding]:
        time.sleep(5)
        yield Finding("late", "broken", "", "")

    def fails() -> Iterator[Finding]:
        yield Finding("far", "broken", "something", "do")
        raise EndpointConnectionError(endpoint_url="https://ec2.us-west-2.example.com")

    def mistakes() -> Iterator[Finding]:
        raise ZeroDivisionError("no")

    known = Finding("known", "soon", "this", "that")
    asked_for = [
        checks.Look(name, ask, f"`see {name}`") for name, ask in (("late", hangs), ("far", fails), ("ours", mistakes))
    ]
    told = checks.run(asked_for, [known], 0.5)
    assert told.seconds < 2
    assert told.areas == ["late", "far", "ours"]
    assert [(one.area, one.severity) for one in told.findings] == [
        ("far", "broken"),
        ("far", "ailing"),
        ("ours", "ailing"),
        ("late", "ailing"),
        ("known", "soon"),
    ]
    assert "us-west-2.example.com" in told.findings[1].what
    assert told.findings[3].what == "no answer within 0 s"
    assert told.findings[1].remedy == "`see far` says more"
    assert told.findings[3].remedy == "`see late` waits longer, and says more"
    assert "ZeroDivisionError" in (tmp_path / "crash.log").read_text()


@pytest.mark.parametrize(
    ("first", "tries"), [("deadline exceeded", 2), ("Forbidden", 1)], ids=["another is asked", "a refusal is one"]
)
def test_who_looks_gives_an_api_server_that_hangs_up_soon(tmp_path: Path, first: str, tries: int) -> None:
    """By a program in kubectl's place that fails the first time."""
    count = tmp_path / "count"
    script = f'echo x >> {count}; [ $(wc -l < {count}) -gt 1 ] && echo ok || {{ echo "{first}" >&2; exit 1; }}'
    said = Kube("", lambda _: ["sh", "-c", script], hasty=True).run("get", "nodes")
    assert (said.code, said.out.strip()) == ((0, "ok") if tries > 1 else (1, ""))
    assert len(count.read_text().splitlines()) == tries


def test_a_fleet_that_can_not_be_read_is_looked_at_as_far_as_it_goes(fleet: Path) -> None:
    fleet.write_text("fleet: [\n")
    world, begun = files.read(fleet)
    assert world is None
    assert begun
    assert [one.area for one in checks.of(Patient(fleet))] == ["set-up", "fleet file", "local cloud"]


@pytest.mark.parametrize(
    ("days", "told"),
    [(0, None), (276, ("soon", "ends on")), (366, ("broken", "expired on"))],
    ids=["new", "due", "over"],
)
def test_certificates_near_their_end(days: float, told: tuple[str, str] | None) -> None:
    rows = certificates.rows(
        test_certificates.state(
            test_certificates.signed("api", test_certificates.KUBERNETES, 365), test_certificates.KUBERNETES[0]
        )
    )
    made = list(clusters.certified("main", rows, test_certificates.now(days)))
    if told is None:
        assert made == []
        return
    (one,) = made
    assert (one.severity, one.what.startswith(f"certificate api {told[1]} ")) == (told[0], True)
    assert "`landbridge up --refresh main`" in one.remedy


def test_of_all_that_readyz_says_what_failed_is_told() -> None:
    said = "Error from server: [+]ping ok\n[-]etcd failed: reason withheld\n[-]etcd failed: reason withheld\n[+]log ok"
    assert clusters.refusal(said) == "not ready: etcd failed"
    assert clusters.refusal("dial tcp: connection\n refused") == "dial tcp: connection refused"
