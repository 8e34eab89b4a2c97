"""What the engine's events make of a stack's report: counts, drift, outputs, violations."""

from landbridge.engine.stack_report import StackReport, known, of_urn, short
from tests.landbridge import events
from tests.landbridge.events import event, step

VPC, SUBNET = "aws:ec2/vpc:Vpc", "aws:ec2/subnet:Subnet"


def heard(*told: object, phase: str = "update") -> StackReport:
    report = StackReport("us-west-2")
    report.enter(phase)  # type: ignore[arg-type]
    for each in told:
        report.hear(each)  # type: ignore[arg-type]
    return report


def test_a_resource_counts_when_it_is_done_and_is_shown_while_it_is_not() -> None:
    report = heard(step("resourcePreEvent", "create", SUBNET, "a", new={}))
    assert (report.finished, report.current) == (0, "ec2.Subnet a")
    report.hear(step("resOutputsEvent", "create", SUBNET, "a", new={}))
    assert (report.finished, dict(report.counts)) == (1, {"created": 1})


def test_a_replacement_counts_once() -> None:
    ops = ("create-replacement", "replace", "delete-replaced")
    report = heard(*(step("resOutputsEvent", op, SUBNET, "a", diffs=["cidrBlock"], old={}, new={}) for op in ops))
    assert dict(report.counts) == {"replaced": 1}
    assert report.steps[0].changed == ("cidrBlock",)


def test_a_component_that_reports_its_outputs_again_counts_once() -> None:
    again = step("resOutputsEvent", "create", "landbridge:network:Network", "network", new={})
    assert heard(again, again).finished == 1


def test_a_step_keeps_what_the_resource_had_when_it_goes_and_whether_it_is_protected() -> None:
    old = {"outputs": {"desiredCapacity": 40}, "protect": True}
    (gone,) = heard(step("resOutputsEvent", "delete", "aws:autoscaling/group:Group", "gpu", old=old)).steps
    assert (gone.verb, gone.properties, gone.protected) == ("deleted", {"desiredCapacity": 40}, True)


def test_what_a_refresh_finds_is_drift_and_no_change_of_ours() -> None:
    report = heard(
        step("resourcePreEvent", "refresh", VPC, "network", old={}, new={}),
        step("resourcePreEvent", "refresh", SUBNET, "a", old={}, new={}),
        step("resourcePreEvent", "refresh", SUBNET, "b", old={}, new={}),
        step("resOutputsEvent", "update", VPC, "network", diffs=["tags"], old={}, new={}),
        step("resOutputsEvent", "delete", SUBNET, "a", old={}),
        step("resOutputsEvent", "same", SUBNET, "b", old={}, new={}),
        phase="look",
    )
    assert [(found.verb, found.name) for found in report.drift] == [("updated", "network"), ("deleted", "a")]
    assert report.changes == 0


def test_after_a_refresh_the_programs_own_steps_count() -> None:
    report = heard(
        step("resourcePreEvent", "refresh", SUBNET, "a", old={}, new={}),
        step("resOutputsEvent", "refresh", SUBNET, "a", diffs=["tags"], old={}, new={}),
        step("resourcePreEvent", "update", SUBNET, "a", old={}, new={}),
        step("resOutputsEvent", "update", SUBNET, "a", diffs=["tags"], old={}, new={}),
    )
    assert len(report.drift) == 1
    assert dict(report.counts) == {"updated": 1}


def test_the_stacks_own_outputs_are_kept_and_compared() -> None:
    stack = "pulumi:pulumi:Stack"
    same = heard(step("resOutputsEvent", "same", stack, "", old={"outputs": {"a": 1}}, new={"outputs": {"a": 1}}))
    assert (same.outputs, same.outputs_changed, same.changes) == ({"a": 1}, False, 0)
    other = heard(step("resOutputsEvent", "same", stack, "", old={"outputs": {"a": 1}}, new={"outputs": {"a": 2}}))
    assert other.outputs_changed


def test_outputs_that_a_preview_cannot_know_are_none() -> None:
    assert known({"id": "04da6b54-80e4-46f7-96ec-b56ff0331ba9", "ids": {"a": "x"}}) == {"id": None, "ids": {"a": "x"}}


def test_a_policys_refusal_is_told_without_its_description_and_an_advice_is_a_warning() -> None:
    body = {
        "resourceUrn": events.urn(SUBNET, "a"),
        "policyName": "exposure",
        "message": f"Nothing is open to the world.\n{SUBNET} a: mapPublicIpOnLaunch gives public addresses.",
        "enforcementLevel": "mandatory",
    }
    report = heard(event("policyEvent", body), event("policyEvent", {**body, "enforcementLevel": "advisory"}))
    (violation,) = report.violations
    assert (violation.type, violation.name) == (SUBNET, "a")
    assert violation.message == "mapPublicIpOnLaunch gives public addresses. (policy exposure)"
    assert len(report.warnings) == 1


def test_a_new_phase_starts_its_counts_from_nothing_and_rest_keeps_them() -> None:
    report = heard(step("resOutputsEvent", "create", SUBNET, "a", new={}))
    report.enter("waiting")
    assert report.changes == 1
    report.enter("update", total=1)
    assert (report.changes, report.finished, report.total) == (0, 0, 1)


def test_names_for_people() -> None:
    assert of_urn(events.urn(SUBNET, "private-a")) == (SUBNET, "private-a")
    assert of_urn(events.STACK) == of_urn(None) == ("", "")
    assert short("aws:ec2/routeTable:RouteTable") == "ec2.RouteTable"
    assert short("pulumi:providers:aws") == "pulumi.aws"
