"""The bundle of a site's NFS server: a golden file, and what must hold in every fleet."""

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from components.control_plane.units import SCRIPTS
from components.storage.aws import nfs_roles as aws_nfs_roles
from components.storage.site import nfs_server as site_nfs_server
from components.storage.site import nfs_units as site_nfs_units
from components.storage.site.nfs_spec import FIRST_PROJECT, nfs_spec
from fleet.model import Fleet
from fleet.world import World, current
from tests.components.storage.bed import HERE, ROOT
from tests.support import golden

ARN = "arn:aws:rolesanywhere:us-west-2:123456789012:trust-anchor/00000000-0000-0000-0000-000000000001"
IDENTITY = site_nfs_server.Identity(
    ARN, ARN.replace("trust-anchor", "profile"), "arn:aws:iam::123456789012:role/example-lab-nfs"
)
KEY = "arn:aws:kms:us-west-2:123456789012:key/00000000-0000-0000-0000-000000000002"


@pytest.fixture(scope="module")
def world() -> World:
    return current(ROOT / "fleet.yaml")


def changed(world: World, **more: Any) -> Fleet:
    return world.fleet.model_copy(update=more)


def exports(fleet: Fleet, world: World, site: str = "lab") -> dict[str, str]:
    text = site_nfs_server.bundle(fleet, world.plan, site)["/etc/exports.d/landbridge.exports"]
    return {path: rest for path, _, rest in (line.partition(" ") for line in text.splitlines())}


@pytest.mark.golden
def test_the_bundle_of_the_example_s_site(world: World) -> None:
    made = site_nfs_server.bundle(world.fleet, world.plan, "lab", IDENTITY)
    shown = {path: text.splitlines() for path, text in made.items() if not path.endswith(".py")}
    golden.compare(HERE / "golden/nfs.lab.yaml", shown)


@pytest.mark.golden
def test_the_role_of_the_example_s_site(world: World) -> None:
    spec = nfs_spec(world.fleet, world.plan, "lab")
    value = {"permissions": aws_nfs_roles.permissions(world.fleet, spec, KEY), "trust": aws_nfs_roles.trust(spec, ARN)}
    golden.compare(HERE / "golden/nfs.role.yaml", value)


def test_shares_are_open_to_prefixes_of_the_plan_alone_and_never_to_a_client_s_root(world: World) -> None:
    ours = {world.plan.site("lab").lan, *(world.plan.region(region).network for region in world.fleet.regions)}
    for path, clients in exports(world.fleet, world).items():
        assert {client.partition("(")[0] for client in clients.split()} == ours
        for client in clients.split():
            options = client.partition("(")[2].rstrip(")").split(",")
            assert {"root_squash", "sec=sys", "sync"} <= set(options)
            assert ("rw" in options) == (
                path in {"/srv/landbridge" + s.path for s in world.fleet.storage.shares.values()}
            )


def test_who_uses_the_shares_may_mount_and_nobody_else(world: World) -> None:
    far = {name: pool for name, pool in world.fleet.pools.items() if name != "eu-gpu"}
    network = world.plan.region("eu-west-1").network
    assert network not in exports(changed(world, pools=far), world)["/srv/landbridge/data"]
    clouds = {name: pool for name, pool in world.fleet.pools.items() if pool.region}
    (alone,) = set(exports(changed(world, pools=clouds), world)["/srv/landbridge/data"].split())
    assert alone.startswith(world.plan.site("lab").lan), "no cluster has its shares here"


def test_an_export_keeps_its_number_when_others_come_and_go(world: World) -> None:
    shares = {**world.fleet.storage.shares}
    data = exports(world.fleet, world)["/srv/landbridge/data"]
    del shares["homes"]
    fewer = world.fleet.storage.model_copy(update={"shares": shares})
    assert exports(changed(world, storage=fewer), world)["/srv/landbridge/data"] == data
    assert data != exports(changed(world, fleet="other"), world)["/srv/landbridge/data"]
    numbers = [text.partition("fsid=")[2].partition(",")[0] for text in exports(world.fleet, world).values()]
    assert len(set(numbers)) == len(numbers)


def test_every_home_is_counted_as_its_person_s_and_no_project_is_another_s(world: World) -> None:
    each = world.fleet.storage.model_copy(update={"home_quota_gib": 500})
    spec = nfs_spec(changed(world, storage=each), world.plan, "lab")
    assert {(home.path, home.uid, home.gid, home.project, home.quota_gib) for home in spec.homes} == {
        ("/homes/alice", 3001, 2001, 3001, 500),
        ("/homes/bob", 3002, 2000, 3002, 500),
    }
    shares = {share.name: share.project for share in spec.shares}
    assert shares["homes"] is None, "a file counts in one project"
    assert all(number is None or number >= FIRST_PROJECT for number in shares.values())
    homes = world.fleet.storage.shares["homes"].model_copy(update={"quota_gib": 1000})
    whole = world.fleet.storage.model_copy(update={"shares": {**world.fleet.storage.shares, "homes": homes}})
    spec = nfs_spec(changed(world, storage=whole), world.plan, "lab")
    assert {home.project for home in spec.homes} == {None}
    assert next(share for share in spec.shares if share.name == "homes").quota_gib == 1000


def test_without_backups_nothing_leaves(world: World) -> None:
    fleet = changed(world, storage=world.fleet.storage.model_copy(update={"backups": False}))
    made = site_nfs_server.bundle(fleet, world.plan, "lab")
    assert not [path for path in made if path.endswith("nfs-backup.timer")]
    assert json.loads(made["/etc/landbridge/nfs.json"])["backup"] is None
    with pytest.raises(ValueError, match="site lab has no backups"):
        aws_nfs_roles.permissions(fleet, nfs_spec(fleet, world.plan, "lab"), KEY)


def test_a_site_without_a_server_has_no_bundle(world: World) -> None:
    lab = world.fleet.sites["lab"].model_copy(update={"nfs": None})
    with pytest.raises(ValueError, match=r"sites\.lab\.nfs names none"):
        site_nfs_server.bundle(changed(world, sites={"lab": lab}), world.plan, "lab")


def test_every_unit_of_a_script_finds_it_and_timers_start_what_they_name(world: World) -> None:
    made = site_nfs_server.bundle(world.fleet, world.plan, "lab")
    units = {path.rpartition("/")[2]: text for path, text in made.items() if path.startswith("/etc/systemd")}
    for text in units.values():
        for line in text.splitlines():
            if line.startswith("ExecStart="):
                assert line.split()[1] in made
    timers = [name for name in units if name.endswith(".timer")]
    assert len(timers) == 3
    assert all(name.replace(".timer", ".service") in units for name in timers)
    wanted = {line.partition("=")[2] for line in units[site_nfs_units.TARGET].splitlines() if line.startswith("Wants=")}
    assert wanted == {*timers, "nfs-server.service", "srv-landbridge.mount"}
    own = {path.rpartition("/")[2] for path in made if path.startswith(SCRIPTS)}
    assert own == {
        "api_aws.py",
        "health.py",
        "machine.py",
        *(path.name for path in site_nfs_server.ON_MACHINE.glob("*.py")),
    }


@pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="systemd-analyze is not installed")
def test_systemd_agrees_with_every_unit(world: World, tmp_path: Path) -> None:
    for path, text in site_nfs_server.bundle(world.fleet, world.plan, "lab").items():
        if path.startswith("/etc/systemd/system/") and path.count("/") == 4:
            (tmp_path / Path(path).name).write_text(text)
    command = ["systemd-analyze", "verify", "--man=no", *map(str, sorted(tmp_path.iterdir()))]
    told = subprocess.run(command, capture_output=True, text=True, check=False).stderr
    wrong = [line for line in told.splitlines() if str(tmp_path) in line and "is not executable" not in line]
    assert not wrong, told
