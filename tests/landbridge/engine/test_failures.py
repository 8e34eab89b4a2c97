"""Of a failure's wall of text, the user sees what failed and the cloud's own words."""

from datetime import UTC, datetime
from pathlib import Path

import pytest
from pulumi.automation import CommandResult
from pulumi.automation.errors import create_command_error

from landbridge.engine import failures, state_file
from landbridge.engine.stack_report import Problem, StackReport
from landbridge.errors import LandbridgeError
from landbridge.places import Place
from local import client, namespace
from tests.landbridge import events

BUCKET = "aws:s3/bucket:Bucket"
LOCAL = Place("local", Path("/p"), "file:///s", "passphrase", Path("/logs"), {"LANDBRIDGE_FLEET": "/our fleets/a.yaml"})
REAL = Place("real", Path("/p"), "s3://bucket", "awskms://alias/k", Path("/logs"))
FAILED = create_command_error(CommandResult("", "error: update failed", 255))


def report(*told: tuple[str, str | None]) -> StackReport:
    report = StackReport("us-west-2")
    for message, about in told:
        report.hear(events.error(message, about))
    return report


def test_a_resources_error_is_told_once_and_the_engines_echo_not_at_all() -> None:
    bucket = events.urn(BUCKET, "bucket")
    found = report(
        (f"{BUCKET} bucket: BucketAlreadyExists: the name is taken", bucket), ("update failed", events.STACK)
    )
    assert failures.worth_telling(found, FAILED, LOCAL) == [
        Problem(BUCKET, "bucket", "BucketAlreadyExists: the name is taken")
    ]


def test_the_real_providers_way_to_say_it_loses_its_urns_and_bullets() -> None:
    bucket = events.urn(BUCKET, "bucket")
    told = f"creating {bucket}: 1 error occurred:\n\t* creating S3 Bucket (x): BucketAlreadyExists: it is taken\n\n"
    (problem,) = failures.worth_telling(report((told, bucket)), FAILED, REAL)
    assert problem.message == "creating S3 Bucket (x): BucketAlreadyExists: it is taken"


def test_of_a_programs_traceback_the_last_line_is_left() -> None:
    told = (
        "Program failed with an unhandled exception:\nTraceback (most recent call last):\n"
        "  File \"x.py\", line 1, in <module>\nKeyError: 'us-west-2'\n"
    )
    found = report((told, events.STACK), ("preview failed", events.STACK))
    (problem,) = failures.worth_telling(found, FAILED, LOCAL)
    assert problem == Problem("", "", "KeyError: 'us-west-2'")


def test_an_error_before_the_engine_began_is_taken_from_what_was_printed() -> None:
    error = create_command_error(CommandResult("", "warning: x\nerror: could not find a key for the secrets", 1))
    (problem,) = failures.worth_telling(report(), error, REAL)
    assert problem.message == "could not find a key for the secrets"


def test_a_locked_stack_names_the_holder_and_the_way_out() -> None:
    told = "the stack is currently locked by 1 lock(s)\n  s3://x: created by ada@build-7 (pid 4711) at 2026-11-21T06:20:38Z"
    error = create_command_error(CommandResult("", f"error: {told}", 1))
    (problem,) = failures.worth_telling(report(), error, REAL)
    assert "another run: ada on build-7 (process 4711) since 2026-11-21" in problem.message
    assert "`pulumi cancel us-west-2`" in problem.message


def test_a_stack_locked_in_the_local_cloud_is_freed_with_its_own_fleet_file() -> None:
    assert "`landbridge local exec --fleet '/our fleets/a.yaml' -- pulumi cancel --stack us-west-2`" in failures.locked(
        "us-west-2", None, LOCAL
    )


def lost(home: Path) -> Place:
    """A place in a local cloud of which only the log is left."""
    home.mkdir()
    began = "T local cloud ready, life"
    (home / "cloud.log").write_text(f"{began} mine\nT local cloud ended by SIGTERM\n{began} another\n")
    cloud = client.Cloud(home, 1, "mine", "world", namespace.USER, datetime.now(UTC))
    return Place("local", home, "file:///s", "passphrase", home / "logs", cloud=cloud)


def test_what_is_protected_goes_only_by_a_command_that_says_so() -> None:
    def refused(name: str) -> tuple[str, None]:
        urn = f"urn:pulumi:west-gpu::landbridge::landbridge:pools:Pool$aws:autoscaling/group:Group::{name}"
        return (
            f'Preview failed: resource "{urn}" cannot be deleted\nbecause it is protected. To unprotect the resource, '
            f"either remove the `protect` flag from the resource in your Pulumi program and run `pulumi up`",
            None,
        )

    (problem,) = failures.worth_telling(report(refused("a"), refused("b")), FAILED, REAL)
    assert problem.message == (
        "what stands can't become what fleet.yaml says now: autoscaling.Group a, autoscaling.Group b would be deleted, with "
        "what is on it or in it. If that is meant, let it go first: `landbridge destroy us-west-2 --ignore-protect`, then "
        "`landbridge up us-west-2`"
    )


def test_what_follows_from_the_local_clouds_end_is_told_once_with_its_reason(tmp_path: Path) -> None:
    eof = [("error reading from server: EOF", events.urn(BUCKET, f"b{n}")) for n in range(7)]
    (problem,) = failures.worth_telling(report(*eof), FAILED, lost(tmp_path / "home"))
    assert problem.message.startswith("the local cloud is gone meanwhile: it ended by SIGTERM. It keeps what stands")
    assert "`landbridge up --local`" in problem.message
    assert problem.name == ""


def test_an_error_while_the_local_cloud_lives_is_the_resources_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = lost(tmp_path / "home")
    monkeypatch.setattr(client, "status", lambda _home: place.cloud)
    monkeypatch.setattr(failures, "SHUTDOWN_SECONDS", 0.0)
    for message in ("BucketAlreadyExists: the name is taken", "connection refused"):
        (problem,) = failures.worth_telling(report((message, events.urn(BUCKET, "b"))), FAILED, place)
        assert problem == Problem(BUCKET, "b", message)


def test_the_local_clouds_last_breath_is_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = lost(tmp_path / "home")
    looks = iter([place.cloud, place.cloud, None])
    monkeypatch.setattr(client, "status", lambda _home: next(looks))
    (problem,) = failures.worth_telling(report(("error reading from server: EOF", None)), FAILED, place)
    assert "is gone meanwhile" in problem.message


@pytest.mark.parametrize(
    ("text", "why"),
    [("{broken", "Expecting property name"), ("[]", "list indices"), ("{}", "lacks 'checkpoint'"), ("\xff", "")],
)
def test_a_state_file_that_cannot_be_read_is_named_with_the_remedy(tmp_path: Path, text: str, why: str) -> None:
    file = tmp_path / "us-west-2.json"
    file.write_text(text, encoding="latin-1")
    with pytest.raises(LandbridgeError) as found:
        state_file.read_state(file)
    assert f"{file}: {why}" in str(found.value)
    assert "Restore the file from a backup" in str(found.value)
    assert failures.worth_telling(report(), found.value, LOCAL) == [Problem("", "", str(found.value))]
