"""Requests for certificates: judged when all is known, once, and again when a write fails."""

from datetime import UTC, datetime
from typing import Any

import pytest

from tests.components.pools.joining_bed import TABLE, attested, request, wish
from tests.components.pools.joining_stand_ins import ONE, Api, Ec2, region

import instances  # isort: skip
import join_approver  # isort: skip
import join_rules  # isort: skip
import kube_http  # isort: skip
import nodes  # isort: skip


def approver(api: Api, look: Any) -> join_approver.Approver:
    known = nodes.Nodes(lambda _: None)
    told = type("Instances", (), {"look": staticmethod(look)})()
    gone = type("Departures", (), {"shut": frozenset()})()
    return join_approver.Approver(api, TABLE, join_rules.pools_of(TABLE), told, known, gone)


def csr(**more: Any) -> Any:
    made = {"name": "r", "creationTimestamp": datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"), "resourceVersion": "1"}
    return {"metadata": made, "spec": wish(request(ONE), **attested("west-gpu", ONE)), **more}


APPROVAL = f"{join_approver.PATH}/r/approval"


RUNS = join_rules.Instance(ONE, "running", "example-west-gpu", "10.0.0.1")


def test_a_request_waits_until_its_instance_is_known_and_is_then_judged_once() -> None:
    api, answers = Api(), [join_rules.Unsure("asked"), None, RUNS]
    work = approver(api, lambda *_: answers.pop(0))
    work.changed("ADDED", csr())
    for _ in range(3):
        work.one("r", 0.0)
    work.one("r", 0.0)
    assert api.calls == [("PUT", APPROVAL)]
    told = api.bodies[0]["status"]["conditions"]
    assert [(one["type"], one["reason"], one["message"]) for one in told] == [
        ("Approved", "LandbridgeMachine", f"{ONE} runs in pool west-gpu")
    ]


def test_news_from_the_cloud_wakes_whoever_waits(clock: Any) -> None:
    ec2, api = Ec2(), Api()
    west = region(ec2)
    west.step()
    work = approver(api, lambda instance, _: west.look(instance))
    west.answered = work.hurry
    work.changed("ADDED", csr())
    work.one(*work._next())
    assert work.due[0][0] > instances.time.monotonic(), "it waits"
    ec2.states[ONE] = "running"
    west.step()
    assert [(due[0], due[2]) for due in work.due] == [(instances.time.monotonic(), "r")], "once, and now"
    work.pools = {"west-gpu": work.pools["west-gpu"]._replace(groups=frozenset({"g"}))}
    work.one(*work._next())
    assert api.calls == [("PUT", APPROVAL)]


def test_a_failed_write_is_tried_again_and_what_somebody_decided_is_left(capsys: pytest.CaptureFixture[str]) -> None:
    api = Api()
    work = approver(api, lambda *_: RUNS)
    work.changed("ADDED", csr())
    api.answers["PUT", APPROVAL] = 500
    with pytest.raises(kube_http.Answer):
        work.one("r", 0.0)
    api.answers["PUT", APPROVAL] = 409
    work.one("r", 0.0)
    assert "approved" not in capsys.readouterr().err, "somebody changed it: it comes again"
    api.answers.clear()
    work.one("r", 0.0)
    assert capsys.readouterr().err.startswith("approved r by 'system:bootstrappers:landbridge:west-gpu:")
    assert len(api.calls) == 3
    work.changed("ADDED", csr(status={"conditions": [{"type": "Denied"}]}))
    work.changed("ADDED", csr(spec={**csr()["spec"], "signerName": "kubernetes.io/kube-apiserver-client"}))
    work.one("r", 0.0)
    assert len(api.calls) == 3
