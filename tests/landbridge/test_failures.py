"""Of a failure's wall of text, the user sees what failed and the cloud's own words."""

from pulumi.automation import CommandResult
from pulumi.automation.errors import create_command_error

from landbridge import failures
from landbridge.story import Problem, Story
from tests.landbridge import events

BUCKET = "aws:s3/bucket:Bucket"
FAILED = create_command_error(CommandResult("", "error: update failed", 255))


def story(*told: tuple[str, str | None]) -> Story:
    story = Story("us-west-2")
    for message, about in told:
        story.hear(events.error(message, about))
    return story


def test_a_resources_error_is_told_once_and_the_engines_echo_not_at_all() -> None:
    bucket = events.urn(BUCKET, "bucket")
    found = story((f"{BUCKET} bucket: BucketAlreadyExists: the name is taken", bucket), ("update failed", events.STACK))
    assert failures.worth_telling(found, FAILED, "local") == [
        Problem(BUCKET, "bucket", "BucketAlreadyExists: the name is taken")
    ]


def test_the_real_providers_way_to_say_it_loses_its_urns_and_bullets() -> None:
    bucket = events.urn(BUCKET, "bucket")
    told = f"creating {bucket}: 1 error occurred:\n\t* creating S3 Bucket (x): BucketAlreadyExists: it is taken\n\n"
    (problem,) = failures.worth_telling(story((told, bucket)), FAILED, "real")
    assert problem.message == "creating S3 Bucket (x): BucketAlreadyExists: it is taken"


def test_of_a_programs_traceback_the_last_line_is_left() -> None:
    told = (
        "Program failed with an unhandled exception:\nTraceback (most recent call last):\n"
        "  File \"x.py\", line 1, in <module>\nKeyError: 'us-west-2'\n"
    )
    found = story((told, events.STACK), ("preview failed", events.STACK))
    (problem,) = failures.worth_telling(found, FAILED, "local")
    assert problem == Problem("", "", "KeyError: 'us-west-2'")


def test_an_error_before_the_engine_began_is_taken_from_what_was_printed() -> None:
    error = create_command_error(CommandResult("", "warning: x\nerror: could not find a key for the secrets", 1))
    (problem,) = failures.worth_telling(story(), error, "real")
    assert problem.message == "could not find a key for the secrets"


def test_a_locked_stack_names_the_holder_and_the_way_out() -> None:
    told = "the stack is currently locked by 1 lock(s)\n  s3://x: created by ada@build-7 (pid 4711) at 2026-11-21T06:20:38Z"
    error = create_command_error(CommandResult("", f"error: {told}", 1))
    (problem,) = failures.worth_telling(story(), error, "real")
    assert "another run: ada on build-7 (process 4711) since 2026-11-21" in problem.message
    assert "`pulumi cancel us-west-2`" in problem.message
