"""What lets a host of a site in: its token, its discovery file, its command. And what the host's own script takes."""

import ast
import base64
import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from components.pools import discovery, joining
from components.pools.bundle import SITE_SCRIPT, bundle
from components.pools.site import enrolment
from components.pools.site.enrolment import Pointer, Token
from components.pools.spec import PoolSpec, pool_spec
from fleet.world import current
from tests.components.pools.test_pool_bundles import AUTHORITY
from tests.support import golden

import join_rules  # isort: skip

HERE = Path(__file__).parent
ROOT = HERE.parents[3]
UNTIL = datetime(2026, 5, 1, 12, 0, tzinfo=UTC)
TOKEN = Token("abc123", "0123456789abcdef", UNTIL)
POINTER = Pointer(
    "example/main/site-gpu",
    "0123456789abcdef",
    "MCowBQYDK2VwAyEA",
    "https://s3.example.com/manifest.json?X-Amz-Signature=1",
    "https://s3.example.com/files.json?X-Amz-Signature=2",
)


@pytest.fixture(scope="module")
def spec() -> PoolSpec:
    world = current(ROOT / "fleet.yaml")
    return pool_spec(world.fleet, world.plan, "site-gpu")


@pytest.mark.golden
def test_what_enrols_a_host(spec: PoolSpec) -> None:
    host = enrolment.host_file("host-2", "10.133.0.12")
    command = enrolment.command(POINTER, "lab", host, TOKEN, UNTIL)
    shown = {
        "discovery": discovery.discovery(spec, AUTHORITY),
        "secret": enrolment.secret(TOKEN, "lab", "host-2"),
        "command": command.splitlines(),
    }
    golden.compare(HERE / "golden/enrolment.yaml", shown)


def test_the_command_is_python_in_a_shell_s_words_and_no_line_is_too_long_for_a_terminal(spec: PoolSpec) -> None:
    text = enrolment.command(POINTER, "lab", enrolment.host_file("host-2", None), TOKEN, UNTIL)
    first, *body, last = text.splitlines()
    assert (first, last) == ("python3 - <<'LANDBRIDGE'", "LANDBRIDGE")
    tree = ast.parse("\n".join(body))
    (given,) = [one.value for one in tree.body if isinstance(one, ast.AnnAssign)]
    assert given is not None
    told = ast.literal_eval(given)
    assert told["token"] == "abc123.0123456789abcdef"
    assert told["host"] == {"host": "host-2"}
    assert told["script"] in bundle(spec, AUTHORITY).files
    # The kernel's line editing takes 4,095 characters a line (termios(3), "Canonical mode"); an address has 2,000.
    assert max(len(line) for line in body) < 2000


def test_the_service_knows_the_host_by_its_token_and_no_other(spec: PoolSpec) -> None:
    """By the very function that decides: a user of these groups is that host."""
    world = current(ROOT / "fleet.yaml")
    known = joining.pools(world.fleet, world.plan, "main", str, lambda _: [])
    pools = join_rules.pools_of(joining.table(known))
    groups = enrolment.secret(TOKEN, "lab", "host-2")["stringData"]["auth-extra-groups"].split(",")
    asks = {"username": f"system:bootstrap:{TOKEN.id}", "groups": ["system:bootstrappers", *groups]}
    found = join_rules._machine(asks, pools, renewing_only=False)
    assert isinstance(found, join_rules.Machine)
    assert found.name == enrolment.node_name("lab", "host-2")


def test_a_token_of_a_day_at_most_and_an_hour_unless_told() -> None:
    assert enrolment.LONGEST.total_seconds() == 24 * 3600
    assert enrolment.LIFETIME < enrolment.LONGEST
    assert enrolment.secret(TOKEN, "lab", "h")["stringData"]["expiration"] == "2026-05-01T12:00:00Z"


def test_the_discovery_file_names_the_api_and_who_vouches_for_it_and_nobody(spec: PoolSpec) -> None:
    told = json.loads(bundle(spec, AUTHORITY).files[discovery.PATH])
    (cluster,) = told["clusters"]
    assert cluster["cluster"]["server"] == spec.server
    assert base64.b64decode(cluster["cluster"]["certificate-authority-data"]).decode() == AUTHORITY
    assert "users" not in told


def test_a_cloud_s_machine_has_neither_discovery_file_nor_the_hosts_script() -> None:
    world = current(ROOT / "fleet.yaml")
    files = bundle(pool_spec(world.fleet, world.plan, "west-gpu"), AUTHORITY).files
    assert discovery.PATH not in files
    assert not [path for path in files if SITE_SCRIPT in path]


def test_the_hosts_script_uses_the_paths_of_the_bundle(spec: PoolSpec) -> None:
    import site_host

    files = bundle(spec, AUTHORITY).files
    assert site_host.DISCOVERY in files
    user = json.loads(files["/etc/kubernetes/bootstrap.kubeconfig"])["users"][0]["user"]
    assert user == {"tokenFile": str(site_host.TOKEN)}
    unit = files["/etc/systemd/system/kubelet.service"]
    assert f"--kubeconfig={site_host.KUBECONFIG} " in unit
    assert f"--cert-dir={site_host.CERTIFICATE.parent} " in unit
    assert f"{site_host.UNITS}{site_host.TARGET}" in files
