"""What keeps a tunnel down is named from what the gateway's strongSwan writes of it."""

import contextlib
import re
import shlex
import time
from collections.abc import Iterator

import pytest

from components.control_plane.units import UNITS
from components.links.gateway import watching
from components.links.gateway.spec import End
from tests.components.links import test_gateway_causes as known

from .lab import Lab
from .machines import LabError, awaited

import gateway_causes  # isort: skip

# As its log file has a line: the journal has the connection's name beside it.
LINE = re.compile(r"^\S+ \d+\[\w+\] <([\w-]+)\|\d+> (.*)$", re.MULTILINE)
# Four tries of 2 s and more: `policy`.
SECONDS = 60.0


def cause(lab: Lab, end: End, begun: int) -> str:
    log = lab.gateway.charons[end.name].log()[begun:]
    return gateway_causes.causes(LINE.findall(log)).get(end.name, "")


def begin_anew(lab: Lab, end: End) -> int:
    """As the gateway does by itself with a tunnel that has no keys; how long its log was before."""
    charon = lab.gateway.charons[end.name]
    begun = len(charon.log())
    with contextlib.suppress(LabError):
        charon.swanctl("--terminate", "--ike", end.name)
    with contextlib.suppress(LabError):
        charon.swanctl("--initiate", "--child", end.name, "--timeout", "10")
    return begun


@pytest.fixture
def end(lab: Lab) -> Iterator[End]:
    """A tunnel whose other end a test changes; all is as before in the end."""
    one = lab.ends("us-east-1")[0]
    yield one
    lab.endpoint(one).configure()
    lab.endpoint(one).load()
    begin_anew(lab, one)
    awaited("all sessions again", lab.settled, 90, 0.5)


@pytest.mark.parametrize(
    ("other", "what"),
    [
        ({"key": "another_key.of_32_letters_or_so"}, known.KEY),
        ({"ike": "aes256-sha256-modp2048"}, known.IKE),
        ({"esp": "aes128gcm16-ecp256"}, known.ESP),
    ],
    ids=["key", "ike", "esp"],
)
def test_the_cause_is_named(lab: Lab, end: End, other: dict[str, str], what: str) -> None:
    lab.endpoint(end).configure(**other)
    lab.endpoint(end).load()
    assert cause(lab, end, begin_anew(lab, end)) == what


def test_an_end_that_is_not_there_is_named(lab: Lab, end: End) -> None:
    with lab.silent(end):
        begun = begin_anew(lab, end)
        awaited("nothing comes back", lambda: cause(lab, end, begun) == known.SILENT, SECONDS, 0.5)


def test_a_tunnel_that_was_refused_is_begun_again_by_its_timer_and_not_by_itself(lab: Lab, end: End) -> None:
    charon = lab.gateway.charons[end.name]
    lab.endpoint(end).configure(key="another_key.of_32_letters_or_so")
    lab.endpoint(end).load()
    begin_anew(lab, end)
    lab.endpoint(end).configure()
    lab.endpoint(end).load()
    time.sleep(5)
    assert not charon.swanctl("--list-sas").strip()
    unit = lab.gateway.unit(f"{UNITS}/{watching.RAISE}.service")
    said = charon.machine.run(*shlex.split(unit["Service"]["ExecStart"]), seconds=90, env=charon.env)
    assert f"{end.name}: begun again" in said
    assert "ESTABLISHED" in charon.swanctl("--list-sas")
