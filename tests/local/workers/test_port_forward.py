"""Ports of pods of runs on a whole local machine: kubectl's own `port-forward`, by way of the real API server."""

from collections.abc import Iterator
from typing import Any

import pytest

from local.workers.images import RUNS_FOR
from tests.local.machines.host import Box
from tests.local.workers.machine_bed import KUBECTL, conditions, kubectl, leave, made, node, ready, retried, status
from tests.local.workers.runs import code, run_pod

PAGE, BACK = 18091, 18092
# One port has pages; the other answers with all it was sent, backwards, once that has ended.
SERVES = f"""
import http.server, socketserver, threading
class Back(socketserver.StreamRequestHandler):
    def handle(self):
        self.wfile.write(self.rfile.read()[::-1])
class Server(socketserver.ThreadingTCPServer):
    allow_reuse_address, request_queue_size = True, 50
threading.Thread(target=Server(("127.0.0.1", {BACK}), Back).serve_forever).start()
Server(("127.0.0.1", {PAGE}), http.server.SimpleHTTPRequestHandler).serve_forever()
"""
# What kubectl says until `words` are among it; then `act` has the local ports in its `ports`.
FORWARD = """
import re, socket, threading, urllib.request
running = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
said, ports = [], {}
for line in running.stdout:
    said.append(line)
    if found := re.match(r"Forwarding from 127.0.0.1:(\\d+) -> (\\d+)", line):
        ports[int(found[2])] = int(found[1])
    if len(ports) == many:
        break
def page(path):
    with urllib.request.urlopen(f"http://127.0.0.1:{ports[page_port]}{path}", timeout=30) as answer:
        return answer.read().decode()
def back(data):
    with socket.create_connection(("127.0.0.1", ports[back_port]), 30) as line:
        threading.Thread(target=lambda: (line.sendall(data), line.shutdown(socket.SHUT_WR))).start()
        return line.makefile("rb").read()
"""
USES = """
def many_back():
    for number in range(5):
        answers.append(back(b"%d" % number * 300_000) == b"%d" % number * 300_000)
answers = []
both = [threading.Thread(target=many_back) for _ in range(4)]
for one in both:
    one.start()
pages = [page("/train.py") for _ in range(20)]
for one in both:
    one.join()
long = bytes(range(256)) * 20_000
result = [pages, answers, back(long) == long[::-1]]
running.terminate()
running.wait()
"""
REFUSED = """
result = ""
with socket.create_connection(("127.0.0.1", ports[9]), 30) as line:
    try:
        line.sendall(b"x")
        result = line.makefile("rb").read().decode()
    except ConnectionError:  # what was sent lay there unread when kubectl closed it
        pass
running.terminate()
result = [result, "".join(said) + running.stdout.read()]
running.wait()
"""


@pytest.fixture(scope="module")
def machine(box: Box) -> Iterator[Box]:
    assert box.ctl("start", "kubelet").code == 0
    retried(lambda: ready(box))
    volumes = [{"name": "code", "configMap": {"name": "serves"}}]
    pod = run_pod("serves", node(box), ["python", "-c", SERVES], volumes=volumes)
    pod["spec"]["containers"][0] |= {
        "workingDir": "/code",
        "volumeMounts": [{"name": "code", "mountPath": "/code"}],
        "readinessProbe": {"tcpSocket": {"port": PAGE, "host": "127.0.0.1"}, "periodSeconds": 1},
    }
    made(box, code("serves", "train.py"), pod)
    retried(lambda: conditions(status(box, "serves")).get("Ready") == "True")
    retried(lambda: kubectl(box, "exec", "serves", "--", "true").code == 0)
    yield box
    leave(box, "serves")


def forwarded(box: Box, act: str, *ports: int) -> Any:
    words = ["port-forward", "pod/serves", "--address=127.0.0.1", *(f":{port}" for port in ports)]
    given = {"many": len(ports), "page_port": PAGE, "back_port": BACK}
    return box.host(KUBECTL + FORWARD + act, words=words, before=[], **given)


def test_many_connections_go_through_one_line(machine: Box) -> None:
    pages, answers, long = forwarded(machine, USES, PAGE, BACK)
    assert pages == ["pass"] * 20
    assert answers == [True] * 20
    assert long


def test_a_port_on_which_nothing_listens_is_told(machine: Box) -> None:
    answer, said = forwarded(machine, REFUSED, 9)
    assert answer == ""
    assert "error forwarding port 9 to pod default/serves: [Errno 111] Connection refused" in said


def test_a_pod_that_does_not_run_has_no_ports(machine: Box) -> None:
    crowd = run_pod("crowd", node(machine), ["sh", "-c", "exit 1"])
    crowd["metadata"]["annotations"][RUNS_FOR] = "1h"
    made(machine, crowd)
    retried(lambda: status(machine, "crowd").get("phase") == "Running")
    shown = kubectl(machine, "port-forward", "pod/crowd", ":80")
    assert shown.code == 1
    assert "the pod default/crowd is only simulated on this machine: nothing runs" in shown.text
    leave(machine, "crowd")
