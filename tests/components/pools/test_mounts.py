"""Shares on machines of kind ssh, in a region and at a site: a golden file, and what holds in every place."""

import configparser
import ipaddress
import json
import shutil
import subprocess
from pathlib import Path, PurePosixPath
from typing import Any

import pytest

from components.addons import shares
from components.addons.spec import addons_spec
from components.boot import people
from components.control_plane.units import TARGET, UNITS
from components.network.aws.spec import network_spec
from components.pools import firewall, mounts
from components.pools.bundle import bundle
from components.pools.spec import PoolSpec, pool_spec
from components.storage.mounts import FileSystem, OnNfs
from components.storage.mounts import files_of as files_in_azure
from components.storage.site.nfs_spec import nfs_spec
from fleet.model import Fleet, Person
from fleet.world import World, current
from local.machines.units import parse
from tests.components.addons import bed
from tests.support import golden

HERE = Path(__file__).parent
ROOT = HERE.parents[2]
KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIAABAgMEBQYHCAkKCwwNDg8QERITFBUWFxgZGhscHR4f"
SERVERS, POOLS = ("nfs", "efs"), ("shell-home", "shell-away", "shell-site")
CASES = [(server, pool) for server in SERVERS for pool in POOLS]


@pytest.fixture(scope="module")
def worlds() -> dict[str, World]:
    """The example with pools to log in to in its cluster's home, in another region and at its site, whose server it has
    or has not.
    """
    known = current(ROOT / "fleet.yaml")
    fleet, shell = known.fleet, known.fleet.pools["cpu"].model_copy(update={"kind": "ssh", "max": 2})
    gpu, site = fleet.pools["site-gpu"], fleet.sites["lab"]
    pools = {
        **fleet.pools,
        "site-gpu": gpu.model_copy(update={"hosts": gpu.hosts[:-1]}),
        "shell-home": shell,
        "shell-away": shell.model_copy(update={"region": "eu-west-1"}),
        "shell-site": gpu.model_copy(update={"kind": "ssh", "hosts": gpu.hosts[-1:]}),
    }
    more = {
        "bob": Person(uid=3002, team="research", keys=[f"{KEY} bob@laptop"]),
        "eve-lynn": Person(uid=3003, team="research", keys=[f"{KEY[:-1]}g"]),
    }
    made = fleet.model_copy(update={"pools": pools, "people": {**fleet.people, **more}})
    bare = made.model_copy(update={"sites": {"lab": site.model_copy(update={"nfs": None})}})
    return {name: World(one, known.plan, known.path) for name, one in zip(SERVERS, (made, bare), strict=True)}


def files_of(world: World) -> FileSystem:
    return bed.file_system(world, "us-west-2")


def spec(worlds: dict[str, World], server: str, pool: str) -> PoolSpec:
    world = worlds[server]
    return pool_spec(world.fleet, world.plan, pool, files_of(world))


def units(of: PoolSpec) -> dict[str, str]:
    return {PurePosixPath(path).name: text for path, text in bundle(of, "").files.items() if path.startswith(UNITS)}


def section(text: str, name: str) -> dict[str, str]:
    parser = configparser.RawConfigParser(strict=False)
    parser.optionxform = str  # type: ignore[assignment,method-assign]
    parser.read_string(text)
    return dict(parser[name])


def mounted(of: PoolSpec) -> dict[str, dict[str, str]]:
    """[Mount] by path."""
    found = [section(text, "Mount") for name, text in units(of).items() if name.endswith(".mount")]
    return {one["Where"]: one for one in found}


@pytest.mark.golden
@pytest.mark.parametrize("server", SERVERS)
def test_what_machines_to_log_in_to_mount(worlds: dict[str, World], server: str) -> None:
    """The rest of such a bundle is shell.yaml's."""
    shown = {}
    for pool in POOLS:
        made = bundle(spec(worlds, server, pool), "authority").files
        named = {path: text.splitlines() for path, text in made.items() if "people" in path or "mount" in path}
        shown[pool] = {**named, f"{UNITS}/{TARGET}": made[f"{UNITS}/{TARGET}"].splitlines()}
    golden.compare(HERE / f"golden/mounts.{server}.yaml", shown)


@pytest.mark.parametrize(("server", "pool"), CASES)
def test_they_mount_what_the_cluster_s_pods_mount(worlds: dict[str, World], server: str, pool: str) -> None:
    """Out of the manifests themselves, share by share and home by home."""
    world, found = worlds[server], mounted(spec(worlds, server, pool))
    cluster = addons_spec(world.fleet, world.plan, "main", {"us-west-2": files_of(world)})
    volumes = {
        one["metadata"]["name"].removeprefix("main.team-research."): one["spec"]
        for one in shares.manifests(cluster)
        if one["kind"] == "PersistentVolume"
    }
    homes = [f"home-{one.name}" for one in spec(worlds, server, pool).logins]
    for name in ("data", "results", *homes):
        volume, person = volumes[name]["csi"], name.removeprefix("home-")
        if server == "nfs":
            told = volume["volumeAttributes"]
            share = f"/{name}" if name not in homes else "/homes"
            assert found[share]["What"] == f"{told['server']}:{share}"
            assert found[share]["Type"] == "nfs"
            assert f"{share}/{person}" == told["share"] or share == told["share"]
            assert set(volumes[name]["mountOptions"]) <= set(found[share]["Options"].split(","))
        else:
            here = found[f"/homes/{person}" if name in homes else f"/{name}"]
            system, _, point = volume["volumeHandle"].partition("::")
            assert (here["What"], here["Type"]) == (f"{system}:/", "efs")
            assert f"accesspoint={point}" in here["Options"].split(",")


@pytest.mark.parametrize("pool", POOLS)
def test_efs_is_mounted_over_tls_and_from_elsewhere_by_an_address(worlds: dict[str, World], pool: str) -> None:
    address = worlds["efs"].plan.region("us-west-2").zones["a"].addresses["shares"]
    for one in mounted(spec(worlds, "efs", pool)).values():
        options = one["Options"].split(",")
        assert {"tls", "region=us-west-2", "_netdev", "nosuid", "nodev"} <= set(options)
        assert (f"mounttargetip={address}" in options) == (pool != "shell-home")


@pytest.mark.parametrize(("server", "pool"), CASES)
def test_everybody_s_home_is_in_a_mount_and_keys_are_in_none(worlds: dict[str, World], server: str, pool: str) -> None:
    of = spec(worlds, server, pool)
    made, found = bundle(of, "").files, mounted(of)
    users = [line for line in made[people.SYSUSERS].splitlines() if line.startswith("u ")]
    assert [line.rpartition('"')[2].split()[0] for line in users] == ["/homes/bob", "/homes/eve-lynn"]
    for one in of.logins:
        assert [path for path in found if PurePosixPath(one.home).is_relative_to(path)], one.home
    told = dict(line.split(" ", 1) for line in made[people.SSHD].splitlines())
    keys = PurePosixPath(told["AuthorizedKeysFile"])
    assert not [path for path in found if keys.is_relative_to(path)]
    # Else sshd looks up the home before it lets anybody in, and gives up after LoginGraceTime while the share is away.
    assert told["StrictModes"] == "no"
    assert told["AuthorizedKeysCommand"] == told["AuthorizedPrincipalsFile"] == "none"


@pytest.mark.parametrize(("server", "pool"), CASES)
def test_no_boot_waits_for_a_share(worlds: dict[str, World], server: str, pool: str) -> None:
    """The machine's target wants one target, that one automounts, and nobody a mount."""
    made = units(spec(worlds, server, pool))
    wants = {name: set(parse(name, text)["Wants"]) for name, text in made.items()}
    automounts = {name for name in made if name.endswith(".automount")}
    assert {name.replace(".automount", ".mount") for name in automounts} == {n for n in made if n.endswith(".mount")}
    assert {name for name in wants[TARGET] if "mount" in name} == {mounts.TARGET}
    assert wants[mounts.TARGET] == automounts | {mounts.TIMER}
    assert not [name for name, theirs in wants.items() for one in theirs if one.endswith(".mount")]
    for name in automounts:
        assert section(made[name], "Automount")["Where"] == section(made[name.replace("auto", "")], "Mount")["Where"]


def test_a_login_looks_at_a_share_that_is_away_for_less_than_a_minute(worlds: dict[str, World]) -> None:
    """systemd tries so often within the time, and then takes the path away until it is asked to start it anew."""
    for name, text in units(spec(worlds, "nfs", "shell-site")).items():
        if name.endswith(".mount"):
            one = parse(name, text)
            tries, seconds = one["StartLimitBurst"], one["TimeoutSec"]
            assert tries * seconds < 60 < one["StartLimitIntervalSec"]
            assert tries * seconds < one["StartLimitIntervalSec"], "else there is always a try left"


def test_a_fleet_without_shares_mounts_nothing(worlds: dict[str, World]) -> None:
    world = worlds["efs"]
    storage = world.fleet.storage.model_copy(update={"shares": {}})
    of = pool_spec(world.fleet.model_copy(update={"storage": storage}), world.plan, "shell-home", files_of(world))
    assert of.mounts == ()
    assert not [name for name in units(of) if "mount" in name]
    assert [one.home for one in of.logins] == ["/", "/"]
    assert "StrictModes yes" in bundle(of, "").files[people.SSHD]


def test_nodes_mount_nothing_themselves(worlds: dict[str, World]) -> None:
    for name, pool in worlds["efs"].fleet.pools.items():
        of = pool_spec(worlds["efs"].fleet, worlds["efs"].plan, name, files_of(worlds["efs"]))
        assert bool(of.mounts) == (pool.kind == "ssh")


@pytest.mark.parametrize("pool", POOLS)
def test_the_way_to_the_shares_is_open_at_both_ends(worlds: dict[str, World], pool: str) -> None:
    """Out of the pool's own firewall, into EFS's, and among the clients of the site's server."""
    for server, world in worlds.items():
        of = spec(worlds, server, pool)
        place: str = world.plan.site(of.place).lan if of.site else world.plan.region(of.place).network
        source = of.mounts[0].source
        there = world.plan.site("lab").lan if isinstance(source, OnNfs) else files_of(world).address
        outward = [rule.peer for rule in firewall.rules(world.fleet, world.plan, of) if rule.first == 2049]
        assert [peer for peer in outward if within(there, peer)]
        if isinstance(source, OnNfs):
            clients = nfs_spec(world.fleet, world.plan, "lab").clients.values()
            assert [peer for peer in clients if within(place, peer)]
        else:
            (group,) = [
                one for one in network_spec(world.fleet, world.plan, "us-west-2").groups if one.name == "shares"
            ]
            assert [rule for rule in group.rules if rule.port == 2049 and within(place, rule.cidr)]


def within(one: str, other: str) -> bool:
    inner: Any = ipaddress.ip_network(one)
    return bool(inner.subnet_of(ipaddress.ip_network(other)))


@pytest.mark.skipif(not shutil.which("systemd-escape"), reason="systemd-escape is not installed")
def test_units_have_systemd_s_own_names(worlds: dict[str, World]) -> None:
    of = spec(worlds, "efs", "shell-home")
    paths = [*mounted(of), "/data-sets/big_one"]
    assert "/homes/eve-lynn" in paths
    for path in paths:
        told = subprocess.run(["systemd-escape", "--path", path], capture_output=True, text=True, check=True).stdout
        assert f"{told.strip()}.mount" in {*units(of), r"data\x2dsets-big_one.mount"}
    assert mounts._unit("/data-sets/big_one") == r"data\x2dsets-big_one"


@pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="systemd-analyze is not installed")
def test_systemd_finds_nothing_wrong_with_the_units(worlds: dict[str, World], tmp_path: Path) -> None:
    for server, pool in CASES:
        folder = tmp_path / f"{server}-{pool}"
        folder.mkdir()
        for name, text in units(spec(worlds, server, pool)).items():
            (folder / name).write_text(text)
        command = ["systemd-analyze", "verify", "--man=no", *map(str, sorted(folder.iterdir()))]
        told = subprocess.run(command, capture_output=True, text=True, check=False)
        lines = [line for line in told.stderr.splitlines() if "is not executable" not in line]
        assert not [line for line in lines if str(folder) in line or "mount" in line], told.stderr


@pytest.mark.skipif(not shutil.which("systemd-sysusers"), reason="systemd-sysusers is not installed")
def test_systemd_gives_people_their_homes_and_makes_none(worlds: dict[str, World], tmp_path: Path) -> None:
    file = tmp_path / people.SYSUSERS.lstrip("/")
    file.parent.mkdir(parents=True)
    file.write_text(bundle(spec(worlds, "efs", "shell-away"), "").files[people.SYSUSERS])
    subprocess.run(["systemd-sysusers", f"--root={tmp_path}", file.name], capture_output=True, check=True)
    users = dict(line.split(":", 1) for line in (tmp_path / "etc/passwd").read_text().splitlines())
    assert users["bob"] == "x:3002:2000:bob of research:/homes/bob:/bin/bash"
    assert not (tmp_path / "homes").exists()


def test_no_unit_of_a_control_plane_and_no_home_there(worlds: dict[str, World]) -> None:
    fleet: Fleet = worlds["nfs"].fleet
    assert {one.home for one in people.logins(fleet, "research")} == {"/"}
    assert "home" not in json.dumps(people.files(people.logins(fleet, "research"), root=True)[people.SYSUSERS])


def test_shares_of_azure_are_plain_nfs_and_each_home_a_folder_of_one() -> None:
    """By the account's name in its region, by an address of the plan elsewhere; never a later version than 4.1."""
    world = bed.both()
    fleet, shell = world.fleet, world.fleet.pools["own-cpu"].model_copy(update={"kind": "ssh", "owner": "platform"})
    away = shell.model_copy(update={"region": "us-west-2", "instance_type": "c7i.xlarge"})
    people = {"alice": Person(uid=3001, team="platform", keys=[f"{KEY} alice@laptop"])}
    fleet = fleet.model_copy(update={"pools": {**fleet.pools, "shell": shell, "away": away}, "people": people})
    given = files_in_azure(fleet, "southcentralus", "10.0.0.9")
    found = {name: mounted(pool_spec(fleet, world.plan, name, given)) for name in ("shell", "away")}
    account = given.account
    assert found["shell"]["/data"]["What"] == f"{account}.file.core.windows.net:/{account}/data"
    assert found["away"]["/homes/alice"]["What"] == f"10.0.0.9:/{account}/homes/alice"
    for one in (*found["shell"].values(), *found["away"].values()):
        assert one["Type"] == "nfs"
        assert "nfsvers=4.1" in one["Options"].split(",")
