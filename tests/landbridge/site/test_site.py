"""Hosts of a site: enrolled by the command that people run there, looked at, and brought to their bundle. In order."""

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from components.pools import node_template
from components.pools.site.enrolment import HOST_LABEL
from landbridge.site import nodes
from landbridge.site.apply import ApplyError
from landbridge.site.status import HostError
from tests.landbridge.site_bed import SiteBed
from tests.support.waiting import eventually

pytestmark = pytest.mark.timeout(900)
NODE, OTHER = "host-1.lab", "host-2.lab"
KUBELET = "/etc/kubernetes/kubelet.json"
SECRETS = "--namespace=kube-system"


@pytest.fixture(scope="module")
def enrolled(site: SiteBed) -> SiteBed:
    site.stand_up("host-1")
    said = site.type("host-1", site.enrolment("host-1"))
    assert said.returncode == 0, said.stderr
    eventually(lambda: nodes.ready(site.kube.find("nodes", NODE)))
    return site


def tokens(bed: SiteBed, host: str) -> list[Any]:
    return list(bed.kube.get("secrets", SECRETS, f"--selector={HOST_LABEL}={host}")["items"])


def test_the_command_makes_a_bare_host_a_node_with_its_pool_s_labels(enrolled: SiteBed) -> None:
    node = enrolled.kube.get("nodes", NODE)
    assert node["metadata"]["labels"] == node_template.node_labels(enrolled.spec, "lab", NODE)
    assert node["spec"]["providerID"] == "onprem:///lab/host-1"
    assert nodes.address(node) == "10.129.0.11", "that by which it reaches the API: the fleet file gives none"
    assert node["status"]["capacity"]["cpu"] == "96"
    (secret,) = tokens(enrolled, "host-1")
    assert secret["metadata"]["name"].startswith("bootstrap-token-")


def test_its_token_is_root_s_and_in_no_log(enrolled: SiteBed) -> None:
    box = enrolled.boxes["host-1"]
    assert box.sh("stat -c %a /etc/kubernetes/enrolment-token").out == "600\n"
    token = box.sh("cat /etc/kubernetes/enrolment-token").out
    assert len(token) == 23
    held = box.sh(f"grep -rlF {token} /etc /var /run /usr/local/lib 2>/dev/null").out.split()
    assert held == ["/etc/kubernetes/enrolment-token"]
    assert token not in json.dumps(enrolled.published.files)


def test_a_host_that_stands_is_enrolled_again_and_nothing_of_it_ends(enrolled: SiteBed) -> None:
    box = enrolled.boxes["host-1"]
    before = box.sh("pgrep -x kwok; cat /etc/kubernetes/enrolment-token").out
    said = enrolled.type("host-1", enrolled.enrolment("host-1"))
    assert (said.returncode, said.stdout) == (0, "This machine is host-1.lab, as it was.\n"), said.stderr
    after = box.sh("pgrep -x kwok; cat /etc/kubernetes/enrolment-token").out
    assert before.split()[0] == after.split()[0], "its kubelet went on"
    assert before.split()[1] != after.split()[1]
    assert len(tokens(enrolled, "host-1")) == 1, "the earlier token is worth nothing any more"


# As a cluster of that name had it that was destroyed.
LEFT = """
cd /var/lib/kubelet/pki && systemctl stop kubelet
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 30 -keyout key -out shown \\
    -subj /O=system:nodes/CN=system:node:host-1.lab 2>/dev/null
cat shown key > old.pem && ln -sf old.pem kubelet-client-current.pem && systemctl start --no-block kubelet
"""


def test_a_host_of_a_cluster_that_is_gone_is_named_and_the_command_that_is_named_lets_it_in(enrolled: SiteBed) -> None:
    box = enrolled.boxes["host-1"]
    assert box.sh(LEFT).code == 0
    state = enrolled.state("host-1")
    assert state.unknown == (
        "it belongs to a cluster main that is gone, or to keys of it that a rotation ended. "
        "`landbridge site enrol lab host-1` lets it into the one of now"
    )
    assert (state.healthy, state.current) == (False, False)
    said = enrolled.type("host-1", enrolled.enrolment("host-1"))
    assert (said.returncode, said.stdout) == (0, "This machine is host-1.lab, from now on.\n"), said.stderr
    assert box.sh("ls /var/lib/kubelet/pki/old.pem").code != 0
    since = datetime.now(UTC).timestamp()
    eventually(lambda: nodes.beats(enrolled.kube, NODE) > since and nodes.ready(enrolled.kube.find("nodes", NODE)))
    assert enrolled.state("host-1").healthy


def test_a_machine_that_is_another_host_is_not_made_this_one(enrolled: SiteBed) -> None:
    said = enrolled.type("host-1", enrolled.enrolment("host-2"))
    assert said.returncode == 1
    assert "this machine is host-1, not host-2. Nothing was changed" in said.stderr


def test_an_expired_token_is_refused_before_anything_is_written(enrolled: SiteBed) -> None:
    box, command = enrolled.stand_up("host-2"), enrolled.enrolment("host-2")
    (secret,) = tokens(enrolled, "host-2")
    past = f"{datetime.now(UTC) - timedelta(seconds=5):%Y-%m-%dT%H:%M:%SZ}"
    patch = json.dumps({"stringData": {"expiration": past}})
    enrolled.kube.done("patch", "secret", SECRETS, secret["metadata"]["name"], f"--patch={patch}")
    said = eventually(lambda: "expired" in (told := enrolled.type("host-2", command)).stderr and told)
    assert said.returncode == 1
    assert "does not take this token" in said.stderr
    assert "Nothing was changed" in said.stderr
    assert box.sh("ls /etc/landbridge /etc/kubernetes").out == ""


def test_a_bundle_that_was_changed_on_its_way_is_refused(enrolled: SiteBed) -> None:
    command, file = enrolled.enrolment("host-2"), enrolled.store / f"{enrolled.published.version}.json"
    whole = file.read_text()
    for path, why in (
        (KUBELET, f"{KUBELET} is missing or changed"),
        ("/etc/cron.d/more", "files that nobody has signed for"),
        (None, "not signed by the key"),
    ):
        if path:
            file.write_text(json.dumps({**enrolled.published.files, path: "{}"}))
        else:
            file.write_text(whole)
            command = command.replace(enrolled.published.verify_key, other_key())
        said = enrolled.type("host-2", command)
        assert (said.returncode, why in said.stderr) == (1, True), said.stderr
    assert enrolled.boxes["host-2"].sh("ls /etc/kubernetes").out == ""


def other_key() -> str:
    from components.boot.user_data import public_key

    return public_key(pem())


def pem() -> str:
    return Ed25519PrivateKey.generate().private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()


def test_a_token_of_another_host_lets_nobody_in_and_the_right_one_does_afterwards(enrolled: SiteBed) -> None:
    right = enrolled.enrolment("host-2")
    (mine,) = tokens(enrolled, "host-2")
    enrolled.enrolment("host-1")
    (its,) = tokens(enrolled, "host-1")
    wrong = right.replace(token(mine), token(its))
    assert wrong != right
    enrolled.type("host-2", wrong, seconds=15)
    said = eventually(lambda: denied(enrolled))
    assert "this machine may be O=system:nodes, CN=system:node:host-1.lab, and nobody else" in said
    assert enrolled.kube.find("nodes", OTHER) is None
    done = enrolled.type("host-2", right)
    assert (done.returncode, done.stdout) == (0, "This machine is host-2.lab, from now on.\n"), done.stderr
    eventually(lambda: nodes.ready(enrolled.kube.find("nodes", OTHER)))


def token(secret: Any) -> str:
    import base64

    return ".".join(base64.b64decode(secret["data"][f"token-{part}"]).decode() for part in ("id", "secret"))


def denied(bed: SiteBed) -> str:
    found = bed.kube.get("certificatesigningrequests")["items"]
    verdicts = [one for request in found for one in request["status"].get("conditions", ())]
    return " ".join(one["message"] for one in verdicts if one["type"] == "Denied")


def test_the_drift_report_names_what_differs_and_what_runs(enrolled: SiteBed) -> None:
    state = enrolled.state("host-1")
    assert (state.current, state.healthy, state.runs, state.differs) == (True, True, (), ())
    enrolled.boxes["host-1"].sh("echo '# mine' >> /etc/containerd/config.toml")
    state = enrolled.state("host-1")
    assert (state.current, state.healthy, state.differs) == (False, True, ("/etc/containerd/config.toml",))


def test_apply_changes_idle_hosts_and_leaves_those_at_work(enrolled: SiteBed) -> None:
    enrolled.publish(kubelet(enrolled, maxPods=100))
    work(enrolled, OTHER)
    eventually(lambda: nodes.busy(enrolled.kube, OTHER) == ["default/work"])
    assert [(one.host, one.what) for one in enrolled.apply().plan()] == [("host-1", "change"), ("host-2", "skip")]
    assert enrolled.state("host-1").bundle != enrolled.published.version, "a plan changes nothing"
    done = {one.host: one for one in enrolled.apply().run()}
    assert (done["host-1"].what, done["host-2"].what) == ("changed", "skip")
    assert done["host-2"].why == "it is at work: default/work"
    node = enrolled.kube.get("nodes", NODE)
    assert node["status"]["capacity"]["pods"] == "100"
    assert (nodes.cordoned(node), nodes.applying(node)) == (False, False)
    state = enrolled.state("host-1")
    assert (state.current, state.differs) == (True, ()), "what was changed there by hand is as signed, too"
    assert enrolled.kube.get("nodes", OTHER)["status"]["capacity"]["pods"] == "110"
    enrolled.kube.done("delete", "pod", "work", "--wait=false")
    eventually(lambda: not nodes.busy(enrolled.kube, OTHER))
    assert [one.what for one in enrolled.apply().run()] == ["current", "changed"]


def work(bed: SiteBed, node: str) -> None:
    """A pod that runs for hours."""
    eventually(lambda: bed.kube.find("serviceaccounts", "default"))
    pod = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "work", "annotations": {"local.landbridge.dev/runs-for": "2h"}},
        "spec": {
            "nodeName": node,
            "tolerations": [{"operator": "Exists"}],
            "containers": [{"name": "work", "image": "example.com/work"}],
        },
    }
    bed.kube.done("create", "--filename=-", stdin=json.dumps(pod))


def kubelet(bed: SiteBed, **more: Any) -> dict[str, str]:
    return {KUBELET: json.dumps({**json.loads(bed.published.files[KUBELET]), **more})}


def test_a_node_that_people_had_cordoned_stays_so(enrolled: SiteBed) -> None:
    enrolled.kube.done("cordon", NODE)
    enrolled.publish(kubelet(enrolled, maxPods=101))
    assert [one.what for one in enrolled.apply("host-1").run()] == ["changed"]
    assert nodes.cordoned(enrolled.kube.get("nodes", NODE))
    enrolled.kube.done("uncordon", NODE)


def test_what_an_interrupted_run_left_cordoned_the_next_one_releases(enrolled: SiteBed) -> None:
    nodes.hold(enrolled.kube, NODE)
    assert [one.what for one in enrolled.apply("host-1").run()] == ["finished"]
    node = enrolled.kube.get("nodes", NODE)
    assert (nodes.cordoned(node), nodes.applying(node)) == (False, False)


def test_a_bundle_that_breaks_a_host_is_taken_back_and_no_other_host_is_begun(enrolled: SiteBed) -> None:
    good = enrolled.published
    before = {name: enrolled.state(name).bundle for name in ("host-1", "host-2")}
    enrolled.publish({**kubelet(enrolled, nobodyKnowsThis=True), "/etc/systemd/system/more.service": MORE})
    with pytest.raises(
        ApplyError, match="host-1 has not taken its new bundle: after 20 s its kubelet has said nothing"
    ):
        enrolled.apply(seconds=20).run()
    assert {name: enrolled.state(name).bundle for name in before} == before
    assert not enrolled.boxes["host-1"].sh("ls /etc/systemd/system/more.service").out, "nothing of it is left"
    node = enrolled.kube.get("nodes", NODE)
    assert (nodes.ready(node), nodes.cordoned(node), nodes.applying(node)) == (True, False, False)
    enrolled.published = good


MORE = "[Unit]\nDescription=More\n\n[Service]\nType=oneshot\nRemainAfterExit=yes\nExecStart=/bin/true\n"


def test_a_bundle_that_nobody_signed_touches_no_host(enrolled: SiteBed) -> None:
    good, units = enrolled.published, enrolled.boxes["host-1"].sh("pgrep -x kwok").out
    enrolled.publish(kubelet(enrolled, maxPods=50), key=pem())
    with pytest.raises(ApplyError, match="not signed by the key of this host's pool"):
        enrolled.apply("host-1").run()
    assert enrolled.boxes["host-1"].sh("pgrep -x kwok").out == units, "its kubelet went on"
    assert enrolled.state("host-1").bundle == good.version
    assert not nodes.cordoned(enrolled.kube.get("nodes", NODE))
    enrolled.published = good


MOUNT, SERVER = "srv-landbridge.mount", "nfs-server.service"
TIMERS = ("landbridge-nfs-health.timer", "landbridge-nfs-snapshot.timer")
# The distribution's own unit, which no bundle brings.
NFSD = "[Service]\nExecStart=/bin/sleep infinity\n"
STATES = f"systemctl is-active {MOUNT} {SERVER} {' '.join(TIMERS)}"


def test_a_host_that_is_to_serve_nfs_gets_that_without_an_enrolment_and_says_what_it_lacks(enrolled: SiteBed) -> None:
    serving = enrolled.serve("host-1", {})
    assert [one.what for one in enrolled.apply("host-1").plan()] == ["change"]
    assert [one.what for one in enrolled.apply("host-1").run()] == ["changed"], "no disk, and no server: still a node"
    state = enrolled.state("host-1")
    assert (state.bundle, state.current, state.ready, state.healthy) == (serving.version, True, True, False)
    assert SERVER in state.failed
    box = enrolled.boxes["host-1"]
    assert "Requires=landbridge-nfs-shares.service" in box.sh(f"cat /etc/systemd/system/{SERVER}.d/landbridge.conf").out
    # As people do then: packages and a disk.
    box.lay({SERVER: NFSD})
    box.sh(f"mkdir -p /dev/disk/by-label/lb-shares; systemctl daemon-reload; systemctl stop {MOUNT}")
    assert box.sh("systemctl start landbridge-nfs.target").code == 0
    assert box.sh(STATES).out.split() == ["active"] * 4
    assert box.sh("ls /srv/landbridge").out.split() == ["homes"]
    assert (enrolled.state("host-1").failed, enrolled.state("host-1").healthy) == ((), True)


def test_a_bundle_that_ends_what_a_host_serves_is_taken_back(enrolled: SiteBed) -> None:
    good = enrolled.own["host-1"]
    enrolled.serve("host-1", {"/usr/local/lib/landbridge/nfs_shares.py": "raise SystemExit('broken')\n"})
    with pytest.raises(ApplyError, match=rf"after 20 s \({SERVER}: not active\)"):
        enrolled.apply("host-1", seconds=20).run()
    enrolled.own["host-1"] = good
    assert (enrolled.state("host-1").current, enrolled.state("host-1").healthy) == (True, True)


def test_the_bundle_of_another_host_is_not_taken(enrolled: SiteBed) -> None:
    other = enrolled.serve("host-2", {})
    hosts = enrolled.hosts("host-1")
    with pytest.raises(HostError, match=r"host-2 is not for host-1\. Nothing was changed"):
        hosts.ask(hosts.hosts["host-1"], "apply", other.handed)
    del enrolled.own["host-2"]


def test_a_host_that_serves_no_more_is_one_of_its_pool_again(enrolled: SiteBed) -> None:
    enrolled.own.clear()
    assert [one.what for one in enrolled.apply("host-1").run()] == ["changed"]
    state = enrolled.state("host-1")
    assert (state.bundle, state.current, state.healthy) == (enrolled.published.version, True, True)
    box = enrolled.boxes["host-1"]
    assert box.sh(STATES).out.split() == ["inactive"] * 4, "nothing is served, mounted or timed any more"
    left = box.sh("ls /etc/exports.d/landbridge.exports /etc/landbridge/nfs.json /etc/systemd/system/*nfs*.timer").out
    assert left == ""


def test_a_host_that_does_not_answer_is_said_and_left(enrolled: SiteBed) -> None:
    hosts = enrolled.hosts("host-1", "host-3")
    state = hosts.look()["host-3"]
    assert (state.enrolled, state.healthy) == (False, False)
    assert "cannot be reached" in state.unknown
