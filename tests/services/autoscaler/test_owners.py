"""What owners are told of waits, by webhooks of the form that Slack's have."""

from pathlib import Path

import pytest

from services import webhook
from services.autoscaler import hours, owners
from services.autoscaler.causes import Cause
from services.autoscaler.hours import Hour, Waiting
from tests.services.autoscaler.slack import Slack

NOW = 497_222 * hours.HOUR_SECONDS + 1800.0
FULL = Cause("refused-capacity", "west has no p5.48xlarge", "west-gpu-a")
OTHER = Cause("selector", "it wants landbridge.dev/kind=gpu, and this pool has cpu", "cpu-all")


def waits(*causes: Cause, namespace: str = "team-research", name: str = "train-1") -> Waiting:
    return Waiting(namespace, name, "Job/train", "shape", {"nvidia.com/gpu": "8"}, {}, "", causes)


def hour(*pods: Waiting, seconds: int = 120) -> Hour:
    """In which they have waited for so long."""
    made = Hour(hours.number(NOW))
    for ago in range(seconds, -1, -30):
        made.see(pods, NOW - ago)
    return made


def due(made: Hour, now: float = NOW) -> list[owners.Message]:
    return owners.due(made, "main", "platform", now)


def test_a_team_is_told_what_its_pods_wait_for() -> None:
    (told,) = due(hour(waits(FULL, OTHER), waits(FULL, OTHER, name="train-2")))
    assert told.team == "research"
    assert told.text.splitlines() == [
        "main: 2 pods of Job/train wait in team-research for 2 min. Each asks for 8 nvidia.com/gpu.",
        "• west-gpu-a: west has no p5.48xlarge (refused-capacity)",
        "`landbridge autoscaler explain train-1 --namespace team-research` tells all.",
    ]


@pytest.mark.parametrize(
    ("causes", "seconds"),
    [
        ([FULL], 60),
        ([FULL, Cause("coming", "a machine comes", "east-gpu-a")], 120),
        ([Cause("undecided", "not decided yet", "west-gpu-a"), OTHER], 120),
        ([Cause("gated", "it has a gate")], 120),
        ([Cause("priority", "spare pods buy nothing")], 120),
    ],
    ids=["just begun", "machines come", "not decided", "its owner's own doing", "spare"],
)
def test_what_ends_by_itself_is_no_news(causes: list[Cause], seconds: int) -> None:
    assert due(hour(waits(*causes), seconds=seconds)) == []


def test_where_no_pool_fits_that_is_the_news() -> None:
    (told,) = due(hour(waits(OTHER)))
    assert "• cpu-all: it wants landbridge.dev/kind=gpu" in told.text


def test_work_of_no_team_and_regions_in_trouble_are_the_fleet_owner_s() -> None:
    made = hour(waits(FULL, namespace="default"))
    made.decide(
        [
            {"at": "1", "decision": "no-end", "region": "eu-west-1", "why": "region-not-ready: 3 of 4 are NotReady"},
            {"at": "2", "decision": "no-end", "region": "eu-west-1", "why": "region-not-ready: 4 of 4 are NotReady"},
            {"at": "3", "decision": "no-end", "region": "eu-west-1", "why": "too-many-at-once: of 10"},
            {"at": "4", "decision": "region-problem", "region": "us-east-1", "why": "it times out"},
        ]
    )
    told = due(made)
    assert {one.team for one in told} == {"platform"}
    assert sorted(one.text.splitlines()[0] for one in told) == [
        "main, eu-west-1: no machine ends there: region-not-ready: 4 of 4 are NotReady",
        "main: A pod of Job/train waits in default for 2 min. Each asks for 8 nvidia.com/gpu.",
        "main: us-east-1 does not answer: it times out",
    ]


def test_a_reason_is_told_once_an_hour_and_another_one_at_once() -> None:
    made = hour(waits(FULL))
    made.posted = [one.key for one in due(made)]
    assert due(made) == []
    made.see([waits(Cause("owner-gpus", "team research has 64 GPUs", "west-gpu-a"))], NOW + 10)
    (told,) = due(made, NOW + 10)
    assert "(owner-gpus)" in told.text
    assert due(made, NOW + 200) == [], "it is gone"


def test_of_many_reasons_the_first_are_told() -> None:
    many = [Cause("refused-capacity", "none", f"group-{number}") for number in range(8)]
    (told,) = due(hour(waits(*many)))
    assert told.text.count("•") == 6
    assert "• and 3 more reasons" in told.text


def test_a_message_is_what_slack_takes(slack: Slack) -> None:
    assert webhook.post(f"{slack.url}/services/T0/B0/secret", "research", "a < b & c > d")
    assert slack.heard == [("/services/T0/B0/secret", {"text": "a &lt; b &amp; c &gt; d"})]


@pytest.mark.parametrize(("status", "said"), [(500, "answers 500"), (404, "answers 404"), (302, "answers 302")])
def test_what_is_not_taken_is_said_without_the_address(
    slack: Slack, capsys: pytest.CaptureFixture[str], status: int, said: str
) -> None:
    slack.answers = [status]
    assert not webhook.post(f"{slack.url}/services/secret", "research", "x")
    slack.server.shutdown()
    slack.server.server_close()
    assert not webhook.post(f"{slack.url}/services/secret", "research", "x")
    told = capsys.readouterr().err
    assert f"webhook of research: {said}\n" in told
    assert "secret" not in told
    assert "127.0.0.1" not in told


@pytest.mark.parametrize(
    ("text", "taken"),
    [
        ("https://hooks.example.com/services/T0\n", True),
        ("http://127.0.0.1:80/x", True),
        ("http://hooks.example.com/services/T0", False),
        ("file:///etc/passwd", False),
        ("secret", False),
    ],
)
def test_an_address_is_https(tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str, taken: bool) -> None:
    (tmp_path / "research").write_text(text)
    assert (webhook.address(tmp_path, "research") == text.strip()) is taken
    assert webhook.address(tmp_path, "other") is None
    assert ("its address is no https" in capsys.readouterr().err) is not taken
