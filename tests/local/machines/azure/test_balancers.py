"""Internal balancers of the local Azure: spread over machines that are well, and no way for a machine to itself."""

import time
from collections.abc import Iterator

import pytest

from ..inside import Inside, eventually
from .inside import encoded, running

# Says its name and who asks. `touch /run/sick` makes it ill, and `ill` is what its probe then hears.
SERVER = """#!/bin/sh
cat > /srv/server.py <<'PYTHON'
import http.server, os, socket
class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    def do_GET(self):
        sick = self.path == "/well" and os.path.exists("/run/sick")
        text = f"{socket.gethostname()} {self.client_address[0]}".encode()
        self.send_response(503 if sick else 200)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)
    def log_message(self, *_): pass
http.server.ThreadingHTTPServer(("", 8080), Handler).serve_forever()
PYTHON
cat > /etc/systemd/system/web.service <<'UNIT'
[Service]
Type=exec
ExecStart=/usr/bin/python3 /srv/server.py
UNIT
systemctl daemon-reload; systemctl start web
"""
FRONT, OTHER = "10.1.1.150", "10.1.1.151"
PROBE = "{'protocol': 'Http', 'port': 8080, 'requestPath': '/well', 'intervalInSeconds': 5, 'probeThreshold': 1}"


@pytest.fixture(scope="module")
def balanced(azure: Inside) -> Iterator[Inside]:
    """`web` with `left` and `right` behind it, `bare` without a probe, and `client`, which is behind none."""
    azure(f"web = balancer('web', subnets['a'], {FRONT!r}, {PROBE})")
    azure("bare = balancer('bare', subnets['b'], '10.1.2.150', None, loadDistribution='SourceIP')")
    azure(
        """
        for name, address in (("left", "10.1.1.101"), ("right", "10.1.1.102")):
            pools = behind("web")["loadBalancerBackendAddressPools"] + behind("bare")["loadBalancerBackendAddressPools"]
            card = nic(name, subnets["a"], address, loadBalancerBackendAddressPools=pools)
            machine(name, [card], script)
        machine("client", [nic("client", subnets["b"], "10.1.2.103")], script)
    """,
        script=encoded(SERVER),
    )
    for name in ("left", "right", "client"):
        eventually(lambda name=name: running(azure, name))
    eventually(lambda: asked(azure, "client") == {"left", "right"})
    yield azure
    azure("""
        for name in ("left", "right", "client"):
            delete("Microsoft.Compute/virtualMachines", name)
            delete("Microsoft.Network/networkInterfaces", name)
        for name in ("web", "bare"):
            delete("Microsoft.Network/loadBalancers", name)
    """)


@pytest.fixture(autouse=True)
def well(balanced: Inside) -> Iterator[None]:
    yield
    for name in ("left", "right"):
        balanced.sh(name, "rm -f /run/sick")
    eventually(lambda: asked(balanced, "client") == {"left", "right"})


def told(azure: Inside, name: str, front: str = FRONT, times: int = 12) -> list[str]:
    """What a machine hears that asks a frontend so often; nothing where nobody answers within two seconds."""
    script = f"for i in $(seq {times}); do curl -s -m 2 http://{front}/ && echo; done; true"
    return azure.sh(name, script).splitlines()


def asked(azure: Inside, name: str, front: str = FRONT, times: int = 12) -> set[str]:
    return {line.split()[0] for line in told(azure, name, front, times)}


def test_machines_that_are_well_share_the_work_and_see_who_asks(balanced: Inside) -> None:
    heard = told(balanced, "client")
    assert {line.split()[0] for line in heard} == {"left", "right"}
    assert {line.split()[1] for line in heard} == {"10.1.2.103"}
    # From the local cloud itself, too: programs of a laptop are there.
    code = "import urllib.request\nresult = urllib.request.urlopen(url, timeout=5).read().decode().split()[0]"
    assert balanced(code, url=f"http://{FRONT}/") in ("left", "right")


def test_one_that_is_ill_is_left_out_and_one_that_dies_too(balanced: Inside) -> None:
    balanced.sh("left", "touch /run/sick")
    eventually(lambda: asked(balanced, "client") == {"right"})
    balanced.sh("left", "rm /run/sick")
    eventually(lambda: asked(balanced, "client") == {"left", "right"})
    balanced.sh("right", "systemctl stop web")
    eventually(lambda: len(told(balanced, "client")) == 12 and asked(balanced, "client") == {"left"})
    balanced.sh("right", "systemctl start web")


def test_where_nobody_is_well_nobody_answers(balanced: Inside) -> None:
    for name in ("left", "right"):
        balanced.sh(name, "touch /run/sick")
    eventually(lambda: asked(balanced, "client", times=4) == set())
    began = time.monotonic()
    assert "timed out" in balanced.sh("client", f"curl -sS -m 2 http://{FRONT}/")
    assert time.monotonic() - began >= 2, "it is no refusal: packets are lost"


def test_a_machine_that_is_sent_to_itself_has_no_answer(balanced: Inside) -> None:
    balanced.sh("right", "touch /run/sick")
    eventually(lambda: asked(balanced, "client") == {"left"})
    assert asked(balanced, "left", times=3) == set()
    assert asked(balanced, "right") == {"left"}, "whoever is not chosen himself has one"
    balanced.sh("right", "rm /run/sick")
    eventually(lambda: asked(balanced, "left") == {"right"})
    assert len(told(balanced, "left")) < 12, "once in a while it is chosen, and hears nothing"


def test_without_a_probe_all_are_well_and_a_client_stays_where_it_was(balanced: Inside) -> None:
    balanced.sh("left", "touch /run/sick")
    heard = told(balanced, "client", "10.1.2.150")
    assert (len(heard), len({line.split()[0] for line in heard})) == (12, 1)


def test_machines_that_stand_still_get_nothing(balanced: Inside) -> None:
    balanced("act('right', 'deallocate')")
    eventually(lambda: asked(balanced, "client", "10.1.2.150") | asked(balanced, "client") == {"left"})
    assert len(told(balanced, "client", "10.1.2.150")) == 12
    balanced("act('right', 'start')")
    eventually(lambda: running(balanced, "right"))
    balanced.sh("right", "systemctl start web")


FLOW = """
import http.client, os, time
line = http.client.HTTPConnection("FRONT", timeout=5)
def ask():
    line.request("GET", "/")
    print(line.getresponse().read().decode().split()[0], flush=True)
ask()
while not os.path.exists("/run/on"):
    time.sleep(0.1)
ask()
""".replace("FRONT", FRONT)


def test_a_flow_stays_whatever_becomes_of_its_machine_s_health(balanced: Inside) -> None:
    start = "nohup python3 /srv/flow.py > /srv/said 2>&1 < /dev/null &"
    balanced.sh("client", f"cat > /srv/flow.py <<'PYTHON'\n{FLOW}PYTHON\n{start}")
    first = eventually(lambda: balanced.sh("client", "cat /srv/said").split())[0]
    balanced.sh(first, "touch /run/sick")
    other = {"left": "right", "right": "left"}[first]
    eventually(lambda: asked(balanced, "client") == {other})
    balanced.sh("client", "touch /run/on")
    eventually(lambda: balanced.sh("client", "cat /srv/said").split() == [first, first])


def test_what_goes_leads_nowhere(balanced: Inside) -> None:
    """A balancer that goes takes its frontend with it."""
    balanced(
        f"gone = balancer('gone', subnets['a'], {OTHER!r}, None); card = nic('card', subnets['a'], '10.1.1.104', **behind('gone'))"
    )
    balanced("machine('left-over', [card], script)", script=encoded(SERVER))
    eventually(lambda: asked(balanced, "client", OTHER, 2) == {"left-over"})
    balanced(
        "delete('Microsoft.Compute/virtualMachines', 'left-over'); delete('Microsoft.Network/networkInterfaces', 'card'); delete('Microsoft.Network/loadBalancers', 'gone')"
    )
    eventually(lambda: asked(balanced, "client", OTHER, 1) == set())
